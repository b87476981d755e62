package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
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
	fastBins        = map[string]string{"bins": "128"}
)

// A histogram has a name for its picture.
type histogram struct {
	name   string
	counts []int64
}

// samples generates five histograms of 4096 bins, of shapes that real ones have.
func samples() (out []histogram) {
	const bins = 4096
	bump := func(x, at, wide, high float64) float64 { return high * math.Exp(-(x-at)*(x-at)/(2*wide*wide)) }
	for i, s := range []struct {
		name  string
		items float64
		shape func(x float64, rng *rand.Rand) float64 // of x in [0,1)
	}{
		{"peaks", 350_000, func(x float64, _ *rand.Rand) float64 {
			return bump(x, 0.2, 0.03, 1) + bump(x, 0.45, 0.08, 0.7) + bump(x, 0.7, 0.02, 0.4) + 0.01
		}},
		{"power law", 30_000, func(x float64, _ *rand.Rand) float64 { return 1 / (x + 0.002) }},
		{"spikes", 20_000, func(_ float64, rng *rand.Rand) float64 { return math.Exp(3 * rng.NormFloat64()) }},
		{"decay", 1_000_000, func(x float64, _ *rand.Rand) float64 { return math.Exp(-12 * x) }},
		{"plateau", 100_000, func(x float64, rng *rand.Rand) float64 {
			return 1 / (1 + math.Exp((math.Abs(x-0.5)-0.3)*40)) * (1 + 0.2*rng.NormFloat64())
		}},
	} {
		rng := rand.New(rand.NewPCG(2020, uint64(i)))
		weights, total := make([]float64, bins), 0.0
		for b := range weights {
			weights[b] = max(s.shape((float64(b)+0.5)/bins, rng), 0)
			total += weights[b]
		}
		h := histogram{s.name, make([]int64, bins)}
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
	list, from = samples()[:most], map[bool]string{true: "Generated samples, not the source's data. ", false: "Generated sample, not the source's data. "}[most > 1]
	if text := a.Text("histogram"); text != "" {
		list, from = nil, ""
		for path := range strings.SplitSeq(text, ",") {
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			list = append(list, histogram{name, must(a.ReadHistogram(strings.TrimSpace(path)))})
		}
		if len(list) > most {
			a.fail("histogram", fmt.Sprintf("give at most %d", most))
		}
	}
	bins := a.Int("bins", 2, 1<<20)
	for i, h := range list {
		if len(h.counts) > bins {
			var err error
			if list[i].counts, err = evaluate.Fold(h.counts, bins); err != nil {
				a.fail("bins", fmt.Sprintf("give a divisor of %d, the bins of %s", len(h.counts), h.name))
			}
		}
	}
	return list, from
}

// A task is selection from a histogram, in two forms: exact scores, and floats.
type task struct {
	*evaluate.Problem
	scores      []float64
	sensitivity float64 // with which mechanisms run
	unit        string  // of errors
	says        string  // what scores are, in a sentence
}

// task returns the scores of the mode or the median.
func (a *Args) task(kind string, counts []int64) *task {
	t := &task{sensitivity: 1, unit: "items"}
	scores, monotonic := evaluate.ModeScores(counts), false
	if kind == "median" {
		t.says = "Score: how many items must be added or removed for a bin to be the median, negated."
		scores = must(evaluate.MedianScores(counts))
	} else {
		switch a.Text("scores") {
		case "monotonic":
			monotonic, t.sensitivity, t.says = true, 0.5, "Score: the bin's count, monotonic."
		case "doubled":
			for i := range scores {
				scores[i] *= 2
			}
			t.unit, t.says = "half items", "Score: twice the bin's count, as counts are monotonic."
		case "plain":
			t.says = "Score: the bin's count, taken not to be monotonic."
		default:
			a.fail("scores", "give monotonic, doubled or plain")
		}
	}
	t.Problem = must(evaluate.New(scores, big.NewRat(1, 1), monotonic))
	for _, s := range scores {
		t.scores = append(t.scores, float64(s))
	}
	return t
}

// expected returns a mechanism's expected error in float64.
func (t *task) expected(name string, eps float64) (sum float64) {
	best := slices.Max(t.scores)
	for i, p := range floats(name, t.scores, t.sensitivity, eps) {
		sum += p * (best - t.scores[i])
	}
	return sum
}

// epsilonOf returns the ε at which the exponential mechanism's expected error is the target.
func (t *task) epsilonOf(ctx context.Context, target float64, of string) float64 {
	eps := must(t.Reaching(ctx, mechanisms.Exponential(), number.Exact(new(big.Rat).SetFloat64(target)))).Float64()
	if !(eps > 0) || math.IsInf(eps, 0) {
		ensure(fmt.Errorf("%w: --histogram: on %s the exponential mechanism's expected error is below %s at every ε; give another histogram, or another --target where there is one", ErrParameter, of, digits(target)))
	}
	return eps
}

// errorCurves draws expected errors over ε, a panel for each of at most so many histograms.
func errorCurves(letter, kind string, most int) func(context.Context, *Args) *Figure {
	return func(ctx context.Context, a *Args) *Figure {
		list, from := a.histograms(most)
		points := a.Int("points", 2, 1000)
		f := &Figure{Title: fmt.Sprintf("Expected error over ε: the %s of %s", kind, map[bool]string{true: "a histogram", false: "histograms"}[most == 1])}
		a.steps(2 * len(list) * points)
		for row := range slices.Chunk(list, 2) {
			var panels []*Panel
			for _, h := range row {
				t := a.task(kind, h.counts)
				end := t.epsilonOf(ctx, 1, h.name)
				p := &Panel{
					Title: fmt.Sprintf("%s (%d bins)", h.name, len(h.counts)),
					X:     Axis{Name: "eps", Label: "ε"}, Y: Axis{Name: "error", Label: "expected error (" + t.unit + ")", Log: true},
				}
				for _, name := range []string{"em", "pf"} {
					p.Series = append(p.Series, sample(name, Curve, evenly(end/float64(points), end, points), func(eps float64) float64 {
						ensure(context.Cause(ctx))
						a.step()
						return t.expected(name, eps)
					}))
				}
				panels = append(panels, p)
				f.Subtitle = fmt.Sprintf("%s %sCut where em's error falls below 1. From the mechanisms' probabilities in float64. After %s%s.", t.says, from, pfSource, letter)
			}
			f.Panels = append(f.Panels, panels)
		}
		return f
	}
}

// errorBars draws expected errors at the ε where the exponential mechanism's is the target, a pair of bars for each histogram.
func errorBars(letter, kind string) func(context.Context, *Args) *Figure {
	return func(ctx context.Context, a *Args) *Figure {
		list, from := a.histograms(5)
		target := a.Float("target", positive, wantPositive)
		x := Axis{Name: "histogram", Label: "histogram"}
		em, pf := &Series{Name: "em", Kind: Bars}, &Series{Name: "pf", Kind: Bars}
		var t *task
		a.steps(len(list))
		for i, h := range list {
			t = a.task(kind, h.counts)
			eps := t.epsilonOf(ctx, target, h.name)
			x.Names = append(x.Names, fmt.Sprintf("%s\nε = %s", h.name, digits(roundTo(eps, 3))))
			em.add(float64(i), t.expected("em", eps))
			pf.add(float64(i), t.expected("pf", eps))
			a.step()
		}
		return &Figure{
			Title:    fmt.Sprintf("Expected error where em's is %s: the %s of histograms", digits(target), kind),
			Subtitle: fmt.Sprintf("%s %sFrom the mechanisms' probabilities in float64. After %s%s.", t.says, from, pfSource, letter),
			Panels:   single(x, Axis{Name: "error", Label: "expected error (" + t.unit + ")"}, em, pf),
		}
	}
}
