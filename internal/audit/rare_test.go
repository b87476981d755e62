package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/internal/slowtest"
	"optratio/verify"
)

// thing is an outcome: a label, or a number where that is empty.
type thing struct {
	label string
	x     float64
}

// answerer is what answers about inputs, 0 and above.
type answerer func(rng *rand.Rand, input int64) thing

func rarely(p float64, rare func(rng *rand.Rand) thing, rest func(rng *rand.Rand, input int64) thing) answerer {
	return func(rng *rand.Rand, input int64) thing {
		if input > 0 && rng.Float64() < p {
			return rare(rng)
		}
		return rest(rng, input)
	}
}

func oneOfLabels(n int) func(*rand.Rand, int64) thing {
	return func(rng *rand.Rand, _ int64) thing { return thing{label: fmt.Sprint("c", rng.IntN(n))} }
}

func normal(rng *rand.Rand, _ int64) thing { return thing{x: rng.NormFloat64()} }

func laplace(scale float64) answerer {
	return func(rng *rand.Rand, input int64) thing {
		return thing{x: float64(input) + scale*(rng.ExpFloat64()-rng.ExpFloat64())}
	}
}

func oneOfTwo(rng *rand.Rand, input int64) thing { // e^ε = 3
	return thing{label: fmt.Sprint("c", (input+int64(rng.IntN(4)/3))%2)}
}

// tallied draws labels, as a program that counts them.
type tallied struct {
	answerer
	rng *rand.Rand
	labelled
}

func (c *tallied) Sample(q inquiry.Vector, samples int64) ([]int64, string, error) {
	var counts []int64
	for range samples {
		id, err := c.number(c.answerer(c.rng, q[0]).label)
		if err != nil {
			return nil, "", err
		}
		for len(counts) <= id {
			counts = append(counts, 0)
		}
		counts[id]++
	}
	return counts, "", nil
}

// valuing draws numbers.
type valuing struct {
	answerer
	rng *rand.Rand
}

func (v valuing) Values(q inquiry.Vector, samples int64) (out []float64, event string, err error) {
	for range samples {
		out = append(out, v.answerer(v.rng, q[0]).x)
	}
	return out, "", nil
}

// as returns the same outcomes in one of the ways to answer with them; mixed outcomes are lists of one.
func (a answerer) as(outcomes string, rng *rand.Rand) sampler {
	switch outcomes {
	case Labels:
		return &tallied{a, rng, *newLabelled(&Options{Outcomes: Labels})}
	case Real:
		return binnedOf(valuing{a, rng})
	}
	m := newMixed()
	return m.learner(func(q inquiry.Vector, samples int64) (drawn [][]mixture, event string, err error) {
		var all []mixture
		for range samples {
			o := a(rng, q[0])
			if o.label == "" {
				all = append(all, mixture{m.shapeOf([]any{0}), []float64{o.x}})
			} else {
				all = append(all, mixture{m.shapeOf([]any{o.label}), nil})
			}
		}
		return [][]mixture{all}, "", nil
	})
}

// chainOf are options about so many inputs, of which each is a neighbor of the next.
func chainOf(t *testing.T, inputs int, outcomes string, budget int64, seed uint64, delta *big.Rat) Options {
	o := Options{Inputs: &Inputs{}, Epsilon: epsilon(t, "1"), Outcomes: outcomes, Seed: seed, Budget: budget, Confidence: big.NewRat(19, 20), Targets: atDelta(delta)}
	for i := range inputs {
		o.Inputs.Values = append(o.Inputs.Values, json.RawMessage(fmt.Sprint(i)))
		if i > 0 {
			o.Inputs.Pairs = append(o.Inputs.Pairs, InputPair{From: i - 1, To: i})
		}
	}
	return o
}

