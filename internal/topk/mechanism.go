package topk

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/arith"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Mechanism chooses several candidates with a budget of ε in all.
type Mechanism struct {
	kind string // "peel", "one-shot", "joint", "pairwise" or "completed"
	base mechanisms.Mechanism
}

// bases are registered mechanisms that are ε-DP, and that run at ε/T where they are told a sensitivity of TΔ.
var bases = []string{"em", "pf", "rnm-laplace", "rnm-exponential", "rnm-gumbel"}

// ParseMechanism reads one of
//
//	peel:NAME             the mechanism NAME, one of bases, at ε/top, again and again among those not yet chosen; peel:em is one-shot Gumbel noise
//	one-shot:exponential  exponential noise on every score, as permute-and-flip at ε/top has it, once; the greatest noisy scores in order
//	joint:NAME            NAME at ε among all sets, whose scores are the sums of their candidates'. Two sets of top out of n differ in at most
//	                      min(top, n-top) candidates, so the changes of two sums differ by at most 2Δ times that: it is the sensitivity's factor
//	pairwise              pairwise noisy max among sets at ε: each pair of sets is compared at its own scale. It needs somewhat more than ε
//	completed             the same comparisons, where no set beats all others completed in favor of the best sets; see complete
func ParseMechanism(s string) (*Mechanism, error) {
	kind, name, _ := strings.Cut(s, ":")
	switch {
	case s == "one-shot:exponential", s == "pairwise", s == "completed":
		return &Mechanism{kind: kind}, nil
	case s == "one-shot:gumbel":
		kind, name = "peel", "em"
	}
	if kind != "peel" && kind != "joint" {
		return nil, fmt.Errorf("mechanism %q is not one of peel:NAME, one-shot:exponential, one-shot:gumbel, joint:NAME, pairwise, completed", s)
	}
	base, err := mechanisms.Lookup(name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(bases, base.Info().Name) {
		return nil, fmt.Errorf("mechanism %q: NAME is not one of %s, whose probabilities depend on the scores in units of Δ/ε alone", s, strings.Join(bases, ", "))
	}
	return &Mechanism{kind, base}, nil
}

func (m *Mechanism) String() string {
	switch {
	case m.kind == "pairwise", m.kind == "completed":
		return m.kind
	case m.base == nil:
		return m.kind + ":exponential"
	}
	return m.kind + ":" + m.base.Info().Name
}

// Lists reports whether the mechanism returns an order, too.
func (m *Mechanism) Lists() bool { return m.kind == "peel" || m.kind == "one-shot" }

// chances are what mechanisms calculate with: exact numbers where e^ε has the roots that are asked for, otherwise enclosures.
type chances struct {
	base     mechanisms.Mechanism
	eps      number.Epsilon
	enclosed bool // for tests: no number is exact
}

// precision of enclosures, in bits.
const precision = 192

// part returns ε/parts where e^{ε/parts} is rational.
func (c *chances) part(parts int64) (e number.Epsilon, rational bool) {
	if c.eps.Exp() == nil || c.enclosed {
		return e, false
	}
	x := arith.Root(c.eps.Exp(), parts)
	if x == nil {
		return e, false
	}
	e, err := number.FromExp(x)
	return e, err == nil
}

// power returns e^{-εv/parts}.
func (c *chances) power(v, parts int) number.Number {
	if e, ok := c.part(int64(parts)); ok {
		if x, ok := e.ExpNegRat(big.NewRat(int64(v), 1)); ok {
			return number.Exact(x)
		}
	}
	return number.Enclosed(c.eps.ExpNeg(big.NewRat(int64(v), int64(parts)), precision))
}

// ask returns the base mechanism's probabilities, where 2Δ is width steps.
func (c *chances) ask(scores []int, width int64) (p []number.Number, err error) {
	if e, ok := c.part(width); ok {
		exact, err := mechanisms.ExactDistribution(c.base, mechanisms.OnLattice(scores, e))
		for _, x := range exact {
			p = append(p, number.Exact(x))
		}
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return p, err
		}
	}
	in := mechanisms.OnLattice(scores, c.eps)
	in.Sensitivities = []*big.Rat{big.NewRat(width, 2)}
	boxes, err := mechanisms.EnclosedDistribution(c.base, in, precision)
	for _, x := range boxes {
		p = append(p, number.Enclosed(x))
	}
	return p, err
}

// distribution returns the probability of one outcome of each cell. Of a mechanism that returns lists, sets get the sum over their orders.
func distribution(m *Mechanism, s *space, c *chances) (out []number.Number, err error) {
	switch {
	case !s.ordered && s.top == s.n: // there is one set
		return slices.Repeat([]number.Number{number.Int(1)}, len(s.depths)), nil
	case m.kind == "completed":
		return complete(m, s, c), nil
	}
	for i, counts := range s.vars.Lattice.All() {
		one := &single{m, s.top, c, lattice.Depths(counts)}
		var law map[string]number.Number
		if m.Lists() {
			law, err = one.lists(s.ordered)
		} else {
			law, err = one.sets()
		}
		if err != nil {
			return nil, err
		}
		for _, chosen := range s.depths[s.first[i]:s.first[i+1]] {
			out = append(out, law[key(chosen)])
		}
	}
	return out, nil
}

