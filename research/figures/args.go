package figures

import (
	"errors"
	"fmt"
	"maps"
	"math"
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

// Int returns a whole number from least to most.
func (a *Args) Int(name string, least, most int) int {
	v, err := strconv.Atoi(a.Text(name))
	if err != nil || v < least || v > most {
		a.fail(name, fmt.Sprintf("give a whole number from %d to %d", least, most))
	}
	return v
}

// Floats returns a list of numbers for which ok holds, in which from:to:step stands for a range; remedy says what that means.
func (a *Args) Floats(name string, ok func(float64) bool, remedy string) (out []float64) {
	list, err := decimal.ParseList(a.Text(name), 1000)
	for _, r := range list {
		x, _ := r.Float64()
		if out = append(out, x); !ok(x) || math.IsInf(x, 0) {
			err = ErrParameter
		}
	}
	if err != nil {
		a.fail(name, remedy)
	}
	return out
}

// Float returns one such number.
func (a *Args) Float(name string, ok func(float64) bool, remedy string) float64 {
	list := a.Floats(name, ok, remedy)
	if len(list) != 1 || strings.Contains(a.Text(name), ":") {
		a.fail(name, remedy)
	}
	return list[0]
}

// Rat is Float, exactly.
func (a *Args) Rat(name string, ok func(float64) bool, remedy string) *big.Rat {
	a.Float(name, ok, remedy)
	return must(decimal.ParseList(a.Text(name), 1))[0]
}

// Ints returns a list of whole numbers, each from least to most: 2,3,8 or 2:6.
func (a *Args) Ints(name string, least, most int) (out []int) {
	remedy := fmt.Sprintf("give whole numbers from %d to %d, separated by commas, or a range such as %d:%d", least, most, least, least+1)
	whole := func(x float64) bool { return x == math.Trunc(x) && x >= float64(least) && x <= float64(most) }
	for _, x := range a.Floats(name, whole, remedy) {
		out = append(out, int(x))
	}
	return out
}

// Range returns the ends of from:to, which least <= from < to <= 1e6.
func (a *Args) Range(name string, least float64) (from, to float64) {
	left, right, ok := strings.Cut(a.Text(name), ":")
	x, err := decimal.ParseNumber(left)
	y, err2 := decimal.ParseNumber(right)
	if !ok || err != nil || err2 != nil {
		a.fail(name, "give from:to, such as 0.01:10")
	}
	from, _ = x.Float64()
	to, _ = y.Float64()
	if !(from >= least && from < to && to <= greatest) {
		a.fail(name, fmt.Sprintf("give from:to with %s <= from < to <= 1e6", digits(least)))
	}
	return from, to
}

// Epsilon returns an ε > 0.
func (a *Args) Epsilon(name string) number.Epsilon {
	return exactly(a.Float(name, positive, wantPositive))
}

// positive and the like are what Float and Floats check. Nothing that is drawn needs numbers beyond smallest and greatest.
func positive(x float64) bool    { return x >= smallest && x <= greatest }
func probability(x float64) bool { return x >= 0 && x <= 1 }

const (
	smallest, greatest = 1e-6, 1e6

	wantPositive    = "give a number from 1e-6 to 1e6"
	wantPositives   = "give numbers from 1e-6 to 1e6, separated by commas"
	wantProbability = "give a number from 0 to 1"
)

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