// Mixed outcomes are told apart as well as the labels or numbers that they hold, a rare label, hundreds of them, an atom and a tail; and the events are told in few words.
func TestMixedOutcomesAreAsStrong(t *testing.T) {
	slowtest.Only(t)
	label := func(rng *rand.Rand) thing { return thing{label: "shown"} }
	for _, c := range []struct {
		name, as, event string
		answerer        answerer
		truth, least    float64 // δ at ε = 1, and the part of it that mixed outcomes show
	}{
		{"rare label", Labels, `an outcome with [0] = "shown"`, rarely(0.01, label, oneOfLabels(2)), 0.01, 0.6},
		{"rare among many", Labels, `an outcome with [0] = "shown"`, rarely(0.01, label, oneOfLabels(2000)), 0.01, 0.5},
		{"union of rare labels", Labels, `an outcome with [0] none of "c0", "c1", "c2", "c3"`,
			rarely(0.01, func(rng *rand.Rand) thing { return thing{label: fmt.Sprint("r", rng.IntN(300))} }, oneOfLabels(4)), 0.01, 0.6},
		{"rare number", "", "an outcome with [0] a number", rarely(0.01, func(rng *rand.Rand) thing { return thing{x: rng.Float64()} }, oneOfLabels(2)), 0.01, 0.6},
		{"atom", Real, "an outcome with [0] = 0.5", rarely(0.01, func(*rand.Rand) thing { return thing{x: 0.5} }, normal), 0.01, 0.5},
		{"tail", Real, "", rarely(0.01, func(rng *rand.Rand) thing { return thing{x: 100 + rng.Float64()} }, normal), 0.01, 0.3},
		{"too little noise", Real, "", laplace(0.8), 1 - math.Exp(-0.125), 0.7},
	} {
		bounds := map[string][]float64{}
		for _, outcomes := range []string{c.as, Mixed} {
			for i := range uint64(runs(3)) {
				if outcomes == "" {
					continue
				}
				seed := firstSeed() + i
				r, err := draw(c.name, c.answerer.as(outcomes, rand.New(rand.NewPCG(seed, 6))), chainOf(t, 2, outcomes, 100_000, seed, big.NewRat(3, 10_000)))
				require.NoError(t, err)
				require.NotNil(t, r.DeltaBound, "%v", r)
				bounds[outcomes] = append(bounds[outcomes], r.DeltaBound.Float64())
				if outcomes == Mixed && c.event != "" {
					assert.Equal(t, c.event, r.Find(verify.ApproximateDP).Attained.Event, c.name)
				}
			}
		}
		mixed := median(bounds[Mixed])
		t.Logf("%s: δ = %.4g, %s %.3g, mixed %.3g", c.name, c.truth, c.as, bounds[c.as], bounds[Mixed])
		assert.Greater(t, mixed, c.least*c.truth, c.name)
		if c.as != "" {
			assert.Greater(t, mixed, 0.8*median(bounds[c.as]), c.name)
		}
	}
}

// Where nothing differs, the whole budget is drawn, and pairs were looked at; a rare label at the last of many pairs is found.
func TestWholeBudgetIsSearched(t *testing.T) {
	slowtest.Only(t)
	always := func(*rand.Rand, int64) thing { return thing{label: "absent"} }
	for _, delta := range []*big.Rat{nil, big.NewRat(1, 1000)} {
		for _, outcomes := range []string{Labels, Mixed} {
			r, err := draw("constant", answerer(always).as(outcomes, rand.New(rand.NewPCG(1, 6))), chainOf(t, 3, outcomes, 20_000, 1, delta))
			require.NoError(t, err)
			assert.Greater(t, r.Samples, int64(18_000), "%v", r)
			assert.True(t, r.Compared(), "%v", r)
			assert.Equal(t, verify.Undecided, r.Verdict(), "%v", r)
			if res := r.Find(verify.ApproximateDP); res != nil {
				assert.Nil(t, res.Attained, "nothing is no event, and all is none")
			}
		}
	}
	const inputs = 41
	late := func(rng *rand.Rand, input int64) thing {
		if input == inputs-1 && rng.Float64() < 0.004 {
			return thing{label: "shown"}
		}
		return thing{label: "absent"}
	}
	for _, outcomes := range []string{Labels, Mixed} {
		for _, refuted := range []bool{false, true} {
			o := chainOf(t, inputs, outcomes, 400_000, 2, nil)
			if o.UntilRefuted = refuted; !refuted {
				o.Targets = atDelta(big.NewRat(1, 1000))
			}
			r, err := draw("late", answerer(late).as(outcomes, rand.New(rand.NewPCG(2, 6))), o)
			require.NoError(t, err)
			assert.Equal(t, verify.Violated, r.Verdict(), "%s, until refuted: %v: %v", outcomes, refuted, r)
		}
	}
}

