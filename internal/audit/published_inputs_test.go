package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// variant is a sparse vector technique without numeric answers, at ε = 1: the scales of its noise, after how many answers above it ends, and whether each one is followed
// by new noise for the threshold.
type variant struct {
	threshold, noise float64
	most             int
	again            bool
}

// laws returns the probabilities of all sequences of answers, a for above and b for below, by the midpoint rule: the noise of the threshold is integrated out for every
// stretch of answers that share it.
func (v variant) laws(queries []float64) map[string]float64 {
	const step, end = 1. / 32, 100
	var nodes, weights []float64
	for z := -end + step/2; z < end; z += step {
		nodes, weights = append(nodes, z), append(weights, step/(2*v.threshold)*math.Exp(-math.Abs(z)/v.threshold))
	}
	below := make([][]float64, len(queries))
	for i, x := range queries {
		for _, z := range nodes {
			p := 0.0
			switch d := z - x; {
			case v.noise == 0 && d > 0:
				p = 1
			case v.noise == 0:
			case d < 0:
				p = math.Exp(d/v.noise) / 2
			default:
				p = 1 - math.Exp(-d/v.noise)/2
			}
			below[i] = append(below[i], p)
		}
	}
	out := map[string]float64{}
	var extend func(text string, above int, done float64, open []float64)
	extend = func(text string, above int, done float64, open []float64) {
		sum := 0.0
		for _, w := range open {
			sum += w
		}
		if done*sum == 0 {
			return
		}
		if len(text) == len(queries) || v.most > 0 && above == v.most {
			out[text] = done * sum
			return
		}
		no, yes, total := make([]float64, len(nodes)), make([]float64, len(nodes)), 0.0
		for i, w := range open {
			no[i], yes[i] = w*below[len(text)][i], w*(1-below[len(text)][i])
			total += yes[i]
		}
		extend(text+"b", above, done, no)
		if v.again {
			extend(text+"a", above+1, done*total, weights)
		} else {
			extend(text+"a", above+1, done, yes)
		}
	}
	extend("", 0, 1, weights)
	return out
}

// fromPattern is the number of places where the answers differ from above for the first half of the queries and below for the others.
func fromPattern(text string, queries int) string {
	n := queries - len(text)
	for i, c := range text {
		if (c == 'a') != (i < queries/2) {
			n++
		}
	}
	return fmt.Sprint(n)
}

// tight is the greatest logarithm of a ratio at pairs of queries, which are looked at both ways.
func (v variant) tight(inputs []json.RawMessage, pairs []InputPair, coarse bool) (eps float64) {
	var laws []map[string]float64
	for _, text := range inputs {
		var queries []float64
		if json.Unmarshal(text, &queries) != nil {
			panic("no list of numbers")
		}
		law := map[string]float64{}
		for out, p := range v.laws(queries) {
			if coarse {
				out = fromPattern(out, len(queries))
			}
			law[out] += p
		}
		laws = append(laws, law)
	}
	for _, pair := range pairs {
		for _, at := range [][2]int{{pair.From, pair.To}, {pair.To, pair.From}} {
			for out, p := range laws[at[0]] {
				eps = max(eps, math.Log(p/laws[at[1]][out]))
			}
		}
	}
	return eps
}

// galleryInputs reads inputs and pairs beside the gallery, or of a few lines.
func galleryInputs(t *testing.T, inputs, pairs string) *Inputs {
	t.Helper()
	in := &Inputs{}
	for line := range strings.Lines(inputs) {
		require.NoError(t, in.Add(json.RawMessage(strings.TrimSpace(line))))
	}
	for line := range strings.Lines(pairs) {
		require.NoError(t, in.AddPair(strings.TrimSpace(line)))
	}
	return in
}

