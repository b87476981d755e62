package certificate_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// dualValue returns what multipliers prove, straight from the definition of the Lagrangian dual.
func (p *problem) dualValue(sol *solution) *big.Rat {
	c := make([]*big.Rat, len(p.Vars))
	for i := range c {
		c[i] = p.Cost(i)
	}
	for r, mu := range sol.cuts {
		c[r.A].Sub(c[r.A], mu)
		x := new(big.Rat).Mul(mu, p.Weight(r.A))
		x.Quo(x, p.Weight(r.B))
		if r.Kind == "p" {
			x.Mul(x, p.Z)
		}
		c[r.B].Add(c[r.B], x)
	}
	orbit := map[string]int{}
	for i, m := range p.Orbits {
		orbit[fmt.Sprint(m)] = i
	}
	after := make([]int, len(p.Vars))
	for i := range after {
		after[i] = -1
	}
	for i, b := range p.Before {
		if b >= 0 {
			after[b] = i
		}
	}
	// reduced[i] = c_i + z λ_{i+1}.
	reduced := make([]*big.Rat, len(p.Vars))
	var at func(i int) *big.Rat
	lambda := func(i int) *big.Rat {
		l := new(big.Rat)
		if p.Before[i] >= 0 {
			if l.Sub(at(i), sol.y[orbit[fmt.Sprint(p.Vars[i].M)]]); l.Sign() < 0 {
				l.SetInt64(0)
			}
		}
		return l
	}
	at = func(i int) *big.Rat {
		if reduced[i] == nil {
			reduced[i] = new(big.Rat).Set(c[i])
			if after[i] >= 0 {
				reduced[i].Add(reduced[i], new(big.Rat).Mul(p.Z, lambda(after[i])))
			}
		}
		return reduced[i]
	}
	least := make([]*big.Rat, len(p.Orbits))
	for i, x := range p.Vars {
		o := orbit[fmt.Sprint(x.M)]
		if d := new(big.Rat).Sub(at(i), lambda(i)); least[o] == nil || d.Cmp(least[o]) < 0 {
			least[o] = d
		}
	}
	total := new(big.Rat)
	for o, m := range p.Orbits {
		total.Add(total, new(big.Rat).Mul(least[o], p.Multiplicity(m)))
	}
	return total
}

// completed returns the point that injections s at depths >= 1 give, by (E).
func (p *problem) completed(s map[int]*big.Rat) []*big.Rat {
	u := make([]*big.Rat, len(p.Vars))
	for i, x := range p.Vars {
		if x.V == 0 {
			u[i] = p.Multiplicity(x.M)
			continue
		}
		u[i] = new(big.Rat).Mul(p.Z, u[p.Before[i]])
		if s[i] != nil {
			u[i].Add(u[i], s[i])
		}
		first := u[p.Index[key(x.M, 0)]]
		first.Sub(first, u[i])
	}
	return u
}

// mixedValue returns the objective of the mixture with permute-and-flip that meets every row of the program.
func (p *problem) mixedValue(s map[int]*big.Rat, rows []levelRow) *big.Rat {
	u, flip := p.completed(s), p.FlipPoint()
	theta := new(big.Rat)
	require := func(a, b *big.Rat) {
		if a.Sign() >= 0 {
			return
		}
		t := big.NewRat(1, 1)
		if b.Sign() > 0 {
			t.Neg(a)
			t.Quo(t, new(big.Rat).Sub(b, a))
		}
		if t.Cmp(theta) > 0 {
			theta = t
		}
	}
	for i := range p.Vars {
		require(u[i], flip[i])
		if b := p.Before[i]; b >= 0 {
			row := func(u []*big.Rat) *big.Rat { return new(big.Rat).Sub(u[i], new(big.Rat).Mul(p.Z, u[b])) }
			require(row(u), row(flip))
		}
	}
	for _, r := range rows {
		require(p.row(r, u), p.row(r, flip))
	}
	total := new(big.Rat)
	for i := range u {
		x := new(big.Rat).Sub(flip[i], u[i])
		x.Mul(x, theta)
		total.Add(total, x.Mul(x.Add(x, u[i]), p.Cost(i)))
	}
	return total
}

