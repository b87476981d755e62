package claims

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"optratio/mechanisms"
	"optratio/number"
)

// A check computes a verdict. It is to an entry what a test is to package testing: it makes its comparisons through a tally, and an error that no statement is about
// ends it.
type check func(t *tally) Finding

// A tally counts the comparisons of a check and remembers the first that failed.
type tally struct {
	ctx                context.Context
	checked            int
	witness, unsettled string
}

// must returns x where a computation succeeded. Otherwise it panics with the computation's error, which makes the entry undecided.
func must[T any](x T, err error) T {
	ensure(err)
	return x
}

// ensure panics with an error that is not nil.
func ensure(err error) {
	if err != nil {
		panic(err)
	}
}

// expect counts a comparison. Where it is the first that is false, the rest says in numbers how. It returns whether to go on.
// It ends the check where the context has ended and nothing is refuted yet: a computation that was cut short is no witness.
func (t *tally) expect(ok bool, format string, args ...any) bool {
	t.checked++
	t.alive()
	if !ok && t.witness == "" {
		t.witness = fmt.Sprintf(format, args...)
	}
	return t.witness == ""
}

// alive ends the check where the context has ended and nothing is refuted.
func (t *tally) alive() {
	if t.witness == "" {
		ensure(t.ctx.Err())
	}
}

// atMost expects x <= y of two enclosed numbers. Where the enclosures do not tell, the whole check is undecided unless something else refutes it.
func (t *tally) atMost(x, y number.Interval, format string, args ...any) bool {
	holds, ok := x.LessEq(y)
	if !ok {
		t.unsettled = fmt.Sprintf("the enclosures do not decide: "+format, args...)
		return true
	}
	return t.expect(holds, format, args...)
}

// undecided is the finding of a check that could not be carried through.
func (t *tally) undecided(why string) Finding {
	ensure(t.ctx.Err())
	return Finding{Verdict: Undecided, Domain: why}
}

