package limit

import (
	"context"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/slowtest"
	"optratio/internal/stopping"
	"optratio/number"
)

func limitAt(t *testing.T, eps string) (e float64, lo, hi *big.Rat) {
	t.Helper()
	parsed := must(number.ParseEpsilon(eps))
	lo, hi = parsed.ExpBounds(boundBits)
	e, _ = hi.Float64()
	return e, lo, hi
}

// The table of limits in research/docs/stopping.md: all digits shown are certain. The limit is at most n/(n-1) times the best success among n candidates (Theorem 1).
func TestDocumentLimits(t *testing.T) {
	text := string(must(os.ReadFile("../../research/docs/stopping.md")))
	_, table, found := strings.Cut(text, "<!-- table: limits -->")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		eps := strings.TrimSpace(cells[0])
		if _, err := strconv.ParseFloat(eps, 64); err != nil {
			if rows > 0 {
				break
			}
			continue
		}
		rows++
		if eps < "0.6" && !slowtest.Enabled {
			continue
		}
		limit := Best(t.Context(), must(number.ParseEpsilon(eps)), 1e-9)
		lo, _ := limit.Success.Lower()
		hi, _ := limit.Success.Upper()
		assert.True(t, certain(lo, hi, strings.TrimSpace(cells[1])), "%s: %s", eps, limit.Success)
		assert.Equal(t, strings.TrimSpace(cells[2]), strconv.FormatFloat(limit.Starts[0], 'f', 6, 64), eps)
		assert.Equal(t, strings.TrimSpace(cells[3]), strconv.Itoa(limit.Tight+1), eps)
		assert.Equal(t, strings.TrimSpace(cells[4]), strconv.FormatFloat(limit.Rate.Float64(), 'f', 6, 64), eps)

		const n = 20
		p := &stopping.Problem{Payoff: must(stopping.TopK(n, 1)), L: 1, Eps: must(number.ParseEpsilon(eps)), Delta: new(big.Rat)}
		sol := must(stopping.Solve(t.Context(), p, stopping.Options{Solvers: []linear.Solver{linear.Embedded{}}, Gap: 1e-9}))
		assert.LessOrEqual(t, lo.Cmp(new(big.Rat).Mul(big.NewRat(n, n-1), sol.Upper)), 0, eps)
	}
	assert.Equal(t, 6, rows)
}

// The rate at which the success meets its limit (research/docs/stopping.md, Theorem 3): the recursion of n candidates for the multipliers of the limit model has it,
// and so have the certified optima that the document gives. The theorem's conditions hold.
func TestRateOfTheLimit(t *testing.T) {
	epsilons := []string{"1.5", "0.9", "0.7", "0.6"}
	if slowtest.Enabled {
		epsilons = append(epsilons, "0.8", "0.5")
	}
	for _, eps := range epsilons {
		e, _, _ := limitAt(t, eps)
		p := proposeLimit(t.Context(), e, 1e-11, maxMultipliers)
		c, m := p.rate(e), len(p.lambda)
		for _, n := range []int{1000, 10_000, 100_000} {
			assert.InDelta(t, c, float64(n)*(valueAmong(payoffs(e, p.lambda), n)-p.value), 0.5/float64(n)+1e-5, "%s: %d", eps, n)
		}
		settled, ok := rule(e, p.lambda, m+20)
		require.True(t, ok, eps)
		for k, q := range settled.law[:m+19] {
			if excess := q - e*settled.law[k+1]; k < m {
				assert.InDelta(t, 0, excess, 1e-10, "%s: row %d is tight", eps, k+1)
			} else {
				assert.Less(t, excess, -1e-12, "%s: row %d is not", eps, k+1)
			}
		}
		assert.Greater(t, p.left[0], 1/e, eps)
		meetsAtStarts(t, e, p)
		assert.IsDecreasing(t, append([]float64{1}, append(slices.Clone(p.left), 0)...), eps)
	}
	settled, ok := rule(math.E, nil, 2)
	require.True(t, ok)
	assert.InDelta(t, 0, settled.law[0]-math.E*settled.law[1], 1e-12, "ε = 1 is where the third condition ends")
	e, _, _ := limitAt(t, "1.5")
	assert.InDelta(t, (1-1/math.E)/2, proposeLimit(t.Context(), e, 1e-11, maxMultipliers).rate(e), 1e-12)

	text := string(must(os.ReadFile("../../research/docs/stopping.md")))
	require.Contains(t, text, "n(V_n - V) is 0.3573, 0.3564 and 0.3558 for ε = 0.5 and n = 100, 300 and 1000")
	for row, want := range map[string]string{"| 100 | 0.5 | 0 | 1 | 1 | ": "0.3573", "| 300 | 0.5 | 0 | 1 | 1 | ": "0.3564", "| 1000 | 0.5 | 0 | 1 | 1 | ": "0.3558"} {
		_, after, found := strings.Cut(text, row)
		require.True(t, found, row)
		n, v := must(strconv.ParseFloat(strings.Fields(row)[1], 64)), must(strconv.ParseFloat(strings.Fields(after)[0], 64))
		assert.Equal(t, want, strconv.FormatFloat(n*(v-0.3436768454), 'f', 4, 64))
	}
}

