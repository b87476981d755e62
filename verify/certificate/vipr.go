package certificate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"optratio/internal/evidence"
	"optratio/number"
)

// WriteVIPR writes what a valid certificate of section program proves about the minimum of its program, for rational e^ε and other proofs than lumped, in the VIPR
// format 1.0: the program, a feasible point, and one derivation of the lower bound from the rows. The rows of levels above paper are those that have multipliers, so that the
// point is feasible for more than the file says. What is written need not be trusted: independent checkers check it. The error wraps ErrLimit where the lattice is too large.
//
// Source: Cheung, Gleixner & Steffy, Verifying Integer Programming Results (IPCO 2017).
func (r *Report) WriteVIPR(out io.Writer) error {
	c, ok := r.section.(*certificate)
	switch {
	case !r.Valid:
		return errors.New("the certificate is not valid")
	case !ok:
		return errors.New("only certificates of section program can be written in the VIPR format")
	case c.proof == "lumped":
		return errors.New("proof lumped has no form in the VIPR format, which lists the rows of the whole program")
	}
	z, high := c.Power(big.NewRat(1, 1), 128)
	if z.Cmp(high) != 0 {
		return number.InputError("e^epsilon is not rational")
	}
	w := &viprWriter{Writer: bufio.NewWriter(out), certificate: c}
	if err := evidence.Try(func() { w.write(z, r.limits) }); err != nil {
		return err
	}
	return w.Flush()
}

// viprWriter writes the sections of a VIPR file. Its constraints are, in this order, x >= 0 for every cell, (E) for every count vector, the rows along chains, and those of cuts.
type viprWriter struct {
	*bufio.Writer
	*certificate
	rows        strings.Builder
	count       int
	derivation  strings.Builder
	multipliers int // that are not 0
}

func (w *viprWriter) printf(format string, args ...any) { fmt.Fprintf(w.Writer, format, args...) }

// row adds a constraint with its multiplier.
func (w *viprWriter) row(multiplier *big.Rat, format string, args ...any) {
	if multiplier.Sign() != 0 {
		fmt.Fprintf(&w.derivation, " %d %s\n", w.count, multiplier.RatString())
		w.multipliers++
	}
	w.count++
	fmt.Fprintf(&w.rows, format+"\n", args...)
}

func (w *viprWriter) write(z *big.Rat, o evidence.Options) {
	w.enumerate(o)
	if w.proof != "lp" {
		w.chains()
		w.byTheorem(z)
	}
	l := w.lattice
	along := make([]*big.Rat, len(l.loss)) // multipliers of the rows along chains
	var cuts []func()
	d := w.multiply(z, true, 0, func(nu *big.Rat, distance int, row privacyRow) {
		if distance == 0 && w.before[row.a] == row.b && along[row.a] == nil {
			along[row.a] = nu
			return
		}
		cuts = append(cuts, func() {
			rho := []*big.Rat{z, big.NewRat(1, 1)}[distance]
			w.row(nu, "C%d G 0 2 %d 1 %d %s", w.count, row.a, row.b, new(big.Rat).Neg(rho).RatString())
		})
	})
	w.upper(z, true, 0)
	w.printf("%% the optimal-mechanism program for n %d, k %d, exp-epsilon %s, objective %s, constraints %s\n", w.n, w.k, new(big.Rat).Inv(z).RatString(), w.objective, w.constraints)
	w.printf("%% x_M_V is the probability of one candidate at depth V\nVER 1.0\nVAR %d\n", len(l.loss))
	columns := w.columns(d)
	low := new(big.Rat)
	for i, y := range columns.least {
		low.Add(low, y)
		for j := l.first[i]; j < l.first[i+1]; j++ {
			slack := new(big.Rat).SetFrac(d.left[j], d.unit)
			w.row(slack.Sub(slack, new(big.Rat).Mul(y, new(big.Rat).SetInt(l.count[j]))), "B%d G 0 1 %d 1", j, j)
		}
	}
	for i, y := range columns.least {
		w.row(y, "%s", columns.sums[i])
	}
	for j, b := range w.before {
		if b < 0 {
			continue
		}
		if along[j] == nil {
			along[j] = new(big.Rat)
		}
		w.row(along[j], "P%d G 0 2 %d 1 %d %s", j, j, b, new(big.Rat).Neg(z).RatString())
	}
	for _, write := range cuts {
		write()
	}
	high := l.value()
	high.Mul(high, l.objective().total)
	w.printf("INT 0\nOBJ min\n%d\n%sCON %d %d\n%s", columns.priced, &columns.costs, w.count, len(l.loss), &w.rows)
	w.printf("RTP range %s %s\nSOL 1\npoint %d\n%s", low.RatString(), high.RatString(), len(l.loss), &columns.point)
	w.printf("DER 1\nbound G %s OBJ { lin %d\n%s } -1\n", low.RatString(), w.multipliers, &w.derivation)
}

