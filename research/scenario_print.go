package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/command"
	"optratio/number"
	"optratio/research/scenario"
)

// scenarioDoc is the JSON document of a study of scenarios.
type scenarioDoc struct {
	Seed      uint64          `json:"seed"`
	Draws     int             `json:"draws"`
	Trials    int             `json:"trials"`
	Scenarios []*scenarioPart `json:"scenarios"`
	Worst     []worstFactor   `json:"worst"` // of every mechanism, over all that was rated, least first
	Undecided string          `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (scenarioDoc) Schema() string { return "research.scenario/1" }

// epsText is an ε as it was given: ε itself or e^ε.
type epsText struct {
	Eps    *string `json:"eps"`
	ExpEps *string `json:"exp_eps"`
}

func (e epsText) String() string {
	if e.Eps != nil {
		return *e.Eps
	}
	return *e.ExpEps
}

// name is the letter for it.
func (e epsText) name() string { return command.Choose(e.Eps != nil, "ε", "e^ε") }

// cells are the two columns of a CSV file.
func (e epsText) cells() []string {
	if e.Eps != nil {
		return []string{*e.Eps, ""}
	}
	return []string{"", *e.ExpEps}
}

// scenarioPart is one scenario at every ε.
type scenarioPart struct {
	Scenario   string        `json:"scenario"`
	Summary    string        `json:"summary"`
	Share      string        `json:"share,omitempty"` // of candidates with the higher score
	Candidates int           `json:"candidates"`
	Trials     int           `json:"trials"`
	Spearman   number.Number `json:"spearman"`
	Rows       []scenarioRow `json:"rows"`
	Advice     []adviceDoc   `json:"advice"`
	Unanswered []string      `json:"unanswered,omitempty"`
}

type scenarioRow struct {
	epsText
	Mechanism   string         `json:"mechanism"`
	Private     bool           `json:"private"`
	MSE         number.Number  `json:"mse"`
	MSEStdErr   *number.Number `json:"mse_std_err"` // null for one trial
	Error       number.Number  `json:"expected_error"`
	ErrorStdErr *number.Number `json:"expected_error_std_err"`
}

// adviceDoc says what is best at one ε, by mean squared error.
type adviceDoc struct {
	epsText
	Best    string       `json:"best"`
	MSE     float64      `json:"-"`
	AsGood  []string     `json:"as_good"`
	Factors []factorOver `json:"factors"`
}

// factorOver is a mechanism's mean squared error over that of the best private one.
type factorOver struct {
	Mechanism string        `json:"mechanism"`
	Private   bool          `json:"private"`
	Factor    number.Number `json:"factor"`
}

type worstFactor struct {
	factorOver
	Scenario string `json:"scenario"`
	Share    string `json:"share,omitempty"`
	epsText
}

// add notes the ratings of one ε.
func (p *scenarioPart) add(eps epsText, ratings []scenario.Rating, unanswered []string) {
	for _, r := range ratings {
		row := scenarioRow{epsText: eps, Mechanism: r.Mechanism, Private: r.Private, MSE: r.MSE, Error: r.Error}
		if p.Trials > 1 {
			mse, plain := number.Estimate(r.MSEStdErr, "standard error"), number.Estimate(r.ErrorStdErr, "standard error")
			row.MSEStdErr, row.ErrorStdErr = &mse, &plain
		}
		p.Rows = append(p.Rows, row)
	}
	for _, line := range unanswered {
		p.Unanswered = append(p.Unanswered, eps.name()+" = "+eps.String()+": "+line)
	}
	a := scenario.Advise(ratings)
	doc := adviceDoc{epsText: eps, Best: a.Best, MSE: a.MSE, AsGood: append([]string{}, a.AsGood...)}
	for _, r := range ratings {
		if factor, ok := a.Factors[r.Mechanism]; ok {
			doc.Factors = append(doc.Factors, factorOver{r.Mechanism, r.Private, estimateOrInfinity(factor)})
		}
	}
	p.Advice = append(p.Advice, doc)
}

func estimateOrInfinity(x float64) number.Number {
	if math.IsInf(x, 1) {
		return number.Infinity()
	}
	return number.Estimate(x, "quotient of estimates")
}

// factor returns a mechanism's factor, NaN where it has none.
func (a *adviceDoc) factor(mechanism string) float64 {
	for _, f := range a.Factors {
		if f.Mechanism == mechanism {
			return f.Factor.Float64()
		}
	}
	return math.NaN()
}

// conclude finds each mechanism's worst factor.
func (d *scenarioDoc) conclude() {
	worst := map[string]worstFactor{}
	for _, p := range d.Scenarios {
		for _, a := range p.Advice {
			for _, f := range a.Factors {
				if w, ok := worst[f.Mechanism]; !ok || f.Factor.Float64() > w.Factor.Float64() {
					worst[f.Mechanism] = worstFactor{f, p.Scenario, p.Share, a.epsText}
				}
			}
		}
	}
	d.Worst = []worstFactor{}
	for _, w := range worst {
		d.Worst = append(d.Worst, w)
	}
	slices.SortFunc(d.Worst, func(a, b worstFactor) int {
		return cmp.Or(cmp.Compare(a.Factor.Float64(), b.Factor.Float64()), cmp.Compare(a.Mechanism, b.Mechanism))
	})
}

// csv writes every number, one line for each scenario, ε and mechanism.
func (d *scenarioDoc) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"scenario", "share", "eps", "exp_eps", "mechanism", "private", "mse_lower", "mse_upper", "mse_std_err", "error_lower", "error_upper", "error_std_err"})
	stdErr := func(x *number.Number) string {
		if x == nil {
			return ""
		}
		return floatText(x.Float64())
	}
	for _, p := range d.Scenarios {
		for _, r := range p.Rows {
			mseLower, mseUpper := ends(r.MSE)
			lower, upper := ends(r.Error)
			_ = c.Write(slices.Concat([]string{p.Scenario, p.Share}, r.cells(), []string{
				r.Mechanism, strconv.FormatBool(r.Private), mseLower, mseUpper, stdErr(r.MSEStdErr), lower, upper, stdErr(r.ErrorStdErr),
			}))
		}
	}
	c.Flush()
	return c.Error()
}

func floatText(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }

// ends returns the bounds of a number as decimals, twice the same for an estimate.
func ends(x number.Number) (lower, upper string) {
	if lower, upper, ok := x.Strings(); ok {
		return lower, upper
	}
	return floatText(x.Float64()), floatText(x.Float64())
}

// usual are the mechanisms whose factors the last table shows when all are rated.
var usual = []string{"em", "pf", "pf-pair", "rnm-laplace", "krr", "gem", "mgem", "combined-gem", "rs", "uniform"}

// print writes the tables for people; the last ones have all private mechanisms where these were chosen by name.
func (d *scenarioDoc) print(w io.Writer, f *scenarioFlags) {
	for _, p := range d.Scenarios {
		if f.summary {
			break
		}
		p.print(w, f.by, d)
	}
	fmt.Fprintln(w, "best private mechanism by mean squared error, and the factor by which the others exceed it")
	t := command.Table(w, 2)
	columns := d.columns(f.mechanism != "all")
	letter := "ε"
	if len(d.Worst) > 0 {
		letter = d.Worst[0].name()
	}
	fmt.Fprintf(t, "scenario\t%s\tbest\tits error\t%s\tas good\n", letter, strings.Join(columns, "\t"))
	for _, p := range d.Scenarios {
		for _, a := range p.Advice {
			if a.Best == "" {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s", p.name(), a, a.Best, digits(a.MSE))
			for _, c := range columns {
				fmt.Fprintf(t, "\t%s", factorText(a.factor(c)))
			}
			fmt.Fprintf(t, "\t%s\n", cmp.Or(strings.Join(a.AsGood, " "), "-"))
		}
	}
	t.Flush()
	fmt.Fprintln(w, "\nnever far off: the largest of these factors, over all of the above")
	t = command.Table(w, 2)
	for _, f := range d.Worst {
		if f.Private {
			at := command.Choose(f.Share == "", f.Scenario, f.Scenario+" ("+f.Share+" high)")
			fmt.Fprintf(t, "%s\t%s\tat scenario %s, %s = %s\n", f.Mechanism, factorText(f.Factor.Float64()), at, f.name(), f.epsText)
		}
	}
	t.Flush()
}

// name is the scenario's, with its split where that is not half and half.
func (p *scenarioPart) name() string {
	if p.Share == "" || p.Share == "0.5" {
		return p.Scenario
	}
	return p.Scenario + " (" + p.Share + ")"
}

// columns are the mechanisms of the last table.
func (d *scenarioDoc) columns(named bool) (out []string) {
	for _, f := range d.Worst {
		if f.Private && (named || slices.Contains(usual, f.Mechanism)) {
			out = append(out, f.Mechanism)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(usual, a), slices.Index(usual, b)), cmp.Compare(a, b))
	})
	return out
}

// print writes one scenario: a line for each mechanism, a column for each ε.
func (p *scenarioPart) print(w io.Writer, by string, d *scenarioDoc) {
	fmt.Fprintf(w, "scenario %s: %s", p.Scenario, p.Summary)
	if p.Share != "" {
		fmt.Fprintf(w, " (share with the higher score %s)", p.Share)
	}
	fmt.Fprintf(w, "\n%d candidates; rank correlation of scores and sensitivities %.2f\n", p.Candidates, p.Spearman.Float64())
	value := func(r scenarioRow) float64 {
		if by == "error" {
			return r.Error.Float64()
		}
		return r.MSE.Float64()
	}
	fmt.Fprint(w, command.Choose(by == "error", "expected error, in units of the scores", "mean squared error, in squared units of the scores"))
	if p.Trials > 1 {
		largest := 0.0
		for _, r := range p.Rows {
			stdErr := r.MSEStdErr
			if by == "error" {
				stdErr = r.ErrorStdErr
			}
			if v := value(r); v > 0 {
				largest = max(largest, stdErr.Float64()/v)
			}
		}
		fmt.Fprintf(w, ": mean of %d trials of %d drawn, seed %d; standard errors are at most %.0f %% of it", p.Trials, d.Draws, d.Seed, math.Ceil(100*largest))
	}
	fmt.Fprint(w, "\n\n")
	t := command.Table(w, 2)
	fmt.Fprint(t, "mechanism")
	for _, a := range p.Advice {
		fmt.Fprintf(t, "\t%s = %s", a.name(), a)
	}
	fmt.Fprintln(t)
	for _, private := range []bool{true, false} {
		lines := p.lines(private, value)
		if !private && len(lines) > 0 {
			fmt.Fprintln(t, "not ε-DP:")
		}
		for _, l := range lines {
			fmt.Fprintf(t, "%s\t%s\n", strings.Join(l.names, " = "), strings.Join(l.cells, "\t"))
		}
	}
	t.Flush()
	for _, line := range p.Unanswered {
		fmt.Fprintf(w, "no answer at %s\n", line)
	}
	fmt.Fprintln(w)
}

// tableLine is one line of a table: mechanisms whose errors are the same at every ε.
type tableLine struct {
	names, cells []string
	values       []float64
}

// lines returns the lines of the private mechanisms, or of the others.
func (p *scenarioPart) lines(private bool, value func(scenarioRow) float64) (out []*tableLine) {
	byName := map[string]*tableLine{}
	var names []string
	for _, r := range p.Rows {
		if r.Private != private {
			continue
		}
		l := byName[r.Mechanism]
		if l == nil {
			l = &tableLine{cells: slices.Repeat([]string{"-"}, len(p.Advice)), values: make([]float64, len(p.Advice))}
			byName[r.Mechanism], names = l, append(names, r.Mechanism)
		}
		at := slices.IndexFunc(p.Advice, func(a adviceDoc) bool { return a.String() == r.String() })
		l.cells[at], l.values[at] = digits(value(r)), value(r)
	}
	for _, name := range names {
		l := byName[name]
		same := slices.IndexFunc(out, func(o *tableLine) bool { return slices.Equal(o.cells, l.cells) && slices.Equal(o.values, l.values) })
		if same < 0 {
			out, same = append(out, l), len(out)
		}
		out[same].names = append(out[same].names, name)
	}
	return out
}

// digits writes four significant digits.
func digits(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// factorText writes a factor for people: 1.00, 12.3, 4e+07.
func factorText(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case x < 100:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// gainDoc is the JSON document of a map of gains.
type gainDoc struct {
	Mechanisms [2]string   `json:"mechanisms"`
	Points     []gainPoint `json:"points"`
	Undecided  string      `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (gainDoc) Schema() string { return "research.gain/1" }

type gainPoint struct {
	epsText
	Gap    string        `json:"gap"`
	Delta1 string        `json:"delta1"` // of the worse candidate
	Delta2 string        `json:"delta2"` // of the better one
	Gain   number.Number `json:"gain"`
}

func (d *gainDoc) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"mechanism", "other", "eps", "exp_eps", "gap", "delta1", "delta2", "gain"})
	for _, p := range d.Points {
		gain := math.Round(p.Gain.Float64()*1e12)/1e12 + 0 // what is smaller is rounding, and 0 has no sign
		_ = c.Write(slices.Concat(d.Mechanisms[:], p.cells(), []string{p.Gap, p.Delta1, p.Delta2, floatText(gain)}))
	}
	c.Flush()
	return c.Error()
}