// single is a mechanism at one score vector.
type single struct {
	m      *Mechanism
	top    int
	c      *chances
	depths []int // ascending
}

// lists returns the probability that given candidates are chosen in one order, by the depths of the list, or in any order, by those of the set.
func (s *single) lists(ordered bool) (map[string]number.Number, error) {
	law := map[string]number.Number{}
	return law, s.follow(nil, s.depths, number.Int(1), func(chosen, rest []int, p number.Number) {
		if s.m.kind == "one-shot" {
			p = oneShot(func(v int) number.Number { return s.c.power(v, s.top) }, chosen, rest)
		}
		if !ordered { // candidates of one depth are there in every order
			chosen = slices.Sorted(slices.Values(chosen))
			for i, v := range chosen {
				p = p.Mul(number.Int(int64(1 + i - slices.Index(chosen, v))))
			}
		}
		if sum, some := law[key(chosen)]; some {
			p = p.Add(sum)
		}
		law[key(chosen)] = p
	})
}

// follow visits the lists that begin with the chosen depths, each with the depths of the others and with its probability by peeling; p is that of the beginning.
func (s *single) follow(chosen, rest []int, p number.Number, visit func(chosen, rest []int, p number.Number)) (err error) {
	if len(chosen) == s.top {
		visit(chosen, rest, p)
		return nil
	}
	each := slices.Repeat([]number.Number{number.Int(1)}, len(rest))
	if s.m.kind == "peel" {
		if each, err = s.c.ask(rest, int64(s.top)); err != nil {
			return err
		}
	}
	for i, v := range rest {
		if i > 0 && v == rest[i-1] {
			continue
		}
		if err := s.follow(append(chosen[:len(chosen):len(chosen)], v), slices.Delete(slices.Clone(rest), i, i+1), p.Mul(each[i]), visit); err != nil {
			return err
		}
	}
	return nil
}

// members returns all sets, by place in depths.
func (s *single) members() (members [][]int) {
	var choose func(from int, chosen []int)
	choose = func(from int, chosen []int) {
		if len(chosen) == s.top {
			members = append(members, slices.Clone(chosen))
			return
		}
		for i := from; i < len(s.depths); i++ {
			choose(i+1, append(chosen, i))
		}
	}
	choose(0, nil)
	return members
}

// sets returns the probabilities of sets by their depths. joint asks the base mechanism about the sums of sets. Pairwise is pairwise noisy max among sets (research/docs/topk.md):
// every set draws exponential noise of rate ε, in steps of 2Δ, and beats another one if the difference of their sums, divided by the number of candidates that they differ in, and that
// of their noise have a positive sum. Drawn again until one set beats all others.
func (s *single) sets() (map[string]number.Number, error) {
	if s.m.kind == "pairwise" {
		law := s.wins()
		for set, x := range law.wins {
			law.wins[set] = x.Quo(law.won)
		}
		return law.wins, nil
	}
	var sums []int
	for _, set := range s.members() {
		sums = append(sums, s.sum(set))
	}
	p, err := s.c.ask(sums, int64(max(1, min(s.top, len(s.depths)-s.top))))
	if err != nil {
		return nil, err
	}
	out := map[string]number.Number{}
	for i, set := range s.members() {
		out[s.cell(set)] = p[i]
	}
	return out, nil
}

// cell is the key of a set's depths.
func (s *single) cell(set []int) string {
	depths := make([]int, len(set))
	for j, r := range set {
		depths[j] = s.depths[r]
	}
	return key(depths)
}

// sum returns the sum of a set's depths.
func (s *single) sum(set []int) (sum int) {
	for _, r := range set {
		sum += s.depths[r]
	}
	return sum
}

// law says how likely sets beat all others at once, by their depths, and that they do so with a noise of a step or more; and the sums of these over all sets.
type law struct {
	wins, loud map[string]number.Number
	won, sure  number.Number
}

func (s *single) wins() *law {
	l := &law{map[string]number.Number{}, map[string]number.Number{}, number.Int(0), number.Int(0)}
	sets := s.members()
	for _, set := range sets {
		at := s.cell(set)
		if _, known := l.wins[at]; !known {
			l.wins[at], l.loud[at] = s.chance(set, sets)
		}
		l.won, l.sure = l.won.Add(l.wins[at]), l.sure.Add(l.loud[at])
	}
	return l
}

// chance returns the probability that a set beats all others, and that it does so with a noise of a step or more.
func (s *single) chance(set []int, sets [][]int) (wins, loud number.Number) {
	// With u uniform on [0, z^{depth}] the other one is beaten with probability 1 - u z^{m}; m is its lead.
	type lead struct{ sum, differ int }
	density, deepest := polynomial{number.Int(1)}, lead{0, 1}
	for _, other := range sets {
		differ := 0
		for _, r := range set {
			if !slices.Contains(other, r) {
				differ++
			}
		}
		if differ == 0 {
			continue
		}
		l := lead{s.sum(set) - s.sum(other), differ}
		if l.sum*deepest.differ > deepest.sum*l.differ {
			deepest = l
		}
		density = density.times(s.c.power(-l.sum, l.differ))
	}
	end := s.c.power(deepest.sum, deepest.differ)
	step := end
	if deepest.sum < deepest.differ {
		step = s.c.power(1, 1)
	}
	whole := density.integral()
	return whole.at(end), whole.at(step)
}
