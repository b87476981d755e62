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

// Standard are the mechanisms that are rated unless others are asked for.
const Standard = "peel:em,peel:pf,one-shot:exponential,joint:em,joint:pf,pairwise,completed"

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
		return nil, fmt.Errorf("mechanism %q is none of peel:NAME, one-shot:exponential, one-shot:gumbel, joint:NAME, pairwise, completed", s)
	}
	base, err := mechanisms.Lookup(name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(bases, base.Info().Name) {
		return nil, fmt.Errorf("mechanism %q: NAME is none of %s, whose probabilities depend on the scores in units of Δ/ε alone", s, strings.Join(bases, ", "))
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

// arithmetic is numbers of one type with what mechanisms say in them.
type arithmetic[T any] struct {
	f    arith.Field[T]
	root func(v, parts int) (T, error)                // e^{-εv/parts}
	ask  func(scores []int, width int64) ([]T, error) // the base mechanism's probabilities, where 2Δ is width steps
	near func(x T) float64
}

// exactly is arithmetic on rationals. It fails with mechanisms.ErrNotRational where there are none: e^ε must have the roots that are asked for.
func exactly(m *Mechanism, eps number.Epsilon) arithmetic[*big.Rat] {
	known := map[int64]*number.Epsilon{}
	part := func(parts int64) (*number.Epsilon, error) {
		e, found := known[parts]
		if !found {
			if x := root(eps.Exp(), int(parts)); x != nil {
				y, err := number.FromExp(x)
				if err != nil {
					return nil, err
				}
				e = &y
			}
			known[parts] = e
		}
		if e == nil {
			return nil, mechanisms.ErrNotRational
		}
		return e, nil
	}
	return arithmetic[*big.Rat]{
		arith.Rat{},
		func(v, parts int) (*big.Rat, error) {
			e, err := part(int64(parts))
			if err != nil {
				return nil, err
			}
			x, ok := e.ExpNegRat(big.NewRat(int64(v), 1))
			if !ok {
				return nil, mechanisms.ErrNotRational
			}
			return x, nil
		},
		func(scores []int, width int64) ([]*big.Rat, error) {
			e, err := part(width)
			if err != nil {
				return nil, err
			}
			return mechanisms.ExactDistribution(m.base, mechanisms.OnLattice(scores, *e))
		},
		func(x *big.Rat) float64 { near, _ := x.Float64(); return near },
	}
}

// root returns the nth root of x > 0 where it is rational, else nil; nil for nil.
func root(x *big.Rat, n int) *big.Rat {
	if x == nil {
		return nil
	}
	integer := func(a *big.Int) *big.Int {
		power := big.NewInt(int64(n))
		low, high := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(a.BitLen()/n+1)) // low^n <= a < high^n
		for {
			middle := new(big.Int).Add(low, high)
			middle.Rsh(middle, 1)
			if middle.Cmp(low) == 0 {
				break
			}
			if new(big.Int).Exp(middle, power, nil).Cmp(a) <= 0 {
				low = middle
			} else {
				high = middle
			}
		}
		if new(big.Int).Exp(low, power, nil).Cmp(a) != 0 {
			return nil
		}
		return low
	}
	num, den := integer(x.Num()), integer(x.Denom())
	if num == nil || den == nil {
		return nil
	}
	return new(big.Rat).SetFrac(num, den)
}

// enclosed is arithmetic on intervals.
func enclosed(m *Mechanism, eps number.Epsilon, prec uint) arithmetic[number.Interval] {
	f := arith.Interval{Prec: prec}
	return arithmetic[number.Interval]{
		f,
		func(v, parts int) (number.Interval, error) {
			x := eps.ExpNeg(big.NewRat(int64(max(v, -v)), int64(parts)), prec)
			if v < 0 {
				x = f.Quo(f.One(), x)
			}
			return x, nil
		},
		func(scores []int, width int64) ([]number.Interval, error) {
			in := mechanisms.OnLattice(scores, eps)
			in.Sensitivities = []*big.Rat{big.NewRat(width, 2)}
			return mechanisms.EnclosedDistribution(m.base, in, prec)
		},
		func(x number.Interval) float64 { low, high := x.Float64(); return (low + high) / 2 },
	}
}

// distribution returns the probability of one outcome of each cell. Of a mechanism that returns lists, sets get the sum over their orders.
func distribution[T any](m *Mechanism, s *space, a arithmetic[T]) ([]T, error) {
	if m.kind == "completed" && s.top < s.n {
		return complete(m, s, a)
	}
	out := make([]T, len(s.depths))
	for i, counts := range s.vars.Lattice.All() {
		one := &single[T]{m, s.top, a, lattice.Depths(counts), map[string]T{}}
		var jointly map[string]T
		if !m.Lists() {
			var err error
			if jointly, err = one.sets(); err != nil {
				return nil, err
			}
		}
		for j := s.first[i]; j < s.first[i+1]; j++ {
			chosen := s.depths[j]
			x, err := a.f.Zero(), error(nil)
			switch {
			case !s.ordered && s.top == s.n: // there is one set
				x = a.f.One()
			case jointly != nil:
				x = jointly[key(chosen)]
			case s.ordered:
				x, err = one.list(chosen)
			default:
				err = orders(slices.Clone(chosen), 0, func(list []int) error {
					y, err := one.list(list)
					if err == nil {
						x = a.f.Add(x, y)
					}
					return err
				})
			}
			if err != nil {
				return nil, err
			}
			out[j] = x
		}
	}
	return out, nil
}

// orders visits all orders of the candidates from place i on, those with equal depths counting as different ones.
func orders(list []int, i int, visit func([]int) error) error {
	if i == len(list) {
		return visit(list)
	}
	for j := i; j < len(list); j++ {
		list[i], list[j] = list[j], list[i]
		err := orders(list, i+1, visit)
		list[i], list[j] = list[j], list[i]
		if err != nil {
			return err
		}
	}
	return nil
}

// single is a mechanism at one score vector.
type single[T any] struct {
	m      *Mechanism
	top    int
	a      arithmetic[T]
	depths []int
	known  map[string]T // probabilities of lists
}

// list returns the probability that given candidates with these depths are chosen in this order.
func (s *single[T]) list(chosen []int) (T, error) {
	if x, ok := s.known[key(chosen)]; ok {
		return x, nil
	}
	x, err := s.a.f.One(), error(nil)
	rest := slices.Clone(s.depths)
	for _, v := range chosen {
		at := slices.Index(rest, v)
		if s.m.kind == "peel" {
			p, err := s.a.ask(rest, int64(s.top))
			if err != nil {
				return x, err
			}
			x = s.a.f.Mul(x, p[at])
		}
		rest = slices.Delete(rest, at, at+1)
	}
	if s.m.kind == "one-shot" {
		power := func(v int) T {
			y, e := s.a.root(v, s.top)
			if e != nil {
				err, y = e, s.a.f.One()
			}
			return y
		}
		x = oneShot(s.a.f, power, chosen, rest)
	}
	if err == nil {
		s.known[key(chosen)] = x
	}
	return x, err
}

// members returns all sets, by place in depths.
func (s *single[T]) members() (members [][]int) {
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

// sets returns the probabilities of sets by their depths.
func (s *single[T]) sets() (map[string]T, error) {
	members := s.members()
	ask := s.pairwise
	if s.m.kind == "joint" {
		ask = s.joint
	}
	p, err := ask(members)
	if err != nil {
		return nil, err
	}
	out := map[string]T{}
	for i, set := range members {
		out[s.cell(set)] = p[i]
	}
	return out, nil
}

// cell is the key of a set's depths.
func (s *single[T]) cell(set []int) string {
	depths := make([]int, len(set))
	for j, r := range set {
		depths[j] = s.depths[r]
	}
	return key(depths)
}

// sum returns the sum of a set's depths.
func (s *single[T]) sum(set []int) (sum int) {
	for _, r := range set {
		sum += s.depths[r]
	}
	return sum
}

// joint asks the base mechanism about the sums of sets.
func (s *single[T]) joint(sets [][]int) ([]T, error) {
	var sums []int
	for _, set := range sets {
		sums = append(sums, s.sum(set))
	}
	return s.a.ask(sums, int64(max(1, min(s.top, len(s.depths)-s.top))))
}

// pairwise is pairwise noisy max among sets (docs/results/topk.md): every set draws exponential noise of rate ε, in steps of 2Δ, and beats another one if the
// difference of their sums, divided by the number of candidates that they differ in, and that of their noise have a positive sum. Drawn again until
// one set beats all others.
func (s *single[T]) pairwise(sets [][]int) ([]T, error) {
	wins, _, total, err := s.wins(sets)
	for i := range wins {
		wins[i] = s.a.f.Quo(wins[i], total)
	}
	return wins, err
}

// wins returns the probability that each set beats all others at once, that it does so with a noise of a step or more, and that some set beats all others.
func (s *single[T]) wins(sets [][]int) (wins, loud []T, total T, err error) {
	f := s.a.f
	total = f.Zero()
	for _, set := range sets {
		// With u uniform on [0, z^{depth}] the other one is beaten with probability 1 - u z^{m}; m is its lead.
		type lead struct{ sum, differ int }
		density, deepest := []T{f.One()}, lead{0, 1}
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
			p, err := s.a.root(-l.sum, l.differ)
			if err != nil {
				return nil, nil, total, err
			}
			density = times(f, density, p)
		}
		end, err := s.a.root(deepest.sum, deepest.differ)
		if err != nil {
			return nil, nil, total, err
		}
		step := end
		if deepest.sum < deepest.differ {
			if step, err = s.a.root(1, 1); err != nil {
				return nil, nil, total, err
			}
		}
		whole := integral(f, density)
		x := value(f, whole, end)
		wins, loud = append(wins, x), append(loud, value(f, whole, step))
		total = f.Add(total, x)
	}
	return wins, loud, total, nil
}

// rational reports whether an error says that there are no exact numbers.
func rational(err error) bool { return !errors.Is(err, mechanisms.ErrNotRational) }
