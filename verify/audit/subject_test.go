//go:build unix

package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/verify"
)

const asSubject = "AUDIT_SUBJECT" // the test binary answers questions then, in the way that it names

func TestMain(m *testing.M) {
	Supervise()
	if kind := os.Getenv(asSubject); kind != "" {
		serve(kind)
		return
	}
	os.Exit(m.Run())
}

// pmfOf audits a program that states its probabilities, asked as the options say.
func pmfOf(ctx context.Context, command string, o Options) (*Report, error) {
	o.program.Command = command
	return o.program.PMF(ctx, o)
}

// samplesOf audits a program that draws samples.
func samplesOf(ctx context.Context, command string, o Options) (*Report, error) {
	o.program.Command = command
	return o.program.Samples(ctx, o)
}

// subjectCommand starts a subject.
func subjectCommand(kind string) string {
	return fmt.Sprintf("%s='%s' '%s'", asSubject, kind, os.Args[0])
}

type subjectQuestion struct {
	Scores  []float64
	Epsilon float64
	Samples int
}

// serve answers questions until there are no more.
func serve(kind string) {
	rng := rand.New(rand.NewPCG(1, 5))
	lines := bufio.NewScanner(os.Stdin)
	var held []string
	for asked := 1; lines.Scan(); asked++ {
		var q subjectQuestion
		if json.Unmarshal(lines.Bytes(), &q) != nil {
			os.Exit(9)
		}
		var answer any
		switch kind {
		case "code":
			answer = map[string]any{"values": slices.Repeat([]float64{code(q.Scores)}, q.Samples)}
		case "value":
			values := make([]float64, q.Samples)
			for i := range values {
				values[i] = math.Inf(-1)
				for _, s := range q.Scores {
					noise := rng.ExpFloat64() * 2 / q.Epsilon
					values[i] = max(values[i], s+noise*float64(1-2*rng.IntN(2)))
				}
			}
			answer = map[string]any{"values": values}
		case "flip", "softmax":
			law := softmaxLaw(q.Epsilon, 1)
			if kind == "flip" {
				law = flipLaw(q.Epsilon)
			}
			counts := map[string]int64{}
			for r, c := range multinomial(rng, int64(q.Samples), law(q.Scores)) {
				counts[fmt.Sprint("option ", r)] = c
			}
			answer = map[string]any{"counts": counts}
		case "wide":
			values := make([]string, q.Samples)
			for i := range values {
				values[i] = strings.Repeat([]string{"v", "w"}[rng.IntN(2)], 30_000)
			}
			answer = map[string]any{"values": values}
		case "stated":
			answer = map[string]any{"pmf": statedLaw(q.Scores)}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			os.Exit(9)
		}
		// Of values that are codes, four answers come at a time, after the first eight.
		if held = append(held, string(text)); kind != "code" || asked <= servedAlone || len(held) == 4 {
			fmt.Println(strings.Join(held, "\n"))
			held = nil
		}
	}
}

// code tells score vectors apart.
func code(scores []float64) float64 {
	x := float64(len(scores))
	for _, s := range scores {
		x = 16*x + s + 8
	}
	return x
}

// statedLaw is the exponential mechanism without its factor 2, at ε = 1; its labels name how many candidates there were.
func statedLaw(scores []float64) map[string]float64 {
	out := map[string]float64{}
	for r, p := range softmaxLaw(1, 2)(scores) {
		out[fmt.Sprintf("%d of %d", r, len(scores))] = p
	}
	return out
}

// A program that answers only when it has four questions is answered in time only where these are sent ahead; every answer goes to its own
// question, whatever the number of samples.
func TestValuesOfQuestionsWrittenAhead(t *testing.T) {
	o := samplerOptions(t, "1", 1000)
	o.Outcomes, o.program.Timeout = Real, time.Minute
	require.NoError(t, o.complete())
	o.program.Command = subjectCommand("code")
	a := newAsker(context.Background(), &verify.Space{Unit: big.NewRat(1, 1)}, &o)
	t.Cleanup(a.child.stop)
	s := newSampler([]*asker{a}).(*binned)
	want := func(q verify.Vector, samples int64) {
		t.Helper()
		values, event, err := s.Values(q, samples)
		require.NoError(t, err)
		require.Empty(t, event)
		scores := make([]float64, len(q))
		for r, x := range q {
			scores[r] = float64(x)
		}
		require.Equal(t, slices.Repeat([]float64{code(scores)}, int(samples)), values)
	}
	for i := range int64(servedAlone) {
		want(verify.Vector{0, -i}, i+1)
	}
	for round := range int64(3) {
		vectors := []verify.Vector{{0, -round}, {-1, round}, {-2, 0, 1}, {0, -round}}
		s.expect(func(yield func(verify.Vector, int64) bool) {
			for i, q := range vectors {
				if !yield(q, round+int64(i)+1) {
					return
				}
			}
		})
		require.Len(t, a.child.p.ahead, 4)
		for i, q := range vectors {
			want(q, round+int64(i)+1)
		}
		require.Empty(t, a.child.p.ahead)
	}
	require.NoError(t, a.child.finish())
	require.Empty(t, a.findings)
	require.Equal(t, 1, a.child.starts)
}