// The gallery's subjects that are asked about inputs: the verdict, the truth on the pairs by another computation, and the row of the page that states both.
func TestPublishedInputs(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	gallery := buildGallery(t)
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	page := read("../../docs/explanation/gallery.md")
	inf := math.Inf(1)
	for _, c := range []struct {
		name, files, outcomes string
		variant               *variant // whose truth is computed
		truth                 float64  // on the pairs
		verdict               verify.Verdict
	}{
		{"svt1", "queries", Labels, &variant{2, 4, 1, false}, 0, verify.Undecided},
		{"svt2", "queries", Labels, &variant{4, 8, 2, true}, 0, verify.Undecided},
		{"svt3", "queries", Mixed, nil, 5, verify.Violated},
		{"svt4", "queries", Labels, &variant{4, 4. / 3, 1, false}, 0, verify.Violated},
		{"svt5", "queries", Labels, &variant{2, 0, 0, false}, 0, verify.Violated},
		{"svt6", "queries", Labels, &variant{2, 2, 0, false}, 0, verify.Violated},
		{"isvt1", "queries", Labels, &variant{2, 0, 0, false}, 0, verify.Violated},
		{"isvt2", "queries", Labels, &variant{2, 2, 0, false}, 0, verify.Violated},
		{"isvt3", "queries", Labels, &variant{4, 4. / 3, 1, false}, 0, verify.Violated},
		{"isvt4", "queries", Mixed, nil, 5, verify.Violated},
		{"quantile", "no-bounds", Real, nil, inf, verify.Violated},
		{"quantile", "bounds", Real, nil, 1, verify.Undecided},
	} {
		t.Run(c.name+"/"+c.files, func(t *testing.T) {
			in := galleryInputs(t, read("testdata/gallery/"+c.files+".jsonl"), read("testdata/gallery/"+c.files+".txt"))
			truth := c.truth
			if c.variant != nil {
				truth = c.variant.tight(in.Values, in.Pairs, strings.HasPrefix(c.name, "i"))
			}
			r, err := samplesOf(context.Background(), gallery+" "+c.name, Options{
				Inputs: in, Epsilon: epsilon(t, "1"), Outcomes: c.outcomes, Seed: 1, Budget: 2_000_000, Confidence: big.NewRat(95, 100),
				UntilRefuted: c.verdict == verify.Violated, program: Program{Timeout: 5 * time.Minute},
			})
			require.NoError(t, err)
			t.Logf("truth %.4f, bound %v from %d samples, %v", truth, r.LowerBound, r.Samples, r.Find(verify.DP).Attained)
			assert.Equal(t, c.verdict, r.Find(verify.DP).Verdict)
			assert.LessOrEqual(t, r.LowerBound.Float64(), truth+1e-4)
			shown := "∞"
			if !math.IsInf(truth, 1) {
				shown = fmt.Sprintf("%.2f", truth)
			}
			row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| `+"`%s`"+`[^|]*\|[^|]*\| (at most )?%s \| %s`, c.name, shown, c.verdict))
			assert.True(t, row.MatchString(page), "no row %v", row)
		})
	}
}

// Stated probabilities of inputs, decided.
func TestPublishedTables(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	gallery := buildGallery(t)
	text, err := os.ReadFile("../../docs/explanation/gallery.md")
	require.NoError(t, err)
	for _, c := range []struct {
		name, inputs, pairs, outcomes string
		delta                         *big.Rat
		property                      verify.Property
		verdict                       verify.Verdict
		least, most                   float64 // of the tight ε or δ
	}{
		{"categorical-close", "\"a\"\n\"b\"\n\"c\"", "0,1\n0,2\n1,2", Labels, nil, verify.DP, verify.Violated, 1.0000148, 1.0000149},
		{"categorical-half", "\"a\"\n\"e\"\n\"f\"", "0,1\n0,2\n1,2", Labels, nil, verify.DP, verify.Violated, 1.0248, 1.0249},
		{"worst-exponential", "[8,14]\n[9,14]\n[8,15]\n[7,14]\n[8,13]", "0,1\n0,2\n0,3\n0,4", Index, nil, verify.DP, verify.Proved, 0.6, 1},
		{"worst-noisy", "[8,14]\n[9,14]\n[8,15]\n[7,14]\n[8,13]", "0,1\n0,2\n0,3\n0,4", Index, nil, verify.DP, verify.Violated, 1.3068, 1.3069},
		{"partition", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11", "0,1\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n7,8\n8,9\n9,10\n10,11", Labels, big.NewRat(1, 100), verify.ApproximateDP, verify.Proved, 0.00999, 0.01001},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := pmfOf(context.Background(), gallery+" "+c.name, Options{
				Inputs: galleryInputs(t, c.inputs, c.pairs), Epsilon: epsilon(t, "1"), Targets: atDelta(c.delta), Outcomes: c.outcomes, Precision: big.NewRat(1, 1e12), program: Program{Timeout: time.Minute},
				Properties: []verify.Property{c.property},
			})
			require.NoError(t, err)
			p := r.Find(c.property)
			tight := r.TightEps
			if c.delta != nil {
				tight = p.TightDelta
			}
			t.Logf("%v %v %v %v", p.Verdict, p.Reason, tight, p.Attained)
			assert.Equal(t, c.verdict, p.Verdict)
			assert.GreaterOrEqual(t, tight.Float64(), c.least)
			assert.LessOrEqual(t, tight.Float64(), c.most)
			row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| `+"`%s`"+`.*\| %s`, c.name, c.verdict))
			assert.True(t, row.Match(text), "no row %v", row)
		})
	}
}
