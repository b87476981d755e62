package claims

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/arith"
	"optratio/number"
)

// A check makes the comparisons that a statement comes to through a tally, as a test does through package testing; an error that no statement is about ends it.
type check func(t *tally)

// A tally counts the comparisons of a check, and remembers what they are about, the first that failed and extreme values.
type tally struct {
	ctx                        context.Context
	domain                     string
	seen                       []string
	checked                    int
	witness, unsettled, reason string
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

// same expects two rationals to be equal.
func (t *tally) same(got, want *big.Rat, format string, args ...any) bool {
	return t.expect(got.Cmp(want) == 0, format+": %s, not %s", append(args, short(got), short(want))...)
}

// meets expects two enclosures of one number to overlap.
func (t *tally) meets(got, want number.Interval, format string, args ...any) {
	_, meet := got.Intersect(want)
	t.expect(meet, format+": %.8g, not %.8g", append(args, got.Near(), want.Near())...)
}

// within expects that x differs from y by less than a distance, and returns the difference.
func (t *tally) within(x, y number.Interval, distance *big.Rat, format string, args ...any) float64 {
	off := arith.Abs(x.Sub(y))
	t.expect(below(off, enclose(distance)), format+": off by %.2g", append(args, off.Near())...)
	return off.Near()
}

// see notes extreme values.
func (t *tally) see(format string, args ...any) {
	t.seen = append(t.seen, fmt.Sprintf(format, args...))
}

// finding is what the comparisons show: that the statement holds on the domain, with what was seen there, or the witness against it.
func (t *tally) finding() Finding {
	t.alive()
	domain := strings.ReplaceAll(t.domain, "%d", fmt.Sprint(t.checked))
	switch {
	case t.reason != "" && (t.witness != "" || t.checked == 0):
		return Finding{NotCheckable, domain, strings.TrimSuffix(t.reason+"; "+t.witness, "; ")}
	case t.witness != "":
		return Finding{Refuted, domain, t.witness}
	case t.unsettled != "":
		return Finding{Undecided, t.unsettled, ""}
	case t.checked == 0:
		return Finding{Undecided, "nothing was compared", ""}
	}
	return Finding{Holds, domain, strings.Join(t.seen, "; ")}
}

// over is a check on a domain; %d in its name stands for the number of comparisons.
func over(domain string, compare check) check {
	return func(t *tally) {
		t.domain = domain
		compare(t)
	}
}

// all makes several checks.
func all(of ...check) check {
	return func(t *tally) {
		var domains []string
		for _, c := range of {
			c(t)
			domains = append(domains, t.domain)
		}
		t.domain = strings.Join(domains, "; ")
	}
}

// forWeights is the check of a statement about every weight vector of at most so many candidates.
func forWeights(most int, how string, compare func(t *tally, p []*big.Rat)) check {
	return over(fmt.Sprintf("n <= %d, %s, %s: %%d comparisons", most, wideDomain, how), func(t *tally) {
		for p := range vectors(t.ctx, most) {
			compare(t, p)
		}
	})
}

// onLattices is the check of a statement about lattices Q(n,k), each at several e^ε = 1/z.
func onLattices(sizes [][2]int, exps, how string, compare func(t *tally, n, k int, z *big.Rat)) check {
	return over(names(sizes)+", e^ε = "+exps+", "+how+": %d comparisons", func(t *tally) {
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
	return func(t *tally) {
		t.reason = why
		of(t)
	}
}

// notCheckable is the check of a statement that no computation can settle, with the reason.
func notCheckable(why string) check { return func(t *tally) { t.reason = why } }