// viprColumns are what the file has for each cell, and for each count vector.
type viprColumns struct {
	costs, point strings.Builder
	priced       int        // cells with a cost
	sums         []string   // rows (E)
	least        []*big.Rat // y'(m)
}

// columns writes the names of the cells.
func (w *viprWriter) columns(d *dual) *viprColumns {
	l, c := w.lattice, &viprColumns{}
	at := 0
	for i, m := range l.lat.Orbits() {
		var y *big.Rat
		sum := fmt.Sprintf("E%d E 1 %d", i, l.first[i+1]-at)
		for v, count := range m {
			if count == 0 {
				continue
			}
			w.printf("x_%s_d%d\n", strings.ReplaceAll(strings.Trim(fmt.Sprint(m), "[]"), " ", "_"), v)
			if v > 0 {
				fmt.Fprintf(&c.costs, " %d %s\n", at, new(big.Rat).Mul(l.weight[i], big.NewRat(int64(count*v), 1)).RatString())
				c.priced++
			}
			if x := new(big.Rat).SetFrac(d.left[at], new(big.Int).Mul(d.unit, l.count[at])); y == nil || x.Cmp(y) < 0 {
				y = x
			}
			sum += fmt.Sprintf(" %d %d", at, count)
			fmt.Fprintf(&c.point, " %d %s\n", at, new(big.Rat).SetFrac(l.x[at], l.den).RatString())
			at++
		}
		c.least, c.sums = append(c.least, y), append(c.sums, sum)
	}
	return c
}

// byTheorem sets the multipliers that the proof by theorem says there are: for each depth j that the objective sums over, with A = Σ_{v<=j} v z^v and B' = Σ_{1<=v<=j} z^v,
// Y_{m_0} of the recurrence, or what the closed form takes.
func (c *certificate) byTheorem(z *big.Rat) {
	one := big.NewRat(1, 1)
	for _, m := range c.lattice.lat.Orbits() {
		y, a, b, power := new(big.Rat), new(big.Rat), new(big.Rat), big.NewRat(1, 1)
		for j := 1; j <= c.k; j++ {
			power.Mul(power, z)
			b.Add(b, power)
			depth := big.NewRat(int64(j), 1)
			a.Add(a, new(big.Rat).Mul(depth, power))
			deepest := evidence.Deepest(m)
			if j < deepest || j < c.k && !c.box {
				continue
			}
			best, mean := new(big.Rat), new(big.Rat).Quo(a, new(big.Rat).Add(one, b))
			switch {
			case c.proof == "dual-recurrence":
				for range m[0] - 1 {
					best.Sub(a, best.Mul(b, best))
				}
			case c.n >= 2 && b.Cmp(one) >= 0 && depth.Quo(depth, big.NewRat(int64(c.n), 1)).Cmp(b) <= 0:
				best.Quo(big.NewRat(int64(deepest-j), 1), b)
				best.Mul(mean, best.Add(one, best))
			case m[0] > 1:
				best = mean
			}
			y.Add(y, best)
		}
		c.dual = append(c.dual, y)
	}
}
