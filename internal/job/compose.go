package job

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"optratio/internal/compose"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// Compose asks what several selections cost together, or what each may cost.
type Compose struct {
	Mechanism string `json:"mechanism" help:"em, pf, geo, krr, rnm-gumbel or rnm-exponential; several, separated by commas, without {eps}"`
	Eps       string `json:"eps" help:"privacy parameter ε of each selection, a decimal, taken exactly; without it the largest is found"`
	T         int    `json:"T" help:"number of selections"`
	Step      Listed `json:"step" help:"MECHANISM:EPS:COUNT instead of {mechanism}, {eps} and {T}; repeat it, or separate with commas, in the order in which the selections are made"`
	Delta     string `json:"delta" help:"privacy parameter δ, a decimal or a fraction: find ε in total"`
	Total     string `json:"total-eps" help:"ε in total, a decimal: find δ"`
	Adversary string `json:"adversary" default:"adaptive" help:"adaptive (chooses each query by the answers before) or equal (asks the same each time)"`
	OneWay
	Candidates int    `json:"candidates" help:"number of candidates of krr, at least 2 (default: {n})"`
	N          int    `json:"n" help:"with {k}: also list the mean error on the lattice of n candidates and depth k at the largest ε, the least first"`
	K          int    `json:"k" help:"greatest depth of this lattice"`
	Gap        string `json:"gap" help:"stop when the relative width of ε is at most this (default 1e-4 up to 20 selections, else 3e-3)"`
}

// Listed is a list that is separated by commas, or given piece by piece.
type Listed string

// sameAs are mechanisms with the distribution of another.
var sameAs = map[string]string{"em": "em", "pf": "pf", "geo": "geo", "krr": "krr", "rnm-gumbel": "em", "rnm-exponential": "pf"}

// composing is a question that was read.
type composing struct {
	*reading
	*Compose
	problem compose.Problem // of mechanisms that are compared each step is a problem of its own
	find    bool            // the largest ε of a step is asked for
	delta   *big.Rat        // nil where it is asked for
	total   *big.Rat        // nil where it is asked for
	doc     *document.Compose
}

// step adds a step, but for its number of selections, and refuses mechanisms of which no profile is proved.
func (c *composing) step(field, name, epsField, eps string) {
	m, err := mechanisms.Lookup(strings.TrimSpace(name))
	refuse(err != nil, "{"+field+"} %s: no such mechanism; give em, pf, geo, krr, rnm-gumbel or rnm-exponential%s", escape.Quoted(name), DidYouMean(name, slices.Sorted(maps.Keys(sameAs))))
	own := m.Info().Name
	same := sameAs[own]
	refuse(own == "rnm-laplace", "{"+field+"} rnm-laplace: only an upper bound of its privacy profile is proved; take rnm-exponential, which is permute-and-flip, or rnm-gumbel, which is em")
	refuse(!m.Info().Uniform, "{"+field+"} %s: is for unequal sensitivities, and what its selections cost together is not known; take em or pf with the largest sensitivity", own)
	refuse(same == "", "{"+field+"} %s: its privacy profile is not known for all real scores; give em, pf, geo, krr, rnm-gumbel or rnm-exponential", own)
	candidates := cmp.Or(c.Candidates, c.N)
	refuse(same == "krr" && candidates < 2, "{candidates} is missing or below 2: krr needs its number of candidates")
	refuse(same == "krr" && candidates > 1e9, "{candidates} %d: give at most 1e9", candidates)
	if c.Monotonic {
		oneWay([]mechanisms.Mechanism{m}, one)
	}
	refuse(c.Step == "" && c.has(own), "{mechanism} %s: stands there twice; give each mechanism once", name)
	kind := compose.Kind{Mechanism: same, Candidates: candidates}
	if eps != "" {
		kind.Eps = must(number.FromEpsilon(within(epsField, eps, fmt.Sprintf("a decimal above 0 and at most %d, such as 0.1", mostStepEps), func(x *big.Rat) bool {
			return x.Sign() > 0 && x.Cmp(big.NewRat(mostStepEps, 1)) <= 0
		})))
	}
	c.problem.Steps = append(c.problem.Steps, compose.Step{Kind: kind})
	c.doc.Steps = append(c.doc.Steps, document.ComposeStep{Mechanism: own, Eps: eps})
}