// TestExactlyWhatIsProved compares with the definitions what random multipliers and injections prove: claims just as
// strong are valid, claims a little stronger are not.
func TestExactlyWhatIsProved(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	mixed, clipped := 0, 0
	for _, epsilon := range []string{"exp-epsilon 6/5", "exp-epsilon 3/2", "epsilon 1/3", "exp-epsilon 1"} {
		for _, level := range []string{"paper", "dp", "monotone", "full"} {
			word, exp, _ := strings.Cut(epsilon, " ")
			margin, tiny := new(big.Rat), rat("1e-25")
			if word == "epsilon" {
				exp, _ = expBounds(rat(exp))
				margin = rat("1e-26")
			}
			p := newProblem(3, 3, exp, []string{"paper", "box"}[rng.IntN(2)], level)
			best := p.solve()
			rows := p.LevelRows()
			em := p.exponential()
			for range 6 {
				sol := &solution{cuts: map[levelRow]*big.Rat{}}
				size := []float64{1e-9, 1e-3, 0.1, 1}[rng.IntN(4)]
				dyadic := func(x *big.Rat) *big.Rat {
					f, _ := x.Float64()
					return new(big.Rat).SetFloat64(f + size*rng.NormFloat64())
				}
				for _, y := range best.y {
					sol.y = append(sol.y, dyadic(y))
				}
				s := map[int]*big.Rat{}
				for i, b := range p.Before {
					if p.Vars[i].V > 0 {
						x := dyadic(new(big.Rat).Sub(best.u[i], new(big.Rat).Mul(p.Z, best.u[b])))
						if rng.IntN(3) > 0 && x.Sign() > 0 {
							s[i] = x
						}
					}
				}
				sol.u = p.completed(s)
				for _, r := range rows {
					if rng.IntN(8) == 0 {
						x := new(big.Rat).SetFloat64(size * rng.ExpFloat64())
						sol.cuts[r] = x
					}
				}
				low, high := p.dualValue(sol), p.mixedValue(s, rows)
				if high.Cmp(best.minimum) < 0 || low.Cmp(best.minimum) > 0 {
					t.Fatalf("the oracle is wrong: [%s, %s], minimum %s", low.FloatString(9), high.FloatString(9), best.minimum.FloatString(9))
				}
				plain := new(big.Rat)
				for i, u := range sol.u {
					plain.Add(plain, new(big.Rat).Mul(u, p.Cost(i)))
				}
				if plain.Cmp(high) != 0 {
					mixed++
				}
				linear := new(big.Rat)
				for i, y := range sol.y {
					linear.Add(linear, new(big.Rat).Mul(y, p.Multiplicity(p.Orbits[i])))
				}
				if linear.Cmp(low) != 0 {
					clipped++
				}
				if best.flip.Cmp(high) < 0 {
					high = best.flip
				}

				d := p.draft(epsilon, sol, hexExact)
				d.body = slices.DeleteFunc(d.body, func(l string) bool { return strings.HasPrefix(l, "inject") })
				var inject []string
				for i, x := range p.Vars {
					if s[i] != nil {
						inject = append(inject, fmt.Sprintf("inject %d %s %s", x.V, counts(x.M), hexExact(s[i])))
					}
				}
				d.body = slices.Insert(d.body, len(p.Orbits), inject...)
				all := p.ScoreVectors()
				q := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
				claims := []struct {
					on     string
					lo, hi *big.Rat
				}{{"optimum", q(low, all), q(high, all)}}
				for name, e := range map[string]*big.Rat{"pf": best.flip, "em": em} {
					c := claims[0]
					c.on, c.lo, c.hi = "error "+name, q(e, all), q(e, all)
					claims = append(claims, c)
					if low.Sign() > 0 {
						c.on, c.lo, c.hi = "ratio "+name, q(e, high), q(e, low)
						claims = append(claims, c)
					}
				}
				for _, c := range claims {
					try := func(lo, hi *big.Rat, want bool) {
						d.claims = []string{"claim optimum -1000 1000"}
						if c.on == "optimum" {
							d.claims = nil
						}
						d.claim(c.on, lo, hi)
						if rep := check(t, d.String()); rep.Valid != want {
							t.Errorf("%s %s: claim %s %s %s: valid = %v, want %v: %s\n%s", epsilon, level, c.on,
								lo.FloatString(30), hi.FloatString(30), rep.Valid, want, rep.Reason, d)
						}
					}
					lo, hi := new(big.Rat).Sub(c.lo, margin), new(big.Rat).Add(c.hi, margin)
					try(lo, hi, true)
					above, below := new(big.Rat).Add(c.lo, tiny), new(big.Rat).Sub(c.hi, tiny)
					if above.Cmp(hi) <= 0 {
						try(above, hi, false)
					}
					if lo.Cmp(below) <= 0 {
						try(lo, below, false)
					}
				}
			}
		}
	}
	if mixed < 20 || clipped < 20 {
		t.Errorf("only %d mixtures and %d clipped multipliers: the test is not probing much", mixed, clipped)
	}
}

