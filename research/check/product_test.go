package check_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"optratio/internal/evidence/evidencetest"
	"optratio/research/check"
	"optratio/verify/certificate"
)

// productLine is a product line.
type productLine struct {
	tops, depth, empty int
	deepest            bool
	ratio, amount      *big.Rat
}

func (q productLine) String() string {
	where := "any"
	if q.deepest {
		where = "deepest"
	}
	return fmt.Sprintf("product %d %d %d %s %s %s", q.tops, q.depth, q.empty, where, q.ratio.RatString(), q.amount.RatString())
}

// injected is the probability that the line injects at a variable, by definition.
func (q productLine) injected(p *problem, x evidencetest.Variable) *big.Rat {
	others := slices.Clone(x.M)
	others[x.V]--
	if x.M[0] != q.tops || x.V != q.depth || q.deepest && others[p.K] == 0 {
		return new(big.Rat)
	}
	s := new(big.Rat).Set(q.amount)
	for v := 1; v <= p.K; v++ {
		g := new(big.Rat)
		if v > q.empty {
			g.Sub(big.NewRat(1, 1), new(big.Rat).Mul(q.ratio, evidencetest.Power(p.Z, v-q.empty-1)))
		}
		for range others[v] {
			s.Mul(s, g)
		}
	}
	return s
}

// point is the whole point of the lines, and its total error.
func (p *problem) point(lines []productLine) (u []*big.Rat, objective *big.Rat) {
	u, objective = make([]*big.Rat, len(p.Vars)), new(big.Rat)
	var at func(i int) *big.Rat
	at = func(i int) *big.Rat {
		x := p.Vars[i]
		switch {
		case u[i] != nil:
		case x.V > 0:
			u[i] = new(big.Rat).Mul(p.Z, at(p.Before[i]))
			for _, q := range lines {
				u[i].Add(u[i], new(big.Rat).Mul(p.Weight(i), q.injected(p, x)))
			}
		default: // what the rest of the orbit leaves
			u[i] = new(big.Rat).Set(p.Multiplicity(x.M))
			for v := 1; v <= p.K; v++ {
				if x.M[v] > 0 {
					u[i].Sub(u[i], at(p.Index[key(x.M, v)]))
				}
			}
		}
		return u[i]
	}
	for i := range p.Vars {
		objective.Add(objective, new(big.Rat).Mul(p.Cost(i), at(i)))
	}
	return u, objective
}

// share is the largest share of the lines that is feasible, at most 1: all slacks are affine in it.
func (p *problem) share(lines []productLine) *big.Rat {
	u, _ := p.point(lines)
	flip, _ := p.point(nil)
	slack := func(u []*big.Rat, i int) *big.Rat {
		s := new(big.Rat).Set(u[i])
		if b := p.Before[i]; b >= 0 {
			s.Sub(s, new(big.Rat).Mul(p.Z, u[b]))
		}
		return s
	}
	share := big.NewRat(1, 1)
	for i := range u {
		if s := slack(u, i); s.Sign() < 0 {
			f := slack(flip, i)
			if most := new(big.Rat).Quo(f, new(big.Rat).Sub(f, s)); most.Cmp(share) < 0 {
				share = most
			}
		}
	}
	return share
}

func scaledLines(lines []productLine, share *big.Rat) []productLine {
	var scaled []productLine
	for _, q := range lines {
		q.amount = new(big.Rat).Mul(q.amount, share)
		scaled = append(scaled, q)
	}
	return scaled
}

