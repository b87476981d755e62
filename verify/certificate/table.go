package certificate

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/number"
	"optratio/number/interval"
)

// magicTable is the first line of version 2, for lattices of other steps, other losses and priors, and the worst score vector. It
// holds multipliers of rows and a table of probabilities; docs/reference/certificate.md has the format.
const magicTable = "optratio-certificate 2"

// tableCertificate is what a file of version 2 holds, and with it the program.
type tableCertificate struct {
	certificate
	step   int
	level  level
	loss   []*big.Rat
	prior  string     // "uniform", "box", "weights", or "none" for the worst score vector
	weight []*big.Rat // of each orbit; with prior none those of the dual
	rows   []tableRow
	delta  *big.Rat // with constraints approximate
	events []event
	cells  []*big.Rat // probability of one candidate, by number of the variable
}

// tableRow is the row x_a >= ρ x_b between the numbered variables, with its multiplier.
type tableRow struct {
	a, b    int
	privacy bool
	nu      *big.Rat
}

// maxParts bounds L, and k·L.
const maxParts = 1 << 16

// readTable reads what follows the first line.
func readTable(r *reader, o Options) (*tableCertificate, error) {
	c := &tableCertificate{step: 1}
	c.proof = "lp"
	if err := r.tableHeader(c); err != nil {
		return nil, err
	}
	q, err := r.claim("optimum")
	if err != nil {
		return c, err
	}
	c.claims = []Claim{q}
	depths := c.k * c.step
	if err := o.fits(c.n, depths); err != nil {
		return c, err
	}
	r.long = max(r.long, maxBodyLength+2*(depths+3)*11+32+33*min(c.n, (depths+1)*(2*c.step+1)))
	c.lat = newLattice(c.n, depths)
	c.lat.number()
	// The reader's count vectors have the length that c.k says.
	c.k = depths
	if err := r.advance(); err != nil {
		return c, err
	}
	for _, part := range []func(*tableCertificate) error{r.weights, r.tableRows, r.cells} {
		if err := part(c); err != nil {
			return c, err
		}
	}
	return c, r.end()
}

// tableHeader reads the lines from n to the precision.
func (r *reader) tableHeader(c *tableCertificate) error {
	if err := r.integer("n", 1, maxCandidates, &c.n); err != nil {
		return err
	}
	if err := r.integer("k", 1, maxParts, &c.k); err != nil {
		return err
	}
	if err := r.integer("step", 1, maxParts, &c.step); err != nil {
		return err
	}
	if c.k*c.step > maxParts {
		return r.badf("step: k·L is more than %d", maxParts)
	}
	if err := r.epsilon(&c.certificate); err != nil {
		return err
	}
	if err := r.oneOf("constraints", &c.constraints, "paper", "dp", "monotone", "full", "approximate"); err != nil {
		return err
	}
	c.level = levels[c.constraints]
	if c.level.approximate {
		if err := r.delta(c); err != nil {
			return err
		}
	}
	r.long = max(r.long, 64+(c.k*c.step+1)*1024)
	s, err := r.takeNext("loss")
	if err != nil {
		return err
	}
	for i, f := range strings.Split(s, " ") {
		x, err := parseRational(f)
		if err != nil {
			return r.badf("loss: %v", err)
		}
		if i == 0 && x.Sign() != 0 || i > 0 && x.Cmp(c.loss[i-1]) < 0 {
			return r.badf("loss: not 0 at first, or falling")
		}
		c.loss = append(c.loss, x)
	}
	if len(c.loss) != c.k*c.step+1 {
		return r.badf("loss: %d values for %d depths", len(c.loss), c.k*c.step+1)
	}
	if err := r.oneOf("prior", &c.prior, "uniform", "box", "weights", "none"); err != nil {
		return err
	}
	c.objective = c.prior
	if err := r.integer("precision", 0, 1<<14, &c.precision); err != nil {
		return err
	}
	return r.advance()
}