// has reports whether a step is of a mechanism.
func (c *composing) has(mechanism string) bool {
	return slices.ContainsFunc(c.doc.Steps, func(st document.ComposeStep) bool { return st.Mechanism == mechanism })
}

// times sets the number of selections of the last step.
func (c *composing) times(count int) {
	last := len(c.doc.Steps) - 1
	c.problem.Steps[last].Count, c.doc.Steps[last].Count = count, count
}

// mostStepEps and mostSelections bound what is composed.
const mostStepEps, mostSelections = 100, 1e6

func (q *Compose) read(in *reading) *composing {
	c := &composing{reading: in, Compose: q, find: q.Eps == "" && q.Step == "", doc: &document.Compose{Adversary: q.Adversary, N: q.N, K: q.K}}
	find, p := c.find, &c.problem
	p.Equal, p.Prove = oneOf("adversary", q.Adversary, "adaptive", "equal"), in.Certificate
	count := c.readSteps()
	if q.Delta != "" {
		c.delta = within("delta", q.Delta, fmt.Sprintf("a decimal or a fraction above 0 and below 1, such as 1e-6, at least %g: below that rounding errors add up to more", compose.LeastDelta), func(x *big.Rat) bool {
			f, _ := x.Float64()
			return f >= compose.LeastDelta && x.Cmp(one) < 0
		})
	}
	if q.Total != "" {
		c.total = within("total-eps", q.Total, "a decimal >= 0 such as 2", notNegative)
	}
	refuse(q.Candidates != 0 && !c.has("krr"), "{candidates}: is for krr; leave it out")
	refuse(q.Delta == "" && q.Total == "", "{delta} or {total-eps} is missing: give δ, such as {delta} 1e-6, to find ε in total, or ε in total to find δ")
	refuse(!find && q.Delta != "" && q.Total != "", "{delta} and {total-eps}: give one of them, and the other one is found; with both leave {eps} out, and the largest ε of a step is found")
	refuse(find && (q.Delta == "" || q.Total == ""), "{eps} is missing: give ε of each selection; or {total-eps} and {delta}, both, and the largest ε is found")
	refuse(find && c.total.Sign() == 0, "{total-eps} 0: give a decimal above 0")
	refuse(q.Step == "" && len(p.Steps) > 1 && !find, "{mechanism}: several are compared at their largest ε: leave {eps} out, and give {total-eps} and {delta}")
	refuse(in.Certificate && find && len(p.Steps) > 1, "{cert}: certifies the largest ε of one mechanism; give one {mechanism}")
	refuse((q.N > 0 || q.K > 0) && !find, "{n}: errors are those at the largest ε: leave {eps} out, and give {total-eps} and {delta}")
	refuse((q.N > 0) != (q.K > 0), "{n} and {k} go together: give both, or neither")
	refuse(count > mostSelections, "{T}: %d selections are too many, give at most %d", count, int(mostSelections))
	refuse(p.Equal && q.Step != "" && len(p.Steps) > 1, "{adversary} equal: the steps are different, and so are the queries; leave it out, or give one {step}")
	p.Gap, _ = relativeGap(cmp.Or(q.Gap, Choose(count <= 20, "1e-4", "3e-3"))).Float64()
	return c
}