// TestProductLines: a certificate is valid exactly if the point of its lines is feasible, on the whole lattice, and its total error is at most what is claimed.
func TestProductLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	better, partial := 0, 0
	for _, c := range []struct {
		n, k int
		exp  string
	}{{2, 2, "3/2"}, {3, 1, "3/2"}, {3, 3, "5/4"}, {3, 5, "3/2"}, {4, 3, "6/5"}, {4, 4, "3/2"}, {5, 2, "4/3"}, {5, 3, "3/2"}, {3, 7, "8/7"}, {4, 5, "6/5"}} {
		p := newProblem(c.n, c.k, c.exp, "paper")
		flip := new(big.Rat).Quo(func() *big.Rat { _, v := p.point(nil); return v }(), p.ScoreVectors())
		for range 24 {
			var lines []productLine
			most := c.k
			if rng.IntN(2) == 0 { // many depths between those that decide
				most = min(c.k, 2)
			}
			for range 1 + rng.IntN(3) {
				lines = append(lines, productLine{
					1 + rng.IntN(c.n-1), 1 + rng.IntN(most), rng.IntN(most), rng.IntN(2) == 0, big.NewRat(int64(rng.IntN(5)), 4), big.NewRat(1+rng.Int64N(300), 100),
				})
			}
			share := p.share(lines)
			if share.Sign() == 0 {
				continue
			}
			for _, factor := range []int64{1e9 - 1, 1e9 + 1} {
				part := scaledLines(lines, new(big.Rat).Mul(share, big.NewRat(factor, 1e9)))
				_, total := p.point(part)
				value := total.Quo(total, p.ScoreVectors())
				var body []string
				for _, q := range part {
					body = append(body, q.String())
				}
				draft := func(upper *big.Rat) string {
					return productText(c.n, c.k, "exp-epsilon "+c.exp, upper.RatString(), body...)
				}
				hair := big.NewRat(1, 1e12)
				feasible := factor < 1e9 || share.Cmp(big.NewRat(1, 1)) == 0
				if rep := checked(t, draft(new(big.Rat).Add(value, hair))); rep.Valid != feasible {
					t.Fatalf("%v %v: valid = %v, %s", c, part, rep.Valid, rep.Reason)
				} else if !feasible && !strings.Contains(rep.Reason, "not feasible") {
					t.Fatal(rep.Reason)
				}
				if !feasible {
					partial++
				} else if value.Cmp(flip) < 0 {
					better++
					if rep := checked(t, draft(new(big.Rat).Sub(value, hair))); rep.Valid {
						t.Fatalf("%v %v: less than the value is claimed, and valid", c, part)
					}
				}
			}
		}
	}
	if better < 5 || partial < 20 {
		t.Errorf("%d points were better than permute-and-flip, %d not feasible", better, partial)
	}
}

// productText is a product certificate with the given lines.
func productText(n, k int, epsilon, most string, lines ...string) string {
	all := append([]string{"optratio-certificate 3", "problem product", fmt.Sprint("n ", n), fmt.Sprint("k ", k), epsilon, "precision 128", "claim optimum 0 " + most}, lines...)
	return strings.Join(all, "\n") + fmt.Sprintf("\nend %d\n", len(all))
}

// TestFormOfProductLines changes one thing at a time in a valid certificate.
func TestFormOfProductLines(t *testing.T) {
	good := "product 2 1 0 any 1/2 1/1000"
	text := func(lines ...string) string { return productText(4, 3, "epsilon 1/2", "100", lines...) }
	if rep := checked(t, text(good, "product 3 2 1 deepest 0x1p+00 0x1p-10")); !rep.Valid {
		t.Fatal(rep.Reason)
	}
	for line, reason := range map[string]string{
		"product 0 1 0 any 1/2 1/1000":      "best candidates",
		"product 4 1 0 any 1/2 1/1000":      "best candidates",
		"product 2 0 0 any 1/2 1/1000":      "a depth from 1 to k",
		"product 2 4 0 any 1/2 1/1000":      "a depth from 1 to k",
		"product 2 1 3 any 1/2 1/1000":      "fewer than k empty depths",
		"product 2 1 -1 any 1/2 1/1000":     "integer",
		"product 2 1 0 all 1/2 1/1000":      "any or deepest",
		"product 2 1 0 any 3/2 1/1000":      "a ratio from 0 to 1",
		"product 2 1 0 any -1/2 1/1000":     "a ratio from 0 to 1",
		"product 2 1 0 any 1/2 0":           "an amount above 0",
		"product 2 1 0 any 1/2 -1":          "an amount above 0",
		"product 2 1 0 any 1/2 2/2000":      "lowest terms",
		"product 2 1 0 any 1/2":             "5 fields",
		"product 2 1 0 any 1/2 1/1000 0":    "7 fields",
		"product 2 1 0 any 1/2 5":           "not feasible",
		"produkt 2 1 0 any 1/2 1/1000":      `"end" was expected`,
		"product 9999999999 1 0 any 1/2 1":  "product",
		"product 2 1 0 any 1/2 0x1p-16385x": "product",
	} {
		if rep := checked(t, text(line)); rep.Valid || !strings.Contains(rep.Reason, reason) {
			t.Errorf("%s: valid = %v, reason %q, want %q", line, rep.Valid, rep.Reason, reason)
		}
	}
	if rep := checked(t, strings.Replace(text(good), "claim optimum 0", "claim optimum 1/1000", 1)); rep.Valid || !strings.Contains(rep.Reason, "only bounds the optimum from above") {
		t.Errorf("a lower bound: %+v", rep)
	}
	if rep := checked(t, text()); !rep.Valid { // permute-and-flip
		t.Error(rep.Reason)
	}
	for name, o := range map[string]certificate.Options{"memory": {MaxMemory: 3_000}, "steps": {MaxSteps: 1000}} {
		if _, err := check.Check(strings.NewReader(text(good)), o); !errors.Is(err, certificate.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	large := productText(16000, 16000, "epsilon 1/2", "100", good)
	if _, err := check.Check(strings.NewReader(large), certificate.Options{}); !errors.Is(err, certificate.ErrLimit) {
		t.Errorf("a large lattice: %v", err)
	}
}