// finding is what the comparisons show: that the statement holds on the domain, where seen are the extreme values, or the witness against it.
func (t *tally) finding(domain, seen string) Finding {
	t.alive()
	switch {
	case t.witness != "":
		return Finding{Verdict: Refuted, Domain: domain, Witness: t.witness}
	case t.unsettled != "":
		return Finding{Verdict: Undecided, Domain: t.unsettled}
	case t.checked == 0:
		return Finding{Verdict: Undecided, Domain: "nothing was compared"}
	}
	return Finding{Verdict: Holds, Domain: domain, Witness: seen}
}

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func add(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
func sub(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
func mul(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
func inv(x *big.Rat) *big.Rat    { return new(big.Rat).Inv(x) }

var zero, one, two = new(big.Rat), rat(1, 1), rat(2, 1)

func less(x, y *big.Rat) bool { return x.Cmp(y) < 0 }

func larger(x, y *big.Rat) *big.Rat {
	if less(x, y) {
		return y
	}
	return x
}

func smaller(x, y *big.Rat) *big.Rat {
	if less(y, x) {
		return y
	}
	return x
}

func sum(xs []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, x := range xs {
		total.Add(total, x)
	}
	return total
}

// power returns x^n, n >= 0.
func power(x *big.Rat, n int) *big.Rat {
	e := big.NewInt(int64(n))
	return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
}

// text writes rationals as (1/2, 1).
func text(xs []*big.Rat) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = x.RatString()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// short writes x as a fraction where that is short, and otherwise as a decimal with so many significant digits, cut and not rounded, and an ellipsis.
func short(x *big.Rat, digits int) string {
	if s := x.RatString(); len(s) <= 24 {
		return s
	}
	return decimals(x, digits)
}

// decimals writes x with so many significant digits, cut and not rounded, and an ellipsis where digits are missing.
func decimals(x *big.Rat, digits int) string {
	places := digits
	for tenth, y := rat(1, 10), new(big.Rat).Abs(x); y.Sign() != 0 && y.Cmp(tenth) < 0; places++ {
		y.Mul(y, rat(10, 1))
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt(scale))
	s := new(big.Rat).SetFrac(new(big.Int).Quo(scaled.Num(), scaled.Denom()), scale).FloatString(places)
	if scaled.IsInt() {
		return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s + "…"
}

// A score vector is given here by its weights p_r = e^{ε(q_r - q*)/2Δ}, in (0, 1] and the largest 1. Every vector of rational weights belongs to real scores, and the
// mechanisms' probabilities at it are rational. Errors (2Δ/ε) ln(1/p_r) are in units of 2Δ/ε, and two of them are compared by comparing weights.

var pf, em = mechanisms.PermuteAndFlip().(mechanisms.Weighted), mechanisms.Exponential().(mechanisms.Weighted)

// distribution returns m's probabilities at the weights.
func distribution(m mechanisms.Weighted, p []*big.Rat) []*big.Rat {
	distinct := slices.Clone(p)
	slices.SortFunc(distinct, func(x, y *big.Rat) int { return y.Cmp(x) })
	distinct = slices.CompactFunc(distinct, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
	place := func(x *big.Rat) int {
		return slices.IndexFunc(distinct, func(y *big.Rat) bool { return x.Cmp(y) == 0 })
	}
	counts := make([]int, len(distinct))
	for _, x := range p {
		counts[place(x)]++
	}
	values := m.WeightedExact(distinct, counts)
	out := make([]*big.Rat, len(p))
	for i, x := range p {
		out[i] = values[place(x)]
	}
	return out
}

// grid yields every nondecreasing weight vector of length n with entries from the given increasing numbers, the last of which is 1 and is the last entry.
func grid(n int, from ...*big.Rat) iter.Seq[[]*big.Rat] {
	return func(yield func([]*big.Rat) bool) {
		p := make([]*big.Rat, n)
		p[n-1] = rat(1, 1)
		var fill func(i, least int) bool
		fill = func(i, least int) bool {
			if i == n-1 {
				return yield(slices.Clone(p))
			}
			for j := least; j < len(from); j++ {
				p[i] = from[j]
				if !fill(i+1, j) {
					return false
				}
			}
			return true
		}
		fill(0, 0)
	}
}

// precision is that of enclosures, in bits.
const precision = 160

// enclose returns x as an interval, log the interval of its logarithm.
func enclose(x *big.Rat) number.Interval { return number.FromRat(x, precision) }
func log(x *big.Rat) number.Interval     { return number.LogRat(x, precision) }

// meanError returns Σ_r x_r ln(1/p_r), the expected error in units of 2Δ/ε of a mechanism that takes candidate r with probability x_r.
func meanError(p, x []*big.Rat) number.Interval {
	total := number.FromInt(0, precision)
	for r := range p {
		total = total.Sub(enclose(x[r]).Mul(log(p[r])))
	}
	return total
}

// tail returns Σ x_r over the candidates with p_r <= most: Pr[error >= (2Δ/ε) ln(1/most)].
func tail(p, x []*big.Rat, most *big.Rat) *big.Rat {
	total := new(big.Rat)
	for r := range p {
		if p[r].Cmp(most) <= 0 {
			total.Add(total, x[r])
		}
	}
	return total
}

// wide are weights from far below the top to the top itself.
var wide = []*big.Rat{rat(1, 1000000), rat(1, 1000), rat(1, 20), rat(1, 5), rat(1, 2), rat(9, 10), rat(1, 1)}

const wideDomain = "weights from {10^-6, 10^-3, 1/20, 1/5, 1/2, 9/10, 1}"

// vectors yields grid(n, wide…) for n = 1, …, most, until ctx ends.
func vectors(ctx context.Context, most int) iter.Seq[[]*big.Rat] {
	return func(yield func([]*big.Rat) bool) {
		for n := 1; n <= most; n++ {
			for p := range grid(n, wide...) {
				if ctx.Err() != nil || !yield(p) {
					return
				}
			}
		}
	}
}

// over is the check of a statement by comparisons on a domain; %d in what was seen stands for their number.
func over(domain, seen string, compare func(t *tally)) check {
	return func(t *tally) Finding {
		compare(t)
		return t.finding(domain, strings.Replace(seen, "%d", fmt.Sprint(t.checked), 1))
	}
}

// forWeights is the check of a statement about every weight vector of at most so many candidates.
func forWeights(most int, how, seen string, compare func(t *tally, p []*big.Rat)) check {
	return over(fmt.Sprintf("n <= %d, %s, %s", most, wideDomain, how), seen, func(t *tally) {
		for p := range vectors(t.ctx, most) {
			compare(t, p)
		}
	})
}

// onLattices is the check of a statement about lattices Q(n,k), each at several e^ε = 1/z.
func onLattices(sizes [][2]int, exps, how, seen string, compare func(t *tally, n, k int, z *big.Rat)) check {
	return over(names(sizes)+", e^ε = "+exps+", "+how, seen, func(t *tally) {
		for _, s := range sizes {
			for _, exp := range rats(strings.Split(exps, ", ")...) {
				compare(t, s[0], s[1], inv(exp))
			}
		}
	})
}

// names writes lattices as Q(3,3), Q(4,2).
func names(lattices [][2]int) string {
	var out []string
	for _, l := range lattices {
		out = append(out, fmt.Sprintf("Q(%d,%d)", l[0], l[1]))
	}
	return strings.Join(out, ", ")
}

// inOneReading is the check of a statement that can be read in two ways, one of which a computation refutes: that settles nothing of the other, and why names it.
func inOneReading(why string, of check) check {
	return func(t *tally) Finding {
		f := of(t)
		if f.Verdict == Refuted {
			f.Verdict, f.Witness = NotCheckable, why+"; "+f.Witness
		}
		return f
	}
}

// notCheckable is the check of a statement that no computation can settle, with the reason.
func notCheckable(why string) check {
	return func(*tally) Finding { return Finding{Verdict: NotCheckable, Witness: why} }
}

// tuples yields every choice of a number from each list, the last one changing first.
func tuples(lists ...[]*big.Rat) iter.Seq[[]*big.Rat] {
	return func(yield func([]*big.Rat) bool) {
		sizes := make([]int, len(lists))
		for i, l := range lists {
			sizes[i] = len(l)
		}
		for _, at := range combin.Cartesian(sizes) {
			out := make([]*big.Rat, len(lists))
			for i, j := range at {
				out[i] = lists[i][j]
			}
			if !yield(out) {
				return
			}
		}
	}
}

// rats reads rationals.
func rats(ss ...string) (out []*big.Rat) {
	for _, s := range ss {
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s) // a constant of this package
		}
		out = append(out, x)
	}
	return out
}

// whole is a small integer.
func whole(x *big.Rat) int { return int(x.Num().Int64()) }

// near writes enclosed numbers for people, under their names in order.
func near(format string, errs map[string]number.Interval, order ...string) string {
	var parts []string
	for _, name := range order {
		parts = append(parts, fmt.Sprintf(format, name, errs[name].Near()))
	}
	return strings.Join(parts, ", ")
}

// below reports whether x < y is certain.
func below(x, y number.Interval) bool {
	c, ok := x.Cmp(y)
	return ok && c < 0
}

// named returns a registered mechanism.
func named(name string) mechanisms.Mechanism { return must(mechanisms.Lookup(name)) }

// epsilonOf reads a decimal ε, expOf takes an e^ε.
func epsilonOf(s string) number.Epsilon { return must(number.ParseEpsilon(s)) }
func expOf(e *big.Rat) number.Epsilon   { return must(number.FromExp(e)) }