// readSteps reads which mechanisms make how many selections, and returns how many are made together.
func (c *composing) readSteps() (count int) {
	if c.Step == "" {
		refuse(c.Mechanism == "", "{mechanism} is missing: give em, pf, geo, krr, rnm-gumbel or rnm-exponential; or {step}, for different ones")
		refuse(c.T < 1, "{T} is missing or 0: give the number of selections, at least 1")
		for _, name := range must(SplitNames("mechanism", c.Mechanism)) {
			c.step("mechanism", name, "eps", c.Eps)
			c.times(c.T)
		}
		return c.T
	}
	refuse(c.Mechanism != "" || c.Eps != "" || c.T != 0, "{step}: says mechanism, ε and number; leave {mechanism}, {eps} and {T} out")
	for text := range strings.SplitSeq(string(c.Step), ",") {
		parts := strings.Split(text, ":")
		refuse(len(parts) != 3, "{step} %s: give MECHANISM:EPS:COUNT, such as em:0.1:10", escape.Quoted(text))
		c.step("step", parts[0], "step", parts[1])
		times, err := strconv.Atoi(parts[2])
		refuse(err != nil || times < 1 || times > mostSelections, "{step} %s: the number of selections is a whole number from 1 to %d", escape.Quoted(text), int(mostSelections))
		c.times(times)
		count += times
	}
	return count
}

func (q *Compose) answer(in *reading) *Answer {
	c := q.read(in)
	begin := time.Now()
	var longest number.Epsilon // the ε of a step with the most digits
	for _, st := range c.problem.Steps {
		if x := st.Kind.Eps.Eps(); x != nil && (longest.Eps() == nil || x.Denom().Cmp(longest.Eps().Denom()) > 0) {
			longest = st.Kind.Eps
		}
	}
	in.begin(fmt.Sprintf("T = %d", q.T), longest)
	c.problem.Report = in.report
	c.doc.Assumptions = []string{
		"each selection's data, queries and neighbor may depend on the answers before, its mechanism and ε may not",
		"all real scores of any number of candidates" + Choose(c.has("krr"), fmt.Sprintf(" (krr: %d)", cmp.Or(q.Candidates, q.N)), "") + " with one sensitivity Δ" + Choose(q.Monotonic, ", and neighbors that move all scores one way: mechanisms run with Δ for 2Δ", ""),
		"no subsampling; the sampler has the exact distribution",
	}
	a := &Answer{Documents: []document.Document{c.doc}}
	solve := c.cost
	if c.find {
		solve = c.largest
	}
	found := solve()
	a.Certificate = found.WriteCertificate
	if found != nil && found.Exports() && !c.find {
		a.Export = found.Export
	}
	c.doc.Seconds, a.Undecided = time.Since(begin).Seconds(), c.doc.Undecided
	return a
}

// cost finds ε in total, or δ.
func (c *composing) cost() *compose.Answer {
	given, most, solve, asked, other := c.total, one, c.problem.Delta, &c.doc.Delta, &c.doc.EpsTotal
	if c.delta != nil {
		given, most, solve, asked, other = c.delta, c.problem.Basic(), c.problem.Eps, other, asked
	}
	a := settled(c.reading, func() *compose.Answer { return must(solve(c.ctx, given)) }, func(why string) *compose.Answer { c.doc.Undecided = why; return nil })
	*asked, *other = number.Bounds(new(big.Rat), most), number.Exact(given)
	if a != nil {
		*asked = number.Enclosed(number.Hull(a.Lower, a.Upper))
		c.show(a)
		if a.Stopped != nil {
			c.doc.Undecided = a.Stopped.Error()
		}
	}
	if c.delta != nil {
		c.doc.Generic = c.generic()
	}
	return a
}

// show says how an answer was found.
func (c *composing) show(a *compose.Answer) {
	c.doc.Method, c.doc.Block, c.doc.Attack = a.Method, a.Block, attackOf(a)
}