// meetsAtStarts asserts that what each relative rank is worth is less than going on before its start, and more after it.
func meetsAtStarts(t *testing.T, e float64, p *proposal) {
	t.Helper()
	w := payoffs(e, p.lambda)
	b := newBackwards(len(w))
	for taken := len(w); taken >= 0; taken-- {
		end := 1.0
		if taken > 0 {
			end = p.left[taken-1]
		}
		for i := 1; i < 100; i++ {
			y := b.left + float64((end-b.left)*float64(i)/100)
			for r := 1; r <= len(w); r++ {
				worth := 0.0
				b.binomials(y)
				for k := r - 1; k < len(w); k++ {
					worth += float64(w[k] * (1 - y) * b.rows[k][r-1])
				}
				for k, q := range b.from(y, taken) {
					worth -= float64(w[k] * q)
				}
				require.Equal(t, r <= taken, worth > 0, "relative rank %d, time left %g: %g", r, y, worth)
			}
		}
		b.law, b.left = b.from(end, taken), end
	}
}

// valueAmong is the value of optimal stopping among n candidates for payoffs of the first final ranks: v_{i-1} = v_i + (1/i) Σ_j max(0, G_ij - v_i), where taking
// relative rank j at time i is worth G_ij = (1 - j/(i+1)) G_{i+1,j} + j/(i+1) G_{i+1,j+1}.
func valueAmong(w []float64, n int) (v float64) {
	g := append(slices.Clone(w), 0)
	for i := n; i >= 1; i-- {
		sum := 0.0
		for j := range min(len(w), i) {
			sum += max(0, g[j]-v)
		}
		v += sum / float64(i)
		for j := range w {
			g[j] += float64(j+1) / float64(i) * (g[j+1] - g[j])
		}
	}
	return v
}

// The enclosed law is that of the proposal, which integrates it by Gauss and Legendre; both are that of the secretary rule where it has one start.
func TestLawsOfTheLimitModel(t *testing.T) {
	e, _, _ := limitAt(t, "0.7")
	p := proposeLimit(t.Context(), e, 1e-9, maxMultipliers)
	c := p.check(512)
	for k, q := range c.law(1, 30) {
		lo, hi := q.Float64()
		assert.InDelta(t, p.law[k], lo, 1e-13, "rank %d", k+1)
		assert.Less(t, hi-lo, 1e-15)
	}
	p = &proposal{left: []float64{1 - 1/math.E}}
	for k, q := range p.check(256).law(1, 5) { // Σ_{s>=k} (1-1/e)^s/s / e
		want := 0.0
		for s := k + 1; s < 200; s++ {
			want += math.Pow(1-1/math.E, float64(s)) / float64(s) / math.E
		}
		lo, _ := q.Float64()
		assert.InDelta(t, want, lo, 1e-14)
	}
}

// Doctored proposals: what is not private is refused, other starts only lower the success, and other multipliers only raise the bound.
func TestDoctoredLimits(t *testing.T) {
	e, lo, hi := limitAt(t, "0.7")
	const truth = 0.363572790691
	p := proposeLimit(t.Context(), e, 1e-9, maxMultipliers)
	success, ok := p.private(lo)
	require.True(t, ok)
	f, _ := success.Float64()
	assert.InDelta(t, truth, f, 1e-11)

	steeper := *p
	steeper.left = slices.Clone(p.left)
	steeper.left[2] *= 0.99
	_, ok = steeper.private(lo)
	assert.False(t, ok, "later starts for the third are not private")
	steeper.share = 0.1
	success, ok = steeper.private(lo)
	require.True(t, ok, "but are, mixed with enough of the rule with the constant rate")
	f, _ = success.Float64()
	assert.Less(t, f, truth)

	early := *p
	early.left = []float64{0.45}
	early.share = 0
	_, ok = early.private(lo)
	assert.False(t, ok, "the tail falls faster than privacy permits")

	for k := range p.lambda {
		for _, factor := range []float64{0.9, 1.1} {
			other := *p
			other.lambda = slices.Clone(p.lambda)
			other.lambda[k] *= factor
			if bound := other.bound(t.Context(), hi); bound != nil {
				f, _ := bound.Float64()
				assert.Greater(t, f, truth, "multiplier %d", k+1)
			}
		}
	}
	late := *p
	late.left = slices.Clone(p.left)
	late.left[0] *= 0.9
	f, _ = late.bound(t.Context(), hi).Float64()
	assert.Greater(t, f, truth)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wide := Best(ended, must(number.ParseEpsilon("0.7")), 1e-9)
	assert.Less(t, wide.Success.Float64(), truth)
	assert.Greater(t, wide.Gap(), 0.1)
	for _, eps := range []string{"0", "1e-18", "1e-9"} { // the limit is at most 1 - e^-ε
		lower, _ := Best(ended, must(number.ParseEpsilon(eps)), 1e-9).Success.Lower()
		most, _ := new(big.Rat).SetString(eps)
		assert.LessOrEqual(t, lower.Cmp(most), 0, eps)
	}
}

// certain says that every number of an enclosure begins with the digits shown.
func certain(lo, hi *big.Rat, shown string) bool {
	_, digits, _ := strings.Cut(shown, ".")
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits))), nil))
	from, ok := new(big.Rat).SetString(shown)
	return ok && lo.Cmp(from) >= 0 && hi.Cmp(new(big.Rat).Add(from, unit)) < 0
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