// weights sets or reads the weights of the orbits.
func (r *reader) weights(c *tableCertificate) error {
	c.weight = make([]*big.Rat, len(c.lat.start))
	if c.prior == "uniform" || c.prior == "box" {
		for rank, m := range c.lat.orbits() {
			c.weight[rank] = new(big.Rat).SetInt(c.lat.multiplicity(m))
			if c.prior == "box" {
				c.weight[rank].Mul(c.weight[rank], big.NewRat(int64(c.k-deepest(m)+1), 1))
			}
		}
		return nil
	}
	for i := range c.weight {
		c.weight[i] = new(big.Rat)
	}
	last := -1
	for r.is("weight") {
		f, err := r.fields("weight", c.k+2)
		if err != nil {
			return err
		}
		m, err := r.counts(&c.certificate, f)
		if err != nil {
			return err
		}
		rank := c.lat.rank(m)
		if rank <= last {
			return r.badf("weight: not after the count vector of the line before")
		}
		last = rank
		if c.weight[rank], err = r.positive("weight", f[c.k+1]); err != nil {
			return err
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
	if last < 0 {
		return r.badf("no line \"weight\" although prior is %s", c.prior)
	}
	return nil
}

// tableRows reads the multipliers.
func (r *reader) tableRows(c *tableCertificate) error {
	if c.level.approximate {
		return r.events(c)
	}
	allowed := level{privacy: true, monotone: c.level.monotone} // every level has privacy rows, if not all of them
	belongs := func(q cut) error { return q.check(c.step, !c.level.privacy) }
	return r.multipliers("row", &c.certificate, allowed, belongs, func(q cut, rankM, rankL int) {
		c.rows = append(c.rows, tableRow{c.lat.variable(rankM, q.m, q.v), c.lat.variable(rankL, q.l, q.w), q.privacy, q.mu})
	})
}

// cells reads the table: a line for each variable, in order.
func (r *reader) cells(c *tableCertificate) error {
	for _, m := range c.lat.orbits() {
		sum := new(big.Rat)
		for v, count := range m {
			if count == 0 {
				continue
			}
			f, err := r.fields("cell", c.k+3)
			if err != nil {
				return err
			}
			got, l, _, err := r.variable(&c.certificate, f)
			if err != nil {
				return err
			}
			if got != v || !slices.Equal(l, m) {
				return r.badf("cell: not the next variable, depth %d of %s", v, brief(m))
			}
			x, err := parseValue(f[c.k+2], maxBodyLength)
			if err != nil {
				return r.badf("cell: %v", err)
			}
			if x.Sign() < 0 {
				return r.badf("cell: the probability is negative")
			}
			sum.Add(sum, new(big.Rat).Mul(x, big.NewRat(int64(count), 1)))
			c.cells = append(c.cells, x)
			if err := r.advance(); err != nil {
				return err
			}
		}
		if sum.Cmp(big.NewRat(1, 1)) != 0 {
			return r.badf("cell: the probabilities of %s sum to %s, not to 1", brief(m), quote(sum.RatString()))
		}
	}
	return nil
}

// checkTable decides whether the claim of a certificate of version 2 follows.
func checkTable(r *reader, o Options) (*Report, error) {
	c, err := readTable(r, o)
	rep := &Report{}
	if c != nil {
		k := c.k
		if c.lat != nil {
			k /= c.step
		}
		rep.Problem = c.problem()
		rep.Problem.K, rep.Problem.Step = k, c.step
		if c.delta != nil {
			rep.Problem.Delta = new(number.Exact(c.delta))
		}
		for _, q := range c.claims {
			rep.Claims = append(rep.Claims, Claim{On: q.On, Value: number.Bounds(q.lower, q.upper)})
		}
	}
	var form malformed
	switch {
	case errors.As(err, &form):
		rep.Reason = string(form)
		return rep, nil
	case err != nil:
		return nil, err
	}
	// z is enclosed somewhat more closely than the writer had it: it used ends beyond these.
	low, high, err := c.ends(min(uint(c.precision)+64, max(o.MaxPrecision, 128)))
	if err != nil {
		return nil, err
	}
	lower, upper, q := c.lower(low), c.upper(), c.claims[0]
	if rep.Reason, err = c.violated(high, o); err != nil {
		return nil, err
	}
	switch {
	case rep.Reason != "":
	case lower == nil:
		rep.Reason = "the weights are all 0"
	case q.lower.Cmp(lower) > 0:
		rep.Reason = fmt.Sprintf("claim optimum: %v and more is claimed, %v is proved", exactly(q.lower), exactly(lower))
	case q.upper.Cmp(upper) < 0:
		rep.Reason = fmt.Sprintf("claim optimum: %v and less is claimed, %v is proved", exactly(q.upper), exactly(upper))
	default:
		rep.Valid, rep.Optimum, rep.Claims[0].Follows = true, rep.Claims[0].Value, true
	}
	return rep, nil
}

// ends returns rationals that e^-ε lies between, the same one twice where it is rational.
func (c *tableCertificate) ends(prec uint) (low, high *big.Rat, err error) {
	switch {
	case c.expEps != nil:
		low = new(big.Rat).Inv(c.expEps)
		return low, low, nil
	case c.eps.Sign() == 0:
		low = big.NewRat(1, 1)
		return low, low, nil
	}
	if f, _ := c.eps.Float64(); f > 1<<20 {
		return nil, nil, fmt.Errorf("%w: epsilon is more than 2^20", ErrLimit)
	}
	z := interval.ExpRat(new(big.Rat).Neg(c.eps), prec)
	low, _ = z.Lo().Rat(nil)
	high, _ = z.Hi().Rat(nil)
	return low, high, nil
}

// lower returns what the multipliers prove of the objective for every z >= the one given, nil where all weights are 0: with the
// Lagrangian's coefficient of x[m][v]
//
//	C[m][v] = w(m) m_v c_v - Σ_{rows with it on the left} ν + Σ_{rows with it on the right} ρ ν,
//
// and Σ_v m_v x[m][v] = 1, the objective is at least Σ_m min_v C[m][v]/m_v over Σ_m w(m), where from the sum zδ ν is taken for each event. Without a prior the largest loss is at
// least the mean under any weights.
func (c *tableCertificate) lower(z *big.Rat) *big.Rat {
	total := new(big.Rat)
	coefficient := make([]*big.Rat, 0, len(c.cells))
	for rank, m := range c.lat.orbits() {
		total.Add(total, c.weight[rank])
		for v, count := range m {
			if count > 0 {
				x := new(big.Rat).Mul(c.weight[rank], c.loss[v])
				coefficient = append(coefficient, x.Mul(x, big.NewRat(int64(count), 1)))
			}
		}
	}
	if total.Sign() == 0 {
		return nil
	}
	for _, r := range c.rows {
		coefficient[r.a].Sub(coefficient[r.a], r.nu)
		rho := r.nu
		if r.privacy {
			rho = new(big.Rat).Mul(rho, z)
		}
		coefficient[r.b].Add(coefficient[r.b], rho)
	}
	sum, j := new(big.Rat), 0
	sum.Sub(sum, c.lean(coefficient, z))
	for _, m := range c.lat.orbits() {
		var least *big.Rat
		for _, count := range m {
			if count == 0 {
				continue
			}
			x := coefficient[j].Quo(coefficient[j], big.NewRat(int64(count), 1))
			if least == nil || x.Cmp(least) < 0 {
				least = x
			}
			j++
		}
		sum.Add(sum, least)
	}
	sum.Quo(sum, total)
	if sum.Sign() < 0 {
		sum.SetInt64(0) // losses are not negative
	}
	return sum
}

// upper returns the table's objective.
func (c *tableCertificate) upper() *big.Rat {
	sum, total, most, j := new(big.Rat), new(big.Rat), new(big.Rat), 0
	for rank, m := range c.lat.orbits() {
		at := new(big.Rat)
		for v, count := range m {
			if count > 0 {
				x := new(big.Rat).Mul(c.cells[j], c.loss[v])
				at.Add(at, x.Mul(x, big.NewRat(int64(count), 1)))
				j++
			}
		}
		if at.Cmp(most) > 0 {
			most.Set(at)
		}
		sum.Add(sum, at.Mul(at, c.weight[rank]))
		total.Add(total, c.weight[rank])
	}
	if c.prior == "none" {
		return most
	}
	return sum.Quo(sum, total)
}

// violated returns the first row that the table does not satisfy at z, and "" if there is none.
func (c *tableCertificate) violated(z *big.Rat, o Options) (string, error) {
	var found string
	steps := 0
	tick := func() error {
		if steps++; steps%1024 == 0 {
			return o.Context.Err()
		}
		return nil
	}
	visit := func(r row) error {
		if err := tick(); err != nil {
			return err
		}
		right := c.cells[r.b]
		if r.privacy {
			right = new(big.Rat).Mul(right, z)
		}
		if c.cells[r.a].Cmp(right) < 0 && found == "" {
			found = fmt.Sprintf("the table violates a row: depth %d of %s against depth %d of %s", r.v, brief(r.m), r.w, brief(r.l))
		}
		return nil
	}
	for rank, m := range c.lat.orbits() {
		var err error
		if c.level.approximate {
			found, err = c.exceeded(rank, m, z, tick)
		} else if c.level.privacy {
			err = c.lat.neighborRows(c.step, rank, m, visit)
		} else {
			err = c.worstRows(rank, m, visit)
		}
		if err == nil && c.level.monotone {
			err = c.lat.monotoneRows(rank, m, visit)
		}
		if err != nil || found != "" {
			return found, err
		}
	}
	return "", nil
}

// worstRows visits x_a >= z x_b for b = (m, w), a being where the given candidate has sunk by L steps against all others.
func (c *tableCertificate) worstRows(rank int, m []int, visit func(row) error) error {
	to := make([]int, c.k+1)
	for w, count := range m {
		if count == 0 || c.n == 1 {
			continue
		}
		others := spread(m, w)
		best := min(others[0], w+c.step)
		worst := max(others[len(others)-1], w+c.step)
		if worst-best > c.k {
			continue
		}
		clear(to)
		for _, d := range others {
			to[d-best]++
		}
		v := w + c.step - best
		to[v]++
		if err := visit(row{c.lat.variable(c.lat.rank(to), to, v), c.lat.variable(rank, m, w), to, m, v, w, true}); err != nil {
			return err
		}
	}
	return nil
}
