package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"optratio/internal/evaluate"
	"optratio/mechanisms"
	"optratio/number"
)

var (
	histogramParam  = Param{"histogram", "", "histogram, .npy or one count a line; default: a generated one, as the source's data are not ours to ship"}
	histogramsParam = Param{"histogram", "", "histograms, .npy or one count a line, separated by commas; default: five generated ones, as the source's data are not ours to ship"}
	binsParam       = Param{"bins", "1024", "histograms with more bins are folded to so many"}
	scoresParam     = Param{"scores", "monotonic", "scores of the mode: monotonic (counts that one person moves one way), doubled (the same in units of half an item, as the source's published program has it) or plain"}
	targetParam     = Param{"target", "50", "expected error of em, at whose ε the mechanisms are compared"}
	curvePoints     = Param{"points", "40", pointsParam.Usage}
	fastCurves      = map[string]string{"points": "3", "bins": "128"}
)

var histogramSpecs = []Spec{
	{
		Name: "pf-3a", Shows: "expected error of em and pf over ε, mode of a histogram", Source: pfSource + "3a",
		Open:   "the range of ε, how bins were folded, whether scores count as monotonic",
		Params: []Param{histogramParam, binsParam, scoresParam, curvePoints}, Fast: fastCurves,
		draw: func(ctx context.Context, a *Args) *Figure { return drawErrorCurves(ctx, a, "3a", "mode") },
	},
	{
		Name: "pf-3b", Shows: "expected error of em and pf over ε, median of a histogram", Source: pfSource + "3b",
		Open:   "the range of ε, how bins were folded, ties of the median",
		Params: []Param{histogramParam, binsParam, curvePoints}, Fast: fastCurves,
		draw: func(ctx context.Context, a *Args) *Figure { return drawErrorCurves(ctx, a, "3b", "median") },
	},
	{
		Name: "pf-3c", Shows: "expected errors of em and pf on five histograms at equal ε, median", Source: pfSource + "3c",
		Params: []Param{histogramsParam, binsParam, targetParam}, Fast: map[string]string{"bins": "128"},
		draw: func(ctx context.Context, a *Args) *Figure { return drawErrorBars(ctx, a, "3c", "median") },
	},
	{
		Name: "pf-5", Shows: "expected error of em and pf over ε, mode of five histograms", Source: pfSource + "5 (supplement)",
		Open:   "as in pf-3a",
		Params: []Param{histogramsParam, binsParam, scoresParam, curvePoints}, Fast: fastCurves,
		draw: func(ctx context.Context, a *Args) *Figure { return drawErrorCurves(ctx, a, "5", "mode") },
	},
	{
		Name: "pf-6", Shows: "expected error of em and pf over ε, median of five histograms", Source: pfSource + "6 (supplement)",
		Open:   "as in pf-3b",
		Params: []Param{histogramsParam, binsParam, curvePoints}, Fast: fastCurves,
		draw: func(ctx context.Context, a *Args) *Figure { return drawErrorCurves(ctx, a, "6", "median") },
	},
	{
		Name: "pf-7a", Shows: "expected errors of em and pf on five histograms at equal ε, mode", Source: pfSource + "7a (supplement)",
		Open:   "as in pf-3a",
		Params: []Param{histogramsParam, binsParam, scoresParam, targetParam}, Fast: map[string]string{"bins": "128"},
		draw: func(ctx context.Context, a *Args) *Figure { return drawErrorBars(ctx, a, "7a", "mode") },
	},
	{
		Name: "pf-7b", Shows: "expected errors of em and pf on five histograms at equal ε, median", Source: pfSource + "7b (supplement)",
		Params: []Param{histogramsParam, binsParam, targetParam}, Fast: map[string]string{"bins": "128"},
		draw: func(ctx context.Context, a *Args) *Figure { return drawErrorBars(ctx, a, "7b", "median") },
	},
}

// A histogram has a name for its picture.
type histogram struct {
	name   string
	counts []int64
}

const sampleBins = 4096

