package certificate

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// event is a row of (ε,δ)-DP with its multiplier: of neighbors m and l, and a set of candidates that its parts list,
//
//	Σ x[m][v] - z Σ x[l][w] + zδ >= 0    over the candidates of the set.
//
// It says that what is chosen at l lies in the set with at most e^ε times the probability at m plus δ.
type event struct {
	parts        []part
	rankM, rankL int
	nu           *big.Rat
}

// delta reads the line of δ.
func (r *reader) delta(c *tableCertificate) error {
	s, err := r.takeNext("delta")
	if err != nil {
		return err
	}
	if c.delta, err = parseRational(s); err != nil {
		return r.badf("delta: %v", err)
	}
	if c.delta.Sign() < 0 {
		return r.badf("delta is negative")
	}
	return nil
}

// events reads the multipliers of events.
func (r *reader) events(c *tableCertificate) error {
	var last []int
	for r.is("event") {
		rest, err := r.take("event")
		if err != nil {
			return err
		}
		f := strings.Split(rest, " ")
		vectors := 2 * (c.k + 1)
		if len(f) < vectors+4 || (len(f)-vectors-1)%3 != 0 {
			return r.badf("event: %d fields where two count vectors, parts of 3 numbers each and a value were expected", len(f))
		}
		m, err := r.counts(&c.certificate, f)
		if err != nil {
			return err
		}
		l, err := r.counts(&c.certificate, f[c.k+1:])
		if err != nil {
			return err
		}
		e := event{rankM: c.lat.rank(m), rankL: c.lat.rank(l)}
		key := []int{e.rankM, e.rankL}
		for g := f[vectors : len(f)-1]; len(g) > 0; g = g[3:] {
			var x [3]int
			for i, most := range []int{c.k, c.k, c.n} {
				if x[i], err = parseInteger(g[i], most); err != nil {
					return r.badf("event: %v", err)
				}
			}
			e.parts = append(e.parts, part{x[0], x[1], x[2]})
			key = append(key, x[:]...)
		}
		if err := checkEvent(e.parts, m, l, c.step); err != nil {
			return r.badf("event: %v", err)
		}
		if last != nil && slices.Compare(key, last) <= 0 {
			return r.badf("event: not after the event of the line before")
		}
		last = key
		if e.nu, err = r.positive("event", f[len(f)-1]); err != nil {
			return err
		}
		for i, q := range e.parts {
			e.parts[i].v, e.parts[i].w = c.lat.variable(e.rankM, m, q.v), c.lat.variable(e.rankL, l, q.w)
		}
		c.events = append(c.events, e)
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// checkEvent reports why no candidates of two neighbors m and l are as the parts say, if there are none. The other candidates may correspond as they
// like: sorted assignment is the best, as for rows.
func checkEvent(parts []part, m, l []int, step int) error {
	restM, restL := slices.Clone(m), slices.Clone(l)
	least, most := parts[0].v-parts[0].w, parts[0].v-parts[0].w
	for i, q := range parts {
		if i > 0 && slices.Compare([]int{q.v, q.w}, []int{parts[i-1].v, parts[i-1].w}) <= 0 {
			return errors.New("a part is not after the one before it")
		}
		restM[q.v] -= q.count
		restL[q.w] -= q.count
		if q.count < 1 || restM[q.v] < 0 || restL[q.w] < 0 {
			return errors.New("parts without candidates, or with more than there are")
		}
		least, most = min(least, q.v-q.w), max(most, q.v-q.w)
	}
	a, b := spread(restM, -1), spread(restL, -1)
	for i := range a {
		least, most = min(least, a[i]-b[i]), max(most, a[i]-b[i])
	}
	if most-least > step {
		return errors.New("the vectors are no neighbors: changes of two scores differ by more than 2Δ")
	}
	return nil
}

// lean adds what the events do to the coefficients of the variables, and returns zδ Σ ν.
func (c *tableCertificate) lean(coefficient []*big.Rat, z *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, e := range c.events {
		sum.Add(sum, e.nu)
		for _, q := range e.parts {
			nu := new(big.Rat).Mul(e.nu, big.NewRat(int64(q.count), 1))
			coefficient[q.v].Sub(coefficient[q.v], nu)
			coefficient[q.w].Add(coefficient[q.w], nu.Mul(nu, z))
		}
	}
	if c.delta == nil {
		return sum
	}
	return sum.Mul(sum, z).Mul(sum, c.delta)
}

// exceeded returns the first pair of neighbors of m, with m as the one whose probabilities are bounded, that is not (ε,δ)-close at z, and "" if
// there is none: Σ max(0, z x[m][w] - x[l][v]) must be at most zδ over all candidates.
func (c *tableCertificate) exceeded(rank int, m []int, z *big.Rat, tick func() error) (string, error) {
	room := new(big.Rat).Mul(z, c.delta)
	var found string
	err := c.lat.neighbors(c.step, m, func(to []int, above int, parts []part) error {
		if err := tick(); err != nil || found != "" {
			return err
		}
		sum := new(big.Rat)
		for _, q := range parts {
			x := new(big.Rat).Mul(z, c.cells[c.lat.variable(rank, m, q.w)])
			if x.Sub(x, c.cells[c.lat.variable(above, to, q.v)]).Sign() > 0 {
				sum.Add(sum, x.Mul(x, big.NewRat(int64(q.count), 1)))
			}
		}
		if sum.Cmp(room) > 0 {
			found = fmt.Sprintf("the table violates an event: of %s against %s", brief(m), brief(to))
		}
		return nil
	})
	return found, err
}
