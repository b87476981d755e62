package figures

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/mechanisms"
	"optratio/mechanisms/totals"
)

// ErrParameter is wrapped by errors about parameters of figures. The message names the parameter and the remedy.
var ErrParameter = errors.New("bad parameter")

// Param is a parameter of a figure that its source leaves open, or that is of interest.
type Param struct {
	Name, Default, Usage string
}

// Args are the values of a figure's parameters.
type Args struct {
	// ReadHistogram reads the counts of a histogram's bins. It has to be set for parameters that name files.
	ReadHistogram func(path string) ([]int64, error)

	values map[string]string
	report Report
}

// NewArgs returns the values given, by name, and defaults for the others. A name that the figure does not have is an error.
func (s *Spec) NewArgs(given map[string]string, report Report) (*Args, error) {
	a := &Args{values: map[string]string{}, report: report}
	var names []string
	for _, p := range s.Params {
		a.values[p.Name] = p.Default
		names = append(names, flagName(p.Name))
	}
	for name, value := range given {
		if _, known := a.values[name]; !known {
			has := "it has no parameters"
			if names != nil {
				has = "it has " + strings.Join(names, ", ")
			}
			return nil, fmt.Errorf("%w: %s: figure %s has no such parameter; %s", ErrParameter, flagName(name), s.Name, has)
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

// Flag is the parameter's flag on the command line.
func (p Param) Flag() string {
	if len(p.Name) == 1 {
		return "-" + p.Name
	}
	return "--" + p.Name
}

func flagName(name string) string { return Param{Name: name}.Flag() }

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
	ensure(fmt.Errorf("%w: %s %q: %s", ErrParameter, flagName(name), a.Text(name), remedy))
}

// step tells how far the computation is.
func (a *Args) step(done, total int) {
	if a.report != nil {
		a.report(done, total)
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

// Seed returns the seed of a simulation.
func (a *Args) Seed() uint64 {
	v, err := strconv.ParseUint(a.Text("seed"), 10, 64)
	if err != nil {
		a.fail("seed", "give a whole number >= 0")
	}
	return v
}

// Float returns a number for which ok holds; remedy says what that means.
func (a *Args) Float(name string, ok func(float64) bool, remedy string) float64 {
	return a.list(name, 1, ok, remedy)[0]
}

// Rat is Float, exactly.
func (a *Args) Rat(name string, ok func(float64) bool, remedy string) *big.Rat {
	a.Float(name, ok, remedy)
	return must(decimal.ParseList(a.Text(name), 1))[0]
}

// Floats returns a list of numbers, in which from:to:step stands for a range.
func (a *Args) Floats(name string, ok func(float64) bool, remedy string) []float64 {
	return a.list(name, 1000, ok, remedy)
}

func (a *Args) list(name string, most int, ok func(float64) bool, remedy string) []float64 {
	list, err := decimal.ParseList(a.Text(name), most)
	out := make([]float64, len(list))
	for i, r := range list {
		if out[i], _ = r.Float64(); !ok(out[i]) || math.IsInf(out[i], 0) {
			err = ErrParameter
		}
	}
	if err != nil || most == 1 && strings.Contains(a.Text(name), ":") {
		a.fail(name, remedy)
	}
	return out
}

// Ints returns a list of whole numbers, each from least to most: 2,3,8 or 2:6.
func (a *Args) Ints(name string, least, most int) []int {
	remedy := fmt.Sprintf("give whole numbers from %d to %d, separated by commas, or a range such as %d:%d", least, most, least, least+1)
	whole := func(x float64) bool { return x == math.Trunc(x) && x >= float64(least) && x <= float64(most) }
	var out []int
	for _, x := range a.Floats(name, whole, remedy) {
		out = append(out, int(x))
	}
	return out
}

// Range returns the ends of from:to, both positive where that is asked for.
func (a *Args) Range(name string, positive bool) (from, to float64) {
	left, right, ok := strings.Cut(a.Text(name), ":")
	x, err := decimal.ParseNumber(left)
	y, err2 := decimal.ParseNumber(right)
	if !ok || err != nil || err2 != nil {
		a.fail(name, "give from:to, such as 0.01:10")
	}
	from, _ = x.Float64()
	to, _ = y.Float64()
	least := -greatest
	if positive {
		least = smallest
	}
	if !(from >= least && from < to && to <= greatest) {
		a.fail(name, fmt.Sprintf("give from:to with %s <= from < to <= 1e6", map[bool]string{true: "1e-6", false: "-1e6"}[positive]))
	}
	return from, to
}

// Objective returns the parameter objective.
func (a *Args) Objective() totals.Objective {
	o, err := totals.ParseObjective(a.Text("objective"))
	if err != nil {
		a.fail("objective", "give paper or box")
	}
	return o
}

// Epsilons returns a list of ε > 0, and how each is shown.
func (a *Args) Epsilons(name string) (list []mechanisms.Epsilon, shown []string) {
	for _, x := range a.Floats(name, positive, wantPositives) {
		shown = append(shown, digits(x))
		list = append(list, exactly(x))
	}
	return list, shown
}

// Epsilon returns an ε > 0.
func (a *Args) Epsilon(name string) mechanisms.Epsilon {
	return exactly(a.Float(name, positive, wantPositive))
}

// positive and the like are what Float and Floats check. Nothing that is drawn needs numbers beyond smallest and greatest.
func positive(x float64) bool    { return x >= smallest && x <= greatest }
func moderate(x float64) bool    { return math.Abs(x) <= greatest }
func probability(x float64) bool { return x >= 0 && x <= 1 }

const (
	smallest, greatest = 1e-6, 1e6

	wantPositive    = "give a number from 1e-6 to 1e6"
	wantPositives   = "give numbers from 1e-6 to 1e6, separated by commas"
	wantModerate    = "give numbers of at most 1e6 either side of 0"
	wantProbability = "give a number from 0 to 1"
)

// texts yields the items of a list.
func (a *Args) texts(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text := range strings.SplitSeq(a.Text(name), ",") {
			if !yield(strings.TrimSpace(text)) {
				return
			}
		}
	}
}

// mechanismNames returns a list of registered mechanisms.
func (a *Args) mechanismNames(name string) []mechanisms.Mechanism {
	var out []mechanisms.Mechanism
	for text := range a.texts(name) {
		m, err := mechanisms.Lookup(text)
		if err != nil {
			a.fail(name, "give names that optratio mechanisms lists, separated by commas")
		}
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
