package proptest

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
)

func softmax(c Case, factor float64) []float64 {
	best := slices.Max(c.Scores)
	p, total := make([]float64, len(c.Scores)), 0.0
	for r, q := range c.Scores {
		p[r] = math.Exp(factor * c.Epsilon * (q - best) / (2 * c.Sensitivity))
		total += p[r]
	}
	for r := range p {
		p[r] /= total
	}
	return p
}

func numbersOf(m mechanisms.Mechanism, c Case) ([]float64, error) {
	in, err := c.instance(decimal)
	if err != nil {
		return nil, err
	}
	return numbers(m, in)
}

func flip(c Case) []float64 {
	m, err := mechanisms.Lookup("pf")
	if err != nil {
		panic(err)
	}
	p, err := numbersOf(m, c)
	if err != nil {
		panic(err)
	}
	return p
}

func mix(w float64, p, q []float64) []float64 {
	out := slices.Clone(p)
	for r := range out {
		out[r] = w*p[r] + (1-w)*q[r]
	}
	return out
}

func uniform(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

const (
	dp, symmetry, shift            = verify.DP, verify.Symmetry, verify.Shift
	monotone, sum, dominates       = verify.Monotone, verify.Sum, verify.DominatesEM
	doctoredSeed             int64 = 3
)

// doctored mechanisms break the properties named, and no other.
var doctored = []struct {
	name   string
	pmf    PMF
	broken []verify.Property
}{
	{"right", func(c Case) ([]float64, error) { return softmax(c, 1), nil }, nil},
	{"monotonic calibration", func(c Case) ([]float64, error) { return softmax(c, 2), nil }, []verify.Property{dp}},
	{"sensitivity declared half", func(c Case) ([]float64, error) {
		c.Sensitivity /= 2
		return flip(c), nil
	}, []verify.Property{dp}},
	{"half of ε wasted", func(c Case) ([]float64, error) { return softmax(c, 0.5), nil }, []verify.Property{dominates}},
	{"uniform", func(c Case) ([]float64, error) { return uniform(len(c.Scores)), nil }, []verify.Property{dominates}},
	{"argmax, ties shared", func(c Case) ([]float64, error) {
		best, ties := slices.Max(c.Scores), 0.0
		for _, q := range c.Scores {
			if q == best {
				ties++
			}
		}
		p := make([]float64, len(c.Scores))
		for r, q := range c.Scores {
			if q == best {
				p[r] = 1 / ties
			}
		}
		return p, nil
	}, []verify.Property{dp}},
	{"argmax, first wins", func(c Case) ([]float64, error) {
		p := make([]float64, len(c.Scores))
		p[slices.Index(c.Scores, slices.Max(c.Scores))] = 1
		return p, nil
	}, []verify.Property{dp, symmetry}},
	{"minimum", func(c Case) ([]float64, error) {
		c.Scores = slices.Clone(c.Scores)
		for r := range c.Scores {
			c.Scores[r] = -c.Scores[r]
		}
		return softmax(c, 1), nil
	}, []verify.Property{monotone, dominates}},
	{"loses mass", func(c Case) ([]float64, error) {
		return mix(0.999, softmax(c, 1), make([]float64, len(c.Scores))), nil
	}, []verify.Property{sum}},
	{"favours the first", func(c Case) ([]float64, error) {
		first := make([]float64, len(c.Scores))
		first[0] = 1
		return mix(0.5, softmax(c, 1), first), nil
	}, []verify.Property{symmetry, dominates}},
	{"knows the scale", func(c Case) ([]float64, error) {
		if slices.Max(c.Scores) > 500*c.Sensitivity {
			return flip(c), nil
		}
		return softmax(c, 1), nil
	}, []verify.Property{shift}},
	{"no maximum subtracted", func(c Case) ([]float64, error) {
		p, total := make([]float64, len(c.Scores)), 0.0
		for r, q := range c.Scores {
			p[r] = math.Exp(c.Epsilon * q / (2 * c.Sensitivity))
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p, nil
	}, []verify.Property{Answers, shift}},
	{"refuses one candidate", func(c Case) ([]float64, error) {
		if len(c.Scores) == 1 {
			return nil, errors.New("no choice")
		}
		return softmax(c, 1), nil
	}, []verify.Property{Answers}},
	{"panics on ties", func(c Case) ([]float64, error) {
		if len(c.Scores) == 3 && c.Scores[0] == c.Scores[1] && c.Scores[1] == c.Scores[2] {
			panic("three of a kind")
		}
		return softmax(c, 1), nil
	}, []verify.Property{Answers, dp}},
	{"one probability too many", func(c Case) ([]float64, error) { return append(softmax(c, 1), 0), nil }, []verify.Property{Answers}},
	{"second best by accident", func(c Case) ([]float64, error) {
		p := softmax(c, 1)
		if len(p) == 2 {
			p[0], p[1] = p[1], p[0]
		}
		return p, nil
	}, []verify.Property{monotone, dominates}},
	{"drifts", func() PMF {
		calls := 0.0
		return func(c Case) ([]float64, error) {
			calls++
			p := softmax(c, 1)
			if len(p) > 1 { // too little for other properties' precision
				p[0] *= 1 + 1e-13*math.Mod(calls, 7)
			}
			return p, nil
		}
	}(), []verify.Property{Repeatable}},
	{"takes scores for its own", func(c Case) ([]float64, error) {
		p := softmax(c, 1)
		clear(c.Scores)
		return p, nil
	}, []verify.Property{Answers}},
}

func TestDoctoredMechanismsFailWhatTheyBreak(t *testing.T) {
	require.GreaterOrEqual(t, len(doctored), 12)
	for _, d := range doctored {
		failures, err := Check(d.pmf, Options{Seed: doctoredSeed, Cases: 25}) // fewer than Run draws
		require.NoError(t, err, d.name)
		var broken []verify.Property
		for _, f := range failures {
			broken = append(broken, f.Property)
			t.Logf("%s: %v", d.name, f)
			require.True(t, f.witness != nil || f.reason != "", d.name)
			require.LessOrEqual(t, len(f.Case.Scores), 3, "%s: not shrunk", d.name)
			require.Contains(t, f.String(), "seed 3")
		}
		require.ElementsMatch(t, d.broken, broken, d.name)
	}
}

func TestMonotonicScoresAllowTwiceTheExponent(t *testing.T) {
	failures, err := Check(PMF(func(c Case) ([]float64, error) {
		require.True(t, c.Monotonic)
		return softmax(c, 2), nil
	}), Options{Monotonic: true})
	require.NoError(t, err)
	require.Empty(t, failures)
}

// What the registered mechanisms claim holds on random inputs.
func TestRegisteredMechanisms(t *testing.T) {
	claims := map[string][]verify.Property{
		"em": defaults(), "pf": defaults(), "rnm-exponential": defaults(), "rnm-gumbel": defaults(),
		"rnm-laplace": {Answers, Repeatable, dp, symmetry, shift, monotone, sum},
		"krr":         {Answers, Repeatable, dp, symmetry, shift, monotone, sum},
		"uniform":     {Answers, Repeatable, dp, symmetry, shift, monotone, sum},
	}
	for _, name := range mechanisms.Names() {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		properties, ok := claims[name]
		if !ok {
			properties = []verify.Property{Answers, Repeatable, sum}
			if m.Info().Private {
				properties = append(properties, dp)
			}
		}
		subject, cases := Of(m), 12
		if strings.HasPrefix(name, "rs") { // by quadrature
			subject, cases = PMF(func(c Case) ([]float64, error) {
				in, err := c.instance(decimal)
				require.NoError(t, err)
				return m.Float(in)
			}), 5
		}
		failures, err := Check(subject, Options{Properties: properties, Cases: cases, Seed: 5})
		require.NoError(t, err, name)
		for _, f := range failures {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestRun(t *testing.T) {
	Run(t, PMF(func(c Case) ([]float64, error) { return flip(c), nil }), Options{Cases: 10})
}

// TestRunReportsToGoTest runs this test binary again, for TestOfDoctored alone: what Run is given must fail under `go test`.
func TestRunReportsToGoTest(t *testing.T) {
	for _, c := range []struct{ subject, property, says string }{
		{"loses mass", "sum", "sum fails at"},
		{"argmax, first wins", "dp", "dp fails at"},
		{"panics on ties", "answers", "three of a kind"},
		{"right", "no such property", "no such property"},
		{"right", "", "PASS"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOfDoctored$", "-test.v")
		cmd.Env = append(os.Environ(), "PROPTEST_SUBJECT="+c.subject, "PROPTEST_PROPERTY="+c.property)
		out, err := cmd.CombinedOutput()
		require.Contains(t, string(out), c.says, c.subject)
		if c.property == "" {
			require.NoError(t, err, string(out))
			for _, p := range defaults() {
				require.Contains(t, string(out), "--- PASS: TestOfDoctored/"+string(p))
			}
			continue
		}
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s passes:\n%s", c.subject, out)
		require.Equal(t, 1, exit.ExitCode())
		require.Contains(t, string(out), "--- FAIL: TestOfDoctored/"+strings.ReplaceAll(c.property, " ", "_"))
	}
}

// TestOfDoctored is the test that TestRunReportsToGoTest runs; on its own it does nothing.
func TestOfDoctored(t *testing.T) {
	subject, ok := os.LookupEnv("PROPTEST_SUBJECT")
	if !ok {
		t.Skip("run by TestRunReportsToGoTest")
	}
	for _, d := range doctored {
		if d.name == subject {
			o := Options{Seed: doctoredSeed}
			if p := os.Getenv("PROPTEST_PROPERTY"); p != "" {
				o.Properties = []verify.Property{verify.Property(p)}
			}
			Run(t, d.pmf, o)
		}
	}
}

func TestOverwritingAndTiring(t *testing.T) {
	calls := 0
	for name, c := range map[string]struct {
		pmf  PMF
		want verify.Property
	}{
		"overwrites": {func(c Case) ([]float64, error) {
			p := softmax(c, 1)
			c.Scores[0]++
			return p, nil
		}, Answers},
		"tires": {func(c Case) ([]float64, error) {
			calls++
			if calls > 100 {
				return uniform(len(c.Scores)), nil
			}
			return softmax(c, 1), nil
		}, Repeatable},
	} {
		failures, err := Check(c.pmf, Options{Properties: []verify.Property{c.want}, Seed: 7})
		require.NoError(t, err)
		require.Len(t, failures, 1, name)
		require.NotEmpty(t, failures[0].reason)
	}
}
