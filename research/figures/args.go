package figures

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/mechanisms"
	"optratio/number"
)

// ErrParameter is wrapped by errors about parameters of figures. The message names the parameter and the remedy.
var ErrParameter = errors.New("bad parameter")

// Param is a parameter of a figure that its source leaves open, or that is of interest.
type Param struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Usage   string `json:"usage"`
}

// Flag is the parameter's flag on the command line.
func (p Param) Flag() string {
	if len(p.Name) == 1 {
		return "-" + p.Name
	}
	return "--" + p.Name
}

// Args are the values of a figure's parameters.
type Args struct {
	values      map[string]string
	report      Report
	done, total int
}

// NewArgs returns the values given, by name, and defaults for the others. A name that the figure does not have is an error.
func (s *Spec) NewArgs(given map[string]string, report Report) (*Args, error) {
	a := &Args{values: map[string]string{}, report: report}
	var names []string
	for _, p := range s.Params {
		a.values[p.Name] = p.Default
		names = append(names, p.Flag())
	}
	for name, value := range given {
		if !s.Has(name) {
			return nil, fmt.Errorf("%w: %s: figure %s has no such parameter; it has %s", ErrParameter, Param{Name: name}.Flag(), s.Name, strings.Join(names, ", "))
		}
		a.values[name] = value
	}
	return a, nil
}

// Has reports whether the figure has a parameter of that name.
func (s *Spec) Has(name string) bool {
	return slices.ContainsFunc(s.Params, func(p Param) bool { return p.Name == name })
}

// Values returns all parameters.
func (a *Args) Values() map[string]string { return maps.Clone(a.values) }

// Text returns the value of a parameter.
func (a *Args) Text(name string) string {
	v, ok := a.values[name]
	if !ok {
		panic("figures: parameter " + name + " is not declared")
	}
	return v
}

// fail ends the figure: what was given for a parameter is wrong.
func (a *Args) fail(name, remedy string) {
	ensure(fmt.Errorf("%w: %s %q: %s", ErrParameter, Param{Name: name}.Flag(), a.Text(name), remedy))
}

// steps says of how many steps the computation is.
func (a *Args) steps(total int) { a.total = total }

// step tells that one more step is done.
func (a *Args) step() {
	if a.done++; a.report != nil {
		a.report(a.done, a.total)
	}
}

// numbers returns a list of numbers from least to most, in which from:to:step stands for a range; what says in words what they are, "a …" for a single one.
func (a *Args) numbers(name, what string, least, most float64) []*big.Rat {
	list, err := decimal.ParseList(a.Text(name), 1000)
	good := err == nil && (len(list) == 1 || !strings.HasPrefix(what, "a "))
	for _, r := range list {
		x, _ := r.Float64()
		good = good && x >= least && x <= most && (r.IsInt() || !strings.Contains(what, "whole"))
	}
	if !good {
		a.fail(name, fmt.Sprintf("give %s from %s to %s", what, digits(least), digits(most)))
	}
	return list
}

// Ints, Int, Floats, Float and Rat are numbers for Go.
func (a *Args) Ints(name string, least, most int) (out []int) {
	for _, r := range a.numbers(name, "whole numbers such as 2,3,8 or 2:6", float64(least), float64(most)) {
		out = append(out, int(r.Num().Int64()))
	}
	return out
}

func (a *Args) Int(name string, least, most int) int {
	return int(a.numbers(name, "a whole number", float64(least), float64(most))[0].Num().Int64())
}

func (a *Args) Floats(name string, least, most float64) (out []float64) {
	for _, r := range a.numbers(name, "numbers, separated by commas,", least, most) {
		x, _ := r.Float64()
		out = append(out, x)
	}
	return out
}

func (a *Args) Rat(name string, least, most float64) *big.Rat {
	return a.numbers(name, "a number", least, most)[0]
}

func (a *Args) Float(name string, least, most float64) float64 {
	x, _ := a.Rat(name, least, most).Float64()
	return x
}

// Range returns the ends of from:to, with least <= from < to <= most.
func (a *Args) Range(name string, least, most float64) (from, to float64) {
	left, right, ok := strings.Cut(a.Text(name), ":")
	for text, end := range map[string]*float64{left: &from, right: &to} {
		x, err := decimal.ParseNumber(text)
		if ok = ok && err == nil; ok {
			*end, _ = x.Float64()
		}
	}
	if !ok || !(from >= least && from < to && to <= most) {
		a.fail(name, fmt.Sprintf("give from:to with %s <= from < to <= %s", digits(least), digits(most)))
	}
	return from, to
}

// Epsilon returns an ε > 0.
func (a *Args) Epsilon(name string) number.Epsilon {
	return must(number.FromEpsilon(a.Rat(name, smallest, greatest)))
}

// Nothing that is drawn needs positive numbers beyond these.
const smallest, greatest = 1e-6, 1e6

// mechanismNames returns a list of registered mechanisms.
func (a *Args) mechanismNames(name string) (out []mechanisms.Mechanism) {
	for text := range strings.SplitSeq(a.Text(name), ",") {
		m, err := mechanisms.Lookup(strings.TrimSpace(text))
		if err != nil {
			a.fail(name, "give names that optratio mechanisms lists, separated by commas")
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// exactly returns the ε that is the given short decimal.
func exactly(x float64) number.Epsilon {
	return must(number.ParseEpsilon(strconv.FormatFloat(x, 'f', -1, 64)))
}
