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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/internal/supervise"
	"optratio/verify"
)

const asSubject = "AUDIT_SUBJECT" // the test binary answers questions then, in the way that it names

func TestMain(m *testing.M) {
	supervise.Enable()
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
	for lines.Scan() {
		var q subjectQuestion
		if json.Unmarshal(lines.Bytes(), &q) != nil {
			os.Exit(9)
		}
		var answer any
		switch kind {
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
		fmt.Println(string(text))
	}
}

// statedLaw is the exponential mechanism without its factor 2, at ε = 1; its labels name how many candidates there were.
func statedLaw(scores []float64) map[string]float64 {
	out := map[string]float64{}
	for r, p := range softmaxLaw(1, 2)(scores) {
		out[fmt.Sprintf("%d of %d", r, len(scores))] = p
	}
	return out
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
			most, _ := new(big.Rat).SetString(c.most)
			o.Targets = map[verify.Property]*big.Rat{verify.BoundedRange: most}
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
