package report

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/recommend"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// curveSize is the number of orbits up to which a page has a curve over ε.
const curveSize = 200

// CurveFor computes the ratios of a job's mechanisms over ε, as the ratio command does for a list of ε; nil where that would take
// long or means nothing. do runs a command line with --json.
func CurveFor(printed []byte, do func(args []string) (printed []byte, ok bool)) *Curve {
	j, err := curveOver(printed)
	if err != nil || j.N > curveSize || j.K > curveSize || lattice.Orbits(j.N, j.K).Cmp(big.NewInt(curveSize)) > 0 {
		return nil
	}
	names := j.Names
	slices.Sort(names[min(1, len(names)):])
	names = slices.Compact(names)
	for _, name := range names {
		if _, err := mechanisms.Lookup(name); err != nil {
			return nil
		}
	}
	var list []string
	for i := 1; i <= 24; i++ {
		list = append(list, strconv.FormatFloat(float64(i)*0.05*spacing(j.Eps.Float64()), 'f', 2, 64))
	}
	args := []string{"ratio", "-n", strconv.Itoa(j.N), "-k", strconv.Itoa(j.K), "--constraints", j.Constraints, "--mechanism", strings.Join(names, ","), "--eps", strings.Join(list, ",")}
	answers, ok := do(append(slices.Clone(args), "--time-limit", "20s"))
	if !ok {
		return nil
	}
	curve, err := curveOf(answers)
	if err != nil {
		return nil
	}
	if slices.Contains(names, "pf") {
		var sharp struct {
			Upper number.Number
			Proof string
		}
		args := []string{"threshold", "-n", strconv.Itoa(j.N), "-k", strconv.Itoa(j.K), "--constraints", j.Constraints, "--time-limit", "20s"}
		if answer, ok := do(args); ok && json.Unmarshal(answer, &sharp) == nil && sharp.Upper.Float64() > 0 {
			curve.Sharp = &sharp.Upper
		}
	}
	curve.At, curve.Command = j.Eps, "optratio "+strings.Join(args, " ")
	return curve
}

// ErrorsFor computes the expected errors of the mechanisms of a recommendation over ε: of those of its picture, and of pf and em where they were
// compared. line is its command line without mechanisms and ε, eps the flag and value of its ε.
func ErrorsFor(printed []byte, line, eps []string, do func(args []string) (printed []byte, ok bool)) *Curve {
	var d recommend.Recommendation
	if json.Unmarshal(printed, &d) != nil || len(d.Mechanisms) < 2 {
		return nil
	}
	var names, familiar []string // the first four are drawn
	for i, m := range d.Mechanisms {
		switch {
		case i < 2:
			names = append(names, m.Name)
		case m.Name == "pf" || m.Name == "em":
			familiar = append(familiar, m.Name)
		}
	}
	names = append(names, familiar...)
	for _, m := range d.Mechanisms[:min(mostCompared, len(d.Mechanisms))] {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	c := &Curve{Names: names, Errors: true, At: parameter(eps[1], eps[0] == "--exp-eps")}
	line = append(slices.Clone(line), "--mechanism", strings.Join(names, ","))
	for i := 1; i <= 12; i++ {
		at := strconv.FormatFloat(float64(i)*0.1*spacing(c.At.Float64()), 'f', 1, 64)
		printed, ok := do(append(slices.Clone(line), "--eps", at, "--time-limit", "5s"))
		var d recommend.Recommendation
		if !ok || json.Unmarshal(printed, &d) != nil {
			return nil
		}
		found := map[string]number.Number{}
		for _, m := range d.Mechanisms {
			found[m.Name] = m.ExpectedError
		}
		var values []number.Number
		for _, name := range names {
			if _, answered := found[name]; !answered {
				return nil
			}
			values = append(values, found[name])
		}
		c.Eps, c.Values = append(c.Eps, parameter(at, false)), append(c.Values, values)
	}
	c.Command = "optratio " + strings.Join(line, " ") + " --eps " + c.Eps[0].String()
	return c
}

// spacing returns how many times 0.05 the points of a curve are apart, so that the job's ε is near its middle.
func spacing(eps float64) float64 { return float64(min(max(1, int(2*eps+0.999)), 8)) }