// hexExact writes a float64 value.
func hexExact(r *big.Rat) string {
	if s := hex(r); s == "0" || parse(s).Cmp(r) == 0 {
		return s
	}
	return r.RatString()
}

// TestPaperOptimumFailsAtHigherLevels: the optimum without the level's rows is no upper bound at the level.
func TestPaperOptimumFailsAtHigherLevels(t *testing.T) {
	for _, level := range []string{"dp", "monotone", "full"} {
		p := newProblem(3, 3, "3/2", "paper", "paper")
		d := p.draft("exp-epsilon 3/2", p.solve(), (*big.Rat).RatString)
		d.header[6] = "constraints " + level
		optimum := newProblem(3, 3, "3/2", "paper", level).truth()["optimum"][0]
		below := new(big.Rat).Sub(optimum, rat("1e-30"))
		if check(t, d.claim("optimum", "0", below).String()).Valid {
			t.Errorf("%s: an upper bound below the optimum", level)
		}
	}
}

// TestNoLowerBound: where the multipliers prove nothing, no ratio has an upper bound.
func TestNoLowerBound(t *testing.T) {
	for _, epsilon := range []string{"epsilon 1/2", "exp-epsilon 3/2"} {
		for _, y := range []string{"0", "-1"} {
			p := newProblem(3, 2, "3/2", "paper", "paper")
			sol := p.solve()
			for i := range sol.y {
				sol.y[i] = rat(y)
			}
			d := p.draft(epsilon, sol, hex).claim("optimum", "-10", "10")
			if rep := check(t, d.String()); !rep.Valid {
				t.Errorf("%s, y = %s: %s", epsilon, y, rep.Reason)
			}
			if check(t, d.claim("ratio pf", "1", "1000000").String()).Valid {
				t.Errorf("%s, y = %s: a ratio from nothing", epsilon, y)
			}
		}
	}
}

// TestRecurrenceRaisesPrecision: ε on either side of ln((1+√5)/2) = asinh(1/2), by less than the first precision tells.
func TestRecurrenceRaisesPrecision(t *testing.T) {
	sum, term := new(big.Rat), big.NewRat(1, 2)
	for n := int64(0); n < 200; n++ {
		sum.Add(sum, new(big.Rat).Quo(term, big.NewRat(2*n+1, 1)))
		// (-1)^n C(2n, n) / 4^n · (1/2)^{2n+1}
		term.Mul(term, big.NewRat(-(2*n+1), 2*n+2))
		term.Mul(term, big.NewRat(1, 4))
	}
	for _, c := range []struct {
		off  string
		want bool
	}{{"1e-90", true}, {"-1e-90", false}} {
		eps := new(big.Rat)
		eps.SetString(new(big.Rat).Add(sum, rat(c.off)).FloatString(100))
		d := byTheorem(3, 2, "epsilon "+eps.RatString(), "paper", "dual-recurrence").claim("optimum", "0", "2")
		if rep := check(t, d.String()); rep.Valid != c.want {
			t.Errorf("%s from the threshold: valid = %v: %s", c.off, rep.Valid, rep.Reason)
		}
	}
}

