package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/lattice"
	"optratio/mechanisms"
)

// normal is q shifted to best score 0.
func normal(q inquiry.Vector) inquiry.Vector { return q.Plus(-q.Best()) }

func listPairs(pairs iter.Seq2[inquiry.Vector, inquiry.Vector], unordered bool) map[string]int {
	out := map[string]int{}
	for q, other := range pairs {
		a, b := q, normal(other)
		if unordered && slices.Compare(a, b) > 0 {
			a, b = b, a
		}
		out[fmt.Sprint(a, b)]++
	}
	return out
}

func keys[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestLatticeDomain compares the pairs of the lattice with their definitions, tried on all pairs of vectors.
func TestLatticeDomain(t *testing.T) {
	for _, size := range [][3]int{{1, 2, 1}, {2, 1, 1}, {2, 3, 1}, {3, 1, 1}, {3, 2, 1}, {4, 2, 1}, {3, 3, 1}, {1, 2, 2}, {2, 4, 2}, {3, 2, 2}, {4, 2, 2}, {2, 6, 3}, {3, 3, 3}} {
		n, k, parts := size[0], size[1], size[2] // k depths below the best, in steps of 2Δ/parts
		l, err := lattice.New(n, k)
		require.NoError(t, err)
		d := inquiry.LatticeDomain(l, &inquiry.Space{Unit: big.NewRat(1, 1), Gap: 2}, parts)
		var vectors []inquiry.Vector
		for q := range d.Vectors {
			require.Zero(t, q.Best())
			require.GreaterOrEqual(t, slices.Min(q), -2*int64(k))
			vectors = append(vectors, slices.Clone(q))
		}
		require.Equal(t, lattice.Vectors(n, k, false).Int64(), int64(len(vectors)))
		in := func(q inquiry.Vector) bool {
			return slices.ContainsFunc(vectors, func(v inquiry.Vector) bool { return slices.Equal(v, q) })
		}
		neighbors, lowered, worst := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, q := range vectors {
			for _, other := range vectors {
				var steps []int64
				for i := range q {
					steps = append(steps, other[i]-q[i])
				}
				if slices.Compare(q, other) < 0 && slices.Max(steps)-slices.Min(steps) <= 2*int64(parts) {
					neighbors[fmt.Sprint(q, other)] = true
				}
			}
			for r := range q {
				low := slices.Clone(q)
				low[r] -= 2
				if low = normal(low); in(low) && !slices.Equal(low, q) {
					lowered[fmt.Sprint(q, low)] = true
				}
				high := slices.Clone(q)
				high[r] += 2
				if !in(normal(high)) { // those at depth k have to rise too
					for i := range high {
						if i != r && q[i] == -2*int64(k) {
							high[i] += 2
						}
					}
				}
				if high = normal(high); !slices.Equal(high, q) {
					require.True(t, in(high))
					worst[fmt.Sprint(q, high)] = true
				}
			}
		}
		assert.Equal(t, keys(neighbors), keys(listPairs(d.Neighbors, true)), "neighbors %v", size)
		assert.Equal(t, keys(lowered), keys(listPairs(d.Lowered, false)), "lowered %v", size)
		if parts == 1 {
			assert.Equal(t, keys(worst), keys(listPairs(d.Worst, false)), "worst %v", size)
		} else {
			require.Nil(t, d.Worst)
		}

		// The representatives are one vector an orbit, and their pairs one each of those of the whole.
		count := 0
		for q := range d.Representatives.Vectors {
			count++
			require.True(t, slices.IsSortedFunc(q, func(a, b int64) int { return int(b - a) }))
		}
		require.Equal(t, l.Len(), count)
		sorted := func(pairs iter.Seq2[inquiry.Vector, inquiry.Vector], unordered bool) map[string]int {
			return listPairs(func(yield func(inquiry.Vector, inquiry.Vector) bool) {
				for q, other := range pairs {
					a, _ := inquiry.SortVector(q)
					b, _ := inquiry.SortVector(normal(other))
					if !yield(a, b) {
						return
					}
				}
			}, unordered)
		}
		assert.Equal(t, keys(sorted(d.Neighbors, true)), keys(sorted(d.Representatives.Neighbors, true)), "%v", size)
		assert.Equal(t, keys(sorted(d.Lowered, false)), keys(sorted(d.Representatives.Lowered, false)), "%v", size)
		if parts == 1 {
			assert.Equal(t, keys(sorted(d.Worst, false)), keys(sorted(d.Representatives.Worst, false)), "%v", size)
		}

		shifts := map[string]int{}
		for q, other := range d.Shifted {
			for i := range q {
				require.Equal(t, other[0]-q[0], other[i]-q[i])
			}
			shifts[fmt.Sprint(other[0]-q[0])]++
		}
		for _, c := range []int{1, 2, 2 * k, -1, -2, -2 * k} {
			assert.GreaterOrEqual(t, shifts[fmt.Sprint(c)], len(vectors), "shift by %d of %v", c, size)
		}
		if parts == 1 {
			assert.Contains(t, d.Name, fmt.Sprintf("Q(%d,%d), %d score vectors", n, k, len(vectors)))
		} else {
			assert.Contains(t, d.Name, fmt.Sprintf("%d candidates with depths 0 to %s in steps of 2Δ/%d, %d score vectors", n, big.NewRat(int64(k), int64(parts)).RatString(), parts, len(vectors)))
		}
	}
}

// asked is a domain with all that the properties need, and a subject given by a table.
func asked(pairs [][2]inquiry.Vector, answers map[string]*inquiry.Answer) (*inquiry.Domain, inquiry.Subject) {
	d := &inquiry.Domain{Name: "table", Space: &inquiry.Space{Unit: big.NewRat(1, 1), Sensitivities: []*big.Rat{big.NewRat(1, 1)}}}
	d.Vectors = func(yield func(inquiry.Vector) bool) {
		for _, p := range pairs {
			if !yield(p[0]) || !yield(p[1]) {
				return
			}
		}
	}
	both := func(yield func(inquiry.Vector, inquiry.Vector) bool) {
		for _, p := range pairs {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
	d.Neighbors, d.Shifted, d.Lowered, d.Permuted = both, both, both, both
	return d, inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) {
		a, ok := answers[fmt.Sprint(q)]
		if !ok {
			return nil, errors.New("not in the table")
		}
		return a, nil
	})
}

func pmf(ps ...string) *inquiry.Answer {
	a := &inquiry.Answer{}
	for _, p := range ps {
		a.P = append(a.P, inquiry.Rational(rational(p)))
	}
	return a
}

// TestEventsTellVectorsApart: an answer against none violates what compares the two; none on both sides proves nothing, nor does
// one beside a row that is not a distribution.
func TestEventsTellVectorsApart(t *testing.T) {
	even, none, short := pmf("1/2", "1/2"), &inquiry.Answer{Event: "error: x"}, pmf("1/2", "1/4")
	silence := map[Property]Verdict{
		DP: Undecided, BoundedRange: Undecided, ApproximateDP: Undecided, RDP: Undecided, ZCDP: Undecided,
		Shift: Undecided, Symmetry: Undecided, Sum: Undecided, Monotone: Undecided,
	}
	beside := maps.Clone(silence)
	beside[Sum] = Violated
	q, o := inquiry.Vector{0, 0}, inquiry.Vector{1, 1}
	em := inquiry.SubjectFunc(func(inquiry.Vector) (*inquiry.Answer, error) { return even, nil })
	for _, c := range []struct {
		a, b *inquiry.Answer
		want map[Property]Verdict
	}{
		{even, even, map[Property]Verdict{DP: Proved, BoundedRange: Proved, Shift: Proved, Symmetry: Proved, Sum: Proved, Monotone: Proved, RDP: Proved, ZCDP: Proved, DominatesEM: Proved, DominatesEMMean: Proved}},
		{even, none, map[Property]Verdict{DP: Violated, BoundedRange: Violated, Shift: Violated, Symmetry: Violated, Sum: Undecided, Monotone: Undecided, RDP: Violated, ZCDP: Violated}},
		{none, even, map[Property]Verdict{DP: Violated, BoundedRange: Violated, Shift: Violated, Symmetry: Violated, Sum: Undecided, Monotone: Undecided, RDP: Violated, ZCDP: Violated}},
		{none, none, silence},
		{short, none, beside}, // to which what is missing may belong
		{none, short, beside},
	} {
		d, subject := asked([][2]inquiry.Vector{{q, o}}, map[string]*inquiry.Answer{fmt.Sprint(q): c.a, fmt.Sprint(o): c.b})
		for p, want := range c.want {
			report, err := ask(context.Background(), subject, em, inquiry.Rational(big.NewRat(3, 2)), d, Options{Properties: []Property{p}})
			require.NoError(t, err)
			r := report.Find(p)
			assert.Equal(t, want, r.Verdict, "%s of %v and %v: %s", p, c.a, c.b, r)
			if want == Violated && p != Sum {
				require.NotNil(t, r.Witness, p)
				assert.Equal(t, "error", r.Witness.Event, p)
				first := q
				if c.a.Event == "" {
					first = o
				}
				assert.Equal(t, inquiry.ScoresText(d.Space.Scores(first)), inquiry.ScoresText(r.Witness.Scores), "%s: the vector without an answer", p)
			}
			if want == Undecided {
				assert.Contains(t, []string{unanswered, inquiry.NoDistribution}, r.Reason, p)
				assert.False(t, r.TightEps.IsValid(), "%s of %v and %v: %s", p, c.a, c.b, r)
				for _, order := range r.Orders {
					_, bounded := order[1].Upper()
					assert.False(t, bounded, "%s of %v and %v: %s", p, c.a, c.b, r)
				}
			}
			if p == DP && want == Violated {
				assert.True(t, r.TightEps.IsInf())
			}
			if p == ZCDP {
				assert.Equal(t, want == Violated, r.Rho.IsInf())
			}
		}
	}
	// A subject that fails ends the check, unless it says that it has no more answers.
	d, subject := asked([][2]inquiry.Vector{{q, o}}, map[string]*inquiry.Answer{fmt.Sprint(q): even})
	for _, p := range All() {
		_, err := ask(context.Background(), subject, em, inquiry.Rational(big.NewRat(3, 2)), d, Options{Properties: []Property{p}})
		assert.ErrorContains(t, err, "not in the table", p)
	}
	_, err := ask(context.Background(), em, em, inquiry.Rational(big.NewRat(3, 2)), d, Options{Properties: []Property{Sum, "privacy"}})
	assert.ErrorContains(t, err, "unknown property")
}

// TestOneVectorIsComparedWithItsReverse: that the first of two candidates is favoured shows on the one vector of the domain.
func TestOneVectorIsComparedWithItsReverse(t *testing.T) {
	m := mechanisms.FromRational(mechanisms.Info{Name: "first", Uniform: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		return []*big.Rat{big.NewRat(3, 4), big.NewRat(1, 4)}, nil
	})
	p := Claim{Mechanism: m, Epsilon: parse(t, "3")}
	report, err := Scores(context.Background(), p, [][]*big.Rat{ratList("0", "-2")}, false, Options{Properties: []Property{Symmetry, DP}})
	require.NoError(t, err)
	assert.Equal(t, Violated, report.Find(Symmetry).Verdict)
	assert.Equal(t, Proved, report.Find(DP).Verdict)
}

// TestWithoutRange: what has only estimates has no range.
func TestWithoutRange(t *testing.T) {
	p := problem(t, "pf", "3/2")
	p.Mechanism = vague{doctored{name: "vague"}}
	report := check(t, p, 2, 1, DP, BoundedRange)
	for _, r := range report.Properties {
		assert.Equal(t, Undecided, r.Verdict)
		assert.False(t, r.Range.IsValid(), "%s", r.Range)
		assert.Contains(t, r.Reason, "estimates")
	}
}

// TestEnclosuresThatEnd: where a mechanism has no narrower enclosures, the first ones stay.
func TestEnclosuresThatEnd(t *testing.T) {
	for _, width := range []float64{1.0 / 64, 0} {
		m := mechanisms.FromEnclosure(mechanisms.Info{Name: "ends", Uniform: true}, func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
			if prec > 64 {
				return nil, nil, errors.New("no more")
			}
			for range in.Scores {
				lower, upper = append(lower, big.NewFloat(0.5-width)), append(upper, big.NewFloat(0.5+width))
			}
			return lower, upper, nil
		})
		report, err := Lattice(context.Background(), Claim{Mechanism: m, Epsilon: parse(t, "3/2")}, 2, 1, Options{Properties: []Property{DP, Symmetry}})
		require.NoError(t, err)
		assert.Equal(t, Proved, report.Find(DP).Verdict, "1.1 is less than 3/2: %s", report)
		want := Undecided
		if width == 0 {
			want = Proved
		}
		assert.Equal(t, want, report.Find(Symmetry).Verdict, "%v: %s", width, report)
	}
}

// TestManyVectorsAreNotAskedOneByOne where the mechanism is symmetric by its type.
func TestManyVectorsAreNotAskedOneByOne(t *testing.T) {
	report := check(t, problem(t, "em", "3/2"), 5, 7, Symmetry, Shift)
	for _, r := range report.Properties {
		assert.Equal(t, Proved, r.Verdict)
		assert.Contains(t, r.Reason, "by construction")
		assert.Zero(t, r.Checked)
	}
	report = check(t, problem(t, "em", "3/2"), 3, 2, Symmetry, Shift)
	for _, r := range report.Properties {
		assert.Equal(t, Proved, r.Verdict)
		assert.Empty(t, r.Reason)
		assert.Positive(t, r.Checked)
	}
}