// Bounded range of programs whose outcomes are labels or numbers. Permute-and-flip of two has at (0,0) and (1,-1) the range
// 1 + ln(2-1/e) = 1.49, the exponential mechanism ε. The value of noisy max with Laplace noise of scale 2/ε among two has, where both scores
// rise, the ratio e below and e^{-1/2} above, which is the range 3/2; as it is ε-DP for two candidates, none is above 2.
func TestBoundedRangeOfPrograms(t *testing.T) {
	for _, c := range []struct {
		kind, outcomes, most string
		verdict              verify.Verdict
	}{
		{"flip", Labels, "", verify.Violated},
		{"flip", Labels, "1.5", verify.Undecided},
		{"softmax", Labels, "", verify.Undecided},
		{"softmax", Labels, "0.7", verify.Violated},
		{"value", Real, "", verify.Violated},
		{"value", Real, "2", verify.Undecided},
	} {
		o := samplerOptions(t, "1", 200_000)
		o.N, o.Outcomes, o.program.Timeout, o.Confidence = 2, c.outcomes, time.Minute, big.NewRat(9999, 10_000)
		o.Properties = []verify.Property{verify.DP, verify.BoundedRange}
		if c.most != "" {
			o.Range, _ = new(big.Rat).SetString(c.most)
		}
		r, err := samplesOf(context.Background(), subjectCommand(c.kind), o)
		require.NoError(t, err)
		res := r.Find(verify.BoundedRange)
		t.Log(c, res.Reason, res.Attained)
		require.Equal(t, c.verdict, res.Verdict, "%v: %v", c, res)
		require.Equal(t, verify.Undecided, r.Find(verify.DP).Verdict, "%v: %v", c, r)
		require.Empty(t, r.Findings)
		require.Regexp(t, map[string]string{Labels: "option [01]", Real: "a value in "}[c.outcomes], res.Attained.Event)
		if c.verdict == verify.Violated {
			require.NotNil(t, res.Witness.Neighbor)
			require.Contains(t, res.Reason, "range is at least ")
		}
	}
}

// Witnesses of stated labels are those of two candidates, and the law itself says that they are violations.
func TestWitnessesOfLabelsAreSmall(t *testing.T) {
	o := samplerOptions(t, "1", 0)
	o.N, o.Outcomes, o.program.Timeout = 4, Labels, time.Minute
	r, err := pmfOf(context.Background(), subjectCommand("stated"), o)
	require.NoError(t, err)
	label := regexp.MustCompile(`^(\d of 2)(?:, and (\d of 2) the other way)?$`)
	float := func(q []*big.Rat) []float64 {
		out := make([]float64, len(q))
		for i, x := range q {
			out[i], _ = x.Float64()
		}
		return out
	}
	for _, p := range []verify.Property{verify.DP, verify.BoundedRange} {
		res := r.Find(p)
		require.Equal(t, verify.Violated, res.Verdict)
		w := res.Witness
		require.Len(t, w.Scores, 2, "%v", w)
		q, near := float(w.Scores), float(w.Neighbor)
		for i := range q {
			require.LessOrEqual(t, math.Abs(q[i]-near[i]), 1.0)
		}
		in := label.FindStringSubmatch(w.Event)
		require.NotNil(t, in, "%q", w.Event)
		law, there := statedLaw(q), statedLaw(near)
		require.InEpsilon(t, law[in[1]], w.P.Float64(), 1e-8)
		require.InEpsilon(t, there[in[1]], w.PNeighbor.Float64(), 1e-8)
		ratio := law[in[1]] / there[in[1]]
		require.Equal(t, p == verify.BoundedRange, in[2] != "")
		if in[2] != "" {
			ratio *= there[in[2]] / law[in[2]]
		}
		require.Greater(t, math.Abs(math.Log(ratio)), 1.0, "%v", w)
	}
}
