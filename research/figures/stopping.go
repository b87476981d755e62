package figures

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/secretary"
	"optratio/number"
	"optratio/research/limit"
)

const stoppingSource = "Grining, Klonowski & Sulkowska, Fig. "

var (
	oneP      = Param{"p", "1", "weight of the secretary rule"}
	lOne      = Param{"l", "1", "neighbors swap two candidates at most l places apart"}
	finiteN   = Param{"n", "100", "number of candidates for the exact points beside the limit"}
	epsAxis   = Param{"eps-range", "0:2.5", "ends of the axis of ε"}
	fastExact = map[string]string{"points": "9", "n": "12"}
)

var stoppingSpecs = []Spec{
	{"stopping-1", "limit region of (ε, δ) in which the p-mix is private", stoppingSource + "1", "p, l", []Param{oneP, lOne, epsAxis, pointsParam}, fast, regions(1, "Where the p-mix is private")},
	{"stopping-2", "boundaries of that region for several p", stoppingSource + "2", "l, the list of p, the range of ε",
		[]Param{{"p", "0.2,0.4,0.6,0.8,1", "weights of the secretary rule, a curve for each"}, lOne, epsAxis, pointsParam}, fast, regions(2, "Where the p-mix is private, for several p")},
	{"stopping-3", "boundaries of that region for several l", stoppingSource + "3", "p, the list of l, the range of ε",
		[]Param{oneP, {"l", "1,2,3,5,8", "distances of neighbors, a curve for each"}, epsAxis, pointsParam}, fast, regions(3, "Where the p-mix is private, for several distances l")},
	{"stopping-4", "least ε of the p-mix over p", stoppingSource + "4", "", []Param{{"delta", "0.01", "privacy parameter δ"}, lOne, finiteN, pointsParam}, fastExact, drawLeastEps},
	{"stopping-5", "least δ of the p-mix over p", stoppingSource + "5", "", []Param{{"eps", "0.5", epsOne.Usage}, lOne, finiteN, pointsParam}, fastExact, drawLeastDelta},
	{"stopping-6", "largest p of the p-mix over ε", stoppingSource + "6", "the range of ε",
		[]Param{{"delta", "0.05", "privacy parameter δ"}, lOne, {"eps-range", "0:1.2", epsAxis.Usage}, finiteN, pointsParam}, fastExact, drawLargestP},
}

// limits encloses a limit for many candidates at each of the given numbers, rounded to nine digits.
func limits(name string, grid []float64, limit func(x float64, exact *big.Rat) (number.Number, error)) *Series {
	s := &Series{Name: name}
	for _, x := range grid {
		x = roundTo(x, 9)
		exact, _ := new(big.Rat).SetString(digits(x))
		s.certify(x, must(limit(x, exact)))
	}
	return s
}

func regions(which int, title string) func(context.Context, *Args) *Figure {
	return func(_ context.Context, a *Args) *Figure {
		var ps []float64
		var ls []int
		switch which {
		case 1:
			ps, ls = []float64{a.Float("p", 0, 1)}, []int{a.Int("l", 1, 1000)}
		case 2:
			ps, ls = a.Floats("p", 0, 1), []int{a.Int("l", 1, 1000)}
		case 3:
			ps, ls = []float64{a.Float("p", 0, 1)}, a.Ints("l", 1, 1000)
		}
		from, to := a.Range("eps-range", 0, greatest)
		grid := evenly(from, to, a.Int("points", 2, 10000))
		x, y := Axis{Name: "eps", Label: "ε", Min: from, Max: to}, Axis{Name: "delta", Label: "δ", Min: 0, Max: 0.4}
		var edges []*Series
		for _, p := range ps {
			for _, l := range ls {
				name := []string{"", "least δ, and where the p-mix is private", "p = " + digits(p), fmt.Sprintf("l = %d", l)}[which]
				weight, _ := new(big.Rat).SetString(digits(p))
				edges = append(edges, limits(name, grid, func(eps float64, _ *big.Rat) (number.Number, error) {
					return limit.Delta(weight, l, exactly(eps))
				}))
			}
		}
		if which == 1 {
			edges[0].Kind, edges[0].Lower, edges[0].Upper = Area, edges[0].Y, slices.Repeat([]float64{y.Max}, len(grid))
		}
		fixed := []string{"", fmt.Sprintf("p = %s, l = %d", digits(ps[0]), ls[0]), fmt.Sprintf("l = %d", ls[0]), "p = " + digits(ps[0])}[which]
		return &Figure{
			Title:    title,
			Subtitle: fmt.Sprintf("Limit for many candidates: the p-mix is (ε, δ)-private on and above the curve, δ = (p/e)(1 - a(l+1)e^ε) where that is positive, a(k) = Σ (1-1/e)^s/s over s ≥ k; %s. After %s%d, whose parameters are open.", fixed, stoppingSource, which),
			Panels:   single(x, y, edges...),
		}
	}
}