// attackOf says which attack attains the lower end, nil where that is 0.
func attackOf(a *compose.Answer) *document.ComposeAttack {
	switch e := a.Attack; {
	case a.Lower.Lo().Sign() == 0:
		return nil
	case e != nil && e.X == 0 && (e.Kind.Mechanism == "geo" || e.Kind.Mechanism == "krr"), a.Method == "convolution":
		return &document.ComposeAttack{Kind: "fixed"}
	case a.Queries() != nil:
		return &document.ComposeAttack{Kind: "equal", Each: a.Queries()}
	case e != nil:
		return &document.ComposeAttack{Kind: "equal", Apart: e.X / e.Kind.Eps.Float(), Most: &e.Most}
	}
	return &document.ComposeAttack{Kind: "adaptive"}
}

// generic is what other accounting gives.
func (c *composing) generic() *document.Generic {
	kov := compose.Problem{Gap: c.problem.Gap}
	for _, st := range c.problem.Steps {
		st.Mechanism = "geo"
		kov.Steps = append(kov.Steps, st)
	}
	delta, _ := c.delta.Float64()
	const how = "closed form in floating point"
	g := &document.Generic{Basic: number.Exact(c.problem.Basic()), Range: number.Estimate(c.problem.ByRange(delta), how)}
	if !c.has("krr") { // whose tight ρ no theorem knows
		g.ZCDP = number.Estimate(c.problem.ByZCDP(delta), how)
	}
	if a, err := Settle(c.ctx, func() (*compose.Answer, error) { return kov.Eps(c.ctx, c.delta) }, func(string) *compose.Answer { return nil }); err == nil && a != nil {
		g.KOV = number.Enclosed(number.Hull(a.Lower, a.Upper))
	}
	return g
}

// largest finds the largest ε of a step of each mechanism. It returns what shows the lower end, of the last one.
func (c *composing) largest() (shown *compose.Answer) {
	c.doc.EpsTotal, c.doc.Delta = number.Exact(c.total), number.Exact(c.delta)
	for i, step := range c.doc.Steps {
		p, name := c.problem, step.Mechanism
		p.Steps = p.Steps[i : i+1]
		found := settled(c.reading, func() *compose.Parameter { return must(p.Largest(c.ctx, c.total, c.delta)) }, func(why string) *compose.Parameter {
			basic := new(big.Rat).Quo(c.total, big.NewRat(int64(c.T), 1)) // private by basic composition
			return &compose.Parameter{Lower: basic, Stopped: errors.New(why)}
		})
		row := document.Composed{Name: name, Parameter: number.Bounds(found.Lower, found.Upper)}
		shown = found.Shown
		if found.Stopped != nil {
			c.doc.Undecided = name + ": " + found.Stopped.Error()
		}
		if c.N > 0 {
			row.Error = c.meanError(name, found.Lower)
		}
		c.doc.Mechanisms = append(c.doc.Mechanisms, row)
	}
	if len(c.doc.Steps) == 1 {
		c.doc.Parameter = &c.doc.Mechanisms[0].Parameter
		if c.N == 0 {
			c.doc.Mechanisms = nil
		}
		if shown != nil {
			c.show(shown)
		}
		return shown
	}
	if c.N > 0 {
		slices.SortStableFunc(c.doc.Mechanisms, func(a, b document.Composed) int { return cmp.Compare(a.Error.Float64(), b.Error.Float64()) })
	}
	return nil
}

func (c *composing) meanError(name string, eps *big.Rat) number.Number {
	unknown := func(why string) number.Number {
		c.doc.Undecided = why
		return number.Bounds(new(big.Rat), big.NewRat(int64(c.K), 1))
	}
	mean, err := Settle(c.ctx, func() (number.Number, error) {
		return lp.MeanError(c.ctx, must(mechanisms.Lookup(name)), c.N, c.K, lp.Prior{}, must(number.FromEpsilon(eps)))
	}, unknown)
	if err != nil { // such as a lattice that is too large
		return unknown(err.Error())
	}
	return mean
}