// samples generates five histograms of 4096 bins, of shapes that real ones have.
func samples() []histogram {
	shapes := []struct {
		name  string
		items float64
		shape func(x float64, rng *rand.Rand) float64 // of x in [0,1)
	}{
		{"peaks", 350_000, func(x float64, _ *rand.Rand) float64 {
			bump := func(at, wide, high float64) float64 { return high * math.Exp(-(x-at)*(x-at)/(2*wide*wide)) }
			return bump(0.2, 0.03, 1) + bump(0.45, 0.08, 0.7) + bump(0.7, 0.02, 0.4) + 0.01
		}},
		{"power law", 30_000, func(x float64, _ *rand.Rand) float64 { return 1 / (x + 0.002) }},
		{"spikes", 20_000, func(_ float64, rng *rand.Rand) float64 { return math.Exp(3 * rng.NormFloat64()) }},
		{"decay", 1_000_000, func(x float64, _ *rand.Rand) float64 { return math.Exp(-12 * x) }},
		{"plateau", 100_000, func(x float64, rng *rand.Rand) float64 {
			return 1 / (1 + math.Exp((math.Abs(x-0.5)-0.3)*40)) * (1 + 0.2*rng.NormFloat64())
		}},
	}
	var out []histogram
	for i, s := range shapes {
		rng := rand.New(rand.NewPCG(2020, uint64(i)))
		weights, total := make([]float64, sampleBins), 0.0
		for b := range weights {
			weights[b] = max(s.shape((float64(b)+0.5)/sampleBins, rng), 0)
			total += weights[b]
		}
		h := histogram{name: s.name, counts: make([]int64, sampleBins)}
		for b, w := range weights {
			mean := s.items * w / total
			h.counts[b] = int64(max(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()), 0))
		}
		out = append(out, h)
	}
	return out
}

// histograms returns those of the parameter, at most so many, or generated ones, folded; from says which in the picture.
func (a *Args) histograms(most int) (list []histogram, from string) {
	from = "Generated sample, not the source's data."
	if most > 1 {
		from = "Generated samples, not the source's data."
	}
	list = samples()[:most]
	if text := a.Text("histogram"); text != "" {
		list, from = nil, ""
		for path := range a.texts("histogram") {
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			list = append(list, histogram{name, must(a.ReadHistogram(path))})
		}
		if len(list) > most {
			a.fail("histogram", fmt.Sprintf("give at most %d", most))
		}
	}
	bins := a.Int("bins", 2, 1<<20)
	for i, h := range list {
		if len(h.counts) <= bins {
			continue
		}
		var err error
		if list[i].counts, err = evaluate.Fold(h.counts, bins); err != nil {
			a.fail("bins", fmt.Sprintf("give a divisor of %d, the bins of %s", len(h.counts), h.name))
		}
	}
	return list, from
}

// A task is selection from a histogram, in two forms: exact scores, and floats.
type task struct {
	*evaluate.Problem
	scores      []float64
	sensitivity float64 // with which mechanisms run
}

// task returns the scores of the mode or the median.
func (a *Args) task(kind string, counts []int64) *task {
	scores, monotonic := evaluate.ModeScores(counts), false
	switch {
	case kind == "median":
		scores = must(evaluate.MedianScores(counts))
	case a.Text("scores") == "monotonic":
		monotonic = true
	case a.Text("scores") == "doubled":
		for i := range scores {
			scores[i] *= 2
		}
	case a.Text("scores") != "plain":
		a.fail("scores", "give monotonic, doubled or plain")
	}
	t := &task{Problem: must(evaluate.New(scores, big.NewRat(1, 1), monotonic)), sensitivity: 1}
	if monotonic {
		t.sensitivity = 0.5
	}
	for _, s := range scores {
		t.scores = append(t.scores, float64(s))
	}
	return t
}

// expected returns a mechanism's expected error in float64.
func (t *task) expected(name string, eps float64) float64 {
	in := &mechanisms.FloatInstance{Scores: t.scores, Sensitivities: []float64{t.sensitivity}, Epsilon: eps}
	best, sum := math.Inf(-1), 0.0
	for _, q := range t.scores {
		best = max(best, q)
	}
	for i, p := range floats(name, in) {
		sum += p * (best - t.scores[i])
	}
	return sum
}