// exactPoints are values of p for exact points.
const exactPoints = 12

// mixes returns the p-mix's law for some p, exactly.
func mixes(ctx context.Context, n int, visit func(p float64, law secretary.Law)) {
	for i := 1; i <= exactPoints; i++ {
		p := big.NewRat(int64(i), int64(exactPoints))
		visit(float64(i)/exactPoints, must(secretary.SecretaryMixLaw(ctx, n, p)))
	}
}

// sizes reads l and n, and makes the series of exact points.
func (a *Args) sizes() (l, n int, exact *Series) {
	l, n = a.Int("l", 1, 100), a.Int("n", 2, 500)
	if l >= n {
		a.fail("l", fmt.Sprintf("give a number from 1 to n-1 = %d", n-1))
	}
	return l, n, &Series{Name: fmt.Sprintf("exact for n = %d", n), Kind: Points}
}

const limitName = "limit for many candidates"

var weightAxis = Axis{Name: "p", Label: "p, the weight of the secretary rule", Min: 0, Max: 1}

func drawLeastEps(ctx context.Context, a *Args) *Figure {
	l, n, exact := a.sizes()
	delta, points := a.Rat("delta", 0, 1), a.Int("points", 2, 10000)
	mixes(ctx, n, func(p float64, law secretary.Law) {
		exact.certify(p, must(secretary.TightEps(law, l, delta)).Eps())
	})
	limit := limits(limitName, evenly(1/float64(points), 1, points), func(_ float64, p *big.Rat) (number.Number, error) { return limit.Eps(p, delta, l) })
	return &Figure{
		Title:    "The least ε of the p-mix",
		Subtitle: fmt.Sprintf("Least ε for which playing the secretary rule with probability p, else taking anybody, is (ε, %s)-private; l = %d. Limit: ln((p-δe)/(a(l+1)p)) where that is positive, a(k) = Σ (1-1/e)^s/s over s ≥ k. After %s4.", a.Text("delta"), l, stoppingSource),
		Panels:   single(weightAxis, Axis{Name: "eps", Label: "least ε"}, limit, exact),
	}
}

func drawLeastDelta(ctx context.Context, a *Args) *Figure {
	l, n, exact := a.sizes()
	eps, points := a.Epsilon("eps"), a.Int("points", 2, 10000)
	mixes(ctx, n, func(p float64, law secretary.Law) {
		low, high, _, err := secretary.TightDelta(law, l, eps)
		ensure(err)
		exact.certify(p, number.Bounds(low, high))
	})
	limit := limits(limitName, evenly(0, 1, points), func(_ float64, p *big.Rat) (number.Number, error) { return limit.Delta(p, l, eps) })
	return &Figure{
		Title:    "The least δ of the p-mix",
		Subtitle: fmt.Sprintf("Least δ for which playing the secretary rule with probability p, else taking anybody, is (%s, δ)-private; l = %d. Limit: (p/e)(1 - a(l+1)e^ε), a(k) = Σ (1-1/e)^s/s over s ≥ k. After %s5.", a.Text("eps"), l, stoppingSource),
		Panels:   single(weightAxis, Axis{Name: "delta", Label: "least δ"}, limit, exact),
	}
}

func drawLargestP(ctx context.Context, a *Args) *Figure {
	l, n, exact := a.sizes()
	delta, points := a.Rat("delta", 0, 1), a.Int("points", 2, 10000)
	from, to := a.Range("eps-range", 0, greatest)
	law := must(secretary.SecretaryMixLaw(ctx, n, big.NewRat(1, 1)))
	for _, eps := range evenly(from, to, exactPoints+1) {
		eps = roundTo(eps, 6)
		low, high, err := secretary.LargestP(law, l, exactly(eps), delta)
		ensure(err)
		exact.certify(eps, number.Bounds(low, high))
	}
	limit := limits(limitName, evenly(from, to, points), func(eps float64, _ *big.Rat) (number.Number, error) { return limit.P(l, exactly(eps), delta) })
	return &Figure{
		Title:    "The largest p of a private p-mix",
		Subtitle: fmt.Sprintf("Largest weight p of the secretary rule for which the p-mix is (ε, %s)-private; l = %d. Limit: eδ/(1 - a(l+1)e^ε), at most 1, a(k) = Σ (1-1/e)^s/s over s ≥ k. After %s6, whose range of ε is open.", a.Text("delta"), l, stoppingSource),
		Panels:   single(Axis{Name: "eps", Label: "ε", Min: from, Max: to}, Axis{Name: "p", Label: "largest p", Min: 0, Max: 1.04}, limit, exact),
	}
}