// With too few samples to show anything, the event is the one that shows most clearly, not a part of it.
func TestFewSamplesOfARareNumber(t *testing.T) {
	a := rarely(0.003, func(rng *rand.Rand) thing { return thing{x: rng.Float64()} }, oneOfLabels(1))
	for seed := range uint64(5) {
		r, err := draw("rare", a.as(Mixed, rand.New(rand.NewPCG(seed, 6))), chainOf(t, 2, Mixed, 10_000, seed, big.NewRat(1, 10_000)))
		require.NoError(t, err)
		assert.NotContains(t, r.Find(verify.ApproximateDP).Attained.Event, "<", "a part of the numbers")
	}
}

// Right programs are refuted rarely: with a confidence of a half, so that a correction that is lost shows, in fewer than half of many audits.
func TestMixedOutcomesOfRightPrograms(t *testing.T) {
	slowtest.Only(t)
	for name, a := range map[string]answerer{"response": oneOfTwo, "laplace": laplace(1), "many": oneOfLabels(500)} {
		for _, delta := range []*big.Rat{nil, new(big.Rat)} {
			refuted, audits := 0, runs(20)
			for i := range uint64(audits) {
				o := chainOf(t, 2, Mixed, 3000, firstSeed()+i, delta)
				if o.Confidence = big.NewRat(1, 2); name == "response" {
					o.Epsilon = epsilon(t, "1.0986122886681098")
				}
				r, err := draw(name, a.as(Mixed, rand.New(rand.NewPCG(firstSeed()+i, 7))), o)
				require.NoError(t, err)
				if r.Verdict() == verify.Violated {
					refuted++
				}
			}
			t.Logf("%s: %d of %d refuted", name, refuted, audits)
			assert.LessOrEqual(t, refuted, audits/2, name)
		}
	}
}

// Of many labels that are alike at both sides, those that came at one alone promise nothing.
func TestUnionsAreRatedByHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	f := newField(&Options{Outcomes: Labels, Inputs: &Inputs{}}, rng)
	for at := range int64(2) {
		f.place(inquiry.Vector{at})
		for half := range 2 {
			counts := make([]int64, 1000)
			for range 1000 {
				counts[rng.IntN(len(counts))]++
			}
			f.add(int(at), half, counts, 1000)
		}
	}
	most, naive := 0.0, 0.0
	own, n := f.hits(0, 1000)
	near, m := f.hits(1, 1000)
	list := make([]outcome, 1000)
	for r := range list {
		list[r] = outcome{r: r, x: own[r], y: near[r]}
	}
	unions(list, halved{all: [2]float64{n, m}}, func(x, y float64, _ []outcome) { naive = max(naive, x/n-math.E*y/m) })
	f.events(edge{from: 0, to: 1}, own, near, n, m, func(x, y float64, in []outcome) { most = max(most, x/n-math.E*y/m) })
	assert.Greater(t, naive, 0.1)
	assert.Less(t, most, 0.01)
}

// What is known of a place is told once, and in order.
func TestWordsOfEvents(t *testing.T) {
	is := func(place, label string, holds bool) answered {
		return answered{split{place: place, label: label}, holds}
	}
	below := func(at float64, holds bool) answered {
		return answered{split{place: "[1]", kind: atMost, at: at}, holds}
	}
	exactly := func(at float64, holds bool) answered {
		return answered{split{place: "[1]", kind: equals, at: at}, holds}
	}
	for want, path := range map[string][]answered{
		"anything":  nil,
		`[0] = "a"`: {is("[0]", `"b"`, false), is("[0]", `"a"`, true)},
		`[0] none of "a2", "a10" and 1 < [1] <= 3`: {is("[0]", `"a10"`, false), is("[1]", aNumber, true), below(5, true), is("[0]", `"a2"`, false), below(1, false), below(3, true)},
		"[1] < 3 and [1] != 2":                     {below(3, true), exactly(3, false), exactly(2, false), exactly(7, false)},
		"[1] = 2":                                  {below(3, true), exactly(2, true)},
		"no [1]":                                   {is("[1]", "", true)},
		"it not a number":                          {is("", aNumber, false)},
	} {
		assert.Equal(t, want, conjunction(path))
	}
	l := &labelled{names: []string{"x10", "x9", "X1", "y", "x2"}}
	assert.Equal(t, "one of x9, x10", l.event([]bool{true, true}))
	assert.Equal(t, "one of 4 labels, all but x9", l.event([]bool{true, false, true, true, true}))
}