// epsilonOf returns the ε at which the exponential mechanism's expected error is the target.
func (t *task) epsilonOf(ctx context.Context, target float64, of string) float64 {
	r := must(t.Reaching(ctx, mechanisms.Exponential(), number.Exact(new(big.Rat).SetFloat64(target))))
	if eps := r.Float64(); eps > 0 && !math.IsInf(eps, 0) {
		return eps
	}
	panic(failure{fmt.Errorf("%w: --histogram: on %s the exponential mechanism's expected error is below %s at every ε; give another histogram, or another --target where there is one", ErrParameter, of, digits(target))})
}

// unit is what errors of a task are counted in.
func (a *Args) unit(kind string) string {
	if kind == "mode" && a.Text("scores") == "doubled" {
		return "half items"
	}
	return "items"
}

// scoring says in a sentence what scores are.
func (a *Args) scoring(kind string) string {
	if kind == "median" {
		return "Score: how many items must be added or removed for a bin to be the median, negated."
	}
	return map[string]string{
		"monotonic": "Score: the bin's count, monotonic.", "doubled": "Score: twice the bin's count, as counts are monotonic.", "plain": "Score: the bin's count, taken not to be monotonic.",
	}[a.Text("scores")]
}

// sentences has one space where sentences are left out.
func sentences(text string) string { return strings.Join(strings.Fields(text), " ") }

func drawErrorCurves(ctx context.Context, a *Args, letter, kind string) *Figure {
	most := 5
	if strings.HasPrefix(letter, "3") {
		most = 1
	}
	list, from := a.histograms(most)
	points := a.Int("points", 2, 1000)
	f := &Figure{
		Title: fmt.Sprintf("Expected error over ε: the %s of %s", kind, map[bool]string{true: "a histogram", false: "histograms"}[most == 1]),
		Subtitle: sentences(fmt.Sprintf("%s %s Cut where em's error falls below 1. From the mechanisms' probabilities in float64. After %s%s.",
			a.scoring(kind), from, pfSource, letter)),
	}
	if most > 1 {
		f.Height = 190
	}
	for i, h := range list {
		t := a.task(kind, h.counts)
		end := t.epsilonOf(ctx, 1, h.name)
		p := &Panel{
			Title: fmt.Sprintf("%s (%d bins)", h.name, len(h.counts)),
			X:     Axis{Name: "eps", Label: "ε"}, Y: Axis{Name: "error", Label: "expected error (" + a.unit(kind) + ")", Log: true},
		}
		for m, name := range []string{"em", "pf"} {
			s := &Series{Name: name, Kind: Curve}
			for j, eps := range evenly(end/float64(points), end, points) {
				a.step((2*i+m)*points+j, 2*len(list)*points)
				ensure(context.Cause(ctx))
				y := t.expected(name, eps)
				s.add(eps, y)
			}
			p.Series = append(p.Series, s)
		}
		if i%2 == 0 {
			f.Panels = append(f.Panels, nil)
		} else {
			p.Y.Label = ""
		}
		last := len(f.Panels) - 1
		f.Panels[last] = append(f.Panels[last], p)
	}
	return f
}

func drawErrorBars(ctx context.Context, a *Args, letter, kind string) *Figure {
	list, from := a.histograms(5)
	target := a.Float("target", positive, wantPositive)
	p := &Panel{X: Axis{Name: "histogram", Label: "histogram"}, Y: Axis{Name: "error", Label: "expected error (" + a.unit(kind) + ")"}}
	em, pf := &Series{Name: "em", Kind: Bars}, &Series{Name: "pf", Kind: Bars}
	for i, h := range list {
		a.step(i, len(list))
		t := a.task(kind, h.counts)
		eps := t.epsilonOf(ctx, target, h.name)
		p.X.Names = append(p.X.Names, fmt.Sprintf("%s\nε = %s", h.name, digits(roundTo(eps, 3))))
		for _, s := range []*Series{em, pf} {
			y := t.expected(s.Name, eps)
			s.add(float64(i), y)
		}
	}
	p.Series = []*Series{em, pf}
	return &Figure{
		Title: fmt.Sprintf("Expected error where em's is %s: the %s of histograms", digits(target), kind),
		Subtitle: sentences(fmt.Sprintf("%s %s From the mechanisms' probabilities in float64. After %s%s.",
			a.scoring(kind), from, pfSource, letter)),
		Panels: single(p),
	}
}