// TestRejectedLines replaces single lines of a valid certificate.
func TestRejectedLines(t *testing.T) {
	p := newProblem(3, 3, "3/2", "paper", "full")
	d := p.draft("exp-epsilon 3/2", p.solve(), (*big.Rat).RatString).claim("optimum", "0", "3")
	at := func(prefix string) int {
		i := slices.IndexFunc(d.body, func(l string) bool { return strings.HasPrefix(l, prefix) })
		if i < 0 {
			t.Fatalf("no line %q", prefix)
		}
		return i
	}
	if rep := check(t, d.String()); !rep.Valid {
		t.Fatal(rep.Reason)
	}
	for line, instead := range map[string][]string{
		"dual 3 ":     {"dual 3 0 0 0", "dual 3 0 0 0 0 0", "dual 2 1 0 0 0", "dual 3 0 0 0 1/2/3", "dual 3 0 0 0 0.5", "dual 3 0 0 0 --1", "dual 3 0 0 0 -0", "dual 3 0 0 0 2/1", "dual 3 0 0 0  1", "Dual 3 0 0 0 0"},
		"dual 1 0 0 ": {"dual 1 0 0 3 0", "dual 1 0 0 1 0", "dual 0 0 0 3 0", "dual 1 0 0 -2 0", "dual 1 0 0 02 0", "dual 1 0 0 2 0x1.0p+00", "dual 1 0 0 2 0x2p+00"},
		"inject":      {"inject 3 1 0 0 2 0", "inject 3 1 0 0 2 -1/2", "inject 0 3 0 0 0 1/2", "inject 2 3 0 0 0 1/2", "inject 4 1 0 0 2 1/2", "inject -1 1 0 0 2 1/2"},
		"cut m":       {"cut m 1 1 2 0 0 1 1 2 0 0 1/2", "cut q 1 1 2 0 0 0 2 1 0 0 1/2", "cut m 0 3 0 0 0 3 1 0 0 2 0", "cut m 0 1 0 0 2 0 1 0 0 2 1", "cut m 3 1 0 0 2 0 3 0 0 0 1", "cut p 3 1 0 0 2 0 3 0 0 0 1"},
	} {
		i := at(line)
		for _, s := range instead {
			changed := *d
			changed.body = slices.Clone(d.body)
			changed.body[i] = s
			if rep := check(t, changed.String()); rep.Valid || !strings.HasPrefix(rep.Reason, "line ") {
				t.Errorf("%q for %q: valid = %v, %s", s, d.body[i], rep.Valid, rep.Reason)
			}
		}
	}
	text := d.String()
	last := strings.LastIndex(text, " ") + 1
	for _, end := range []string{"0\n", "1" + text[last:], "0" + text[last:], "-" + text[last:], "x\n", "\n"} {
		if check(t, text[:last]+end).Valid {
			t.Errorf("valid with end %q", end)
		}
	}
	// Kinds of rows that a level does not have.
	for level, kind := range map[string]string{"paper": "cut", "dp": "cut m", "monotone": "cut p"} {
		if !slices.ContainsFunc(d.body, func(l string) bool { return strings.HasPrefix(l, kind) }) {
			continue
		}
		changed := *d
		changed.header = slices.Clone(d.header)
		changed.header[6] = "constraints " + level
		if check(t, changed.String()).Valid {
			t.Errorf("%s with the rows of full", level)
		}
	}
}

func TestCutOrder(t *testing.T) {
	p := newProblem(3, 3, "5/4", "paper", "full")
	sol := p.solve()
	for i, r := range p.LevelRows() {
		if i%9 == 0 {
			sol.cuts[r] = rat("1/1000")
		}
	}
	d := p.draft("exp-epsilon 5/4", sol, (*big.Rat).RatString).claim("optimum", "0", "3")
	if rep := check(t, d.String()); !rep.Valid {
		t.Fatal(rep.Reason)
	}
	// The same multipliers in another order, or in two halves.
	var cuts []int
	for i, l := range d.body {
		if strings.HasPrefix(l, "cut ") {
			cuts = append(cuts, i)
		}
	}
	if len(cuts) < 2 {
		t.Fatalf("%d cuts", len(cuts))
	}
	changed := *d
	changed.body = slices.Clone(d.body)
	a, b := cuts[len(cuts)-2], cuts[len(cuts)-1]
	changed.body[a], changed.body[b] = changed.body[b], changed.body[a]
	if check(t, changed.String()).Valid {
		t.Error("cuts in a wrong order")
	}
	f := strings.Split(d.body[b], " ")
	f[len(f)-1] = new(big.Rat).Quo(rat(f[len(f)-1]), big.NewRat(2, 1)).RatString()
	changed.body = append(slices.Clone(d.body[:b]), strings.Join(f, " "), strings.Join(f, " "))
	if rep := check(t, changed.String()); rep.Valid || !strings.Contains(rep.Reason, "not after the row") {
		t.Errorf("a cut in two halves: %s", rep.Reason)
	}
}
