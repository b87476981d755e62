package optimum

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// readyForm is a form of ready problems. Its inputs are vectors of counts: all those below the sizes that its parameters say.
type readyForm struct {
	form, about string
	least       []int // parameters
	sizes       func(a []int) []int
	problem     func(inputs [][]int) *Problem
}

var presets = []readyForm{
	{"count:N", "counts 0 to N, neighbors differ by 1; abs, uniform", []int{0}, plusOne, func(inputs [][]int) *Problem { return problemOf(inputs, beside).named("abs") }},
	{"krr:K", "K inputs, all neighbors; zero-one, uniform", []int{1}, slices.Clone[[]int], func(inputs [][]int) *Problem {
		return problemOf(inputs, func(p, q []int) bool { return true }).named("zero-one")
	}},
	{"grid:WxH", "cells x:y of a grid, side by side; the Manhattan distance, uniform", []int{1, 1}, slices.Clone[[]int], gridPreset},
	{"partition:N", "counts 0 to N of which 0 is never kept; dropping costs 1, uniform", []int{0}, plusOne, partitionPreset},
	{"selection:N,K", "score vectors of N candidates down to -K with best score 0; depth of the choice, uniform", []int{1, 1}, powers, selectionPreset},
	{"histogram:W,N", "W bins of 0 to N, neighbors differ by 1 in one; zero-one, uniform", []int{1, 1}, powers, func(inputs [][]int) *Problem {
		return problemOf(inputs, beside).named("zero-one")
	}},
}

func plusOne(a []int) []int { return []int{a[0] + 1} }
func powers(a []int) []int  { return slices.Repeat([]int{a[1] + 1}, min(a[0], 22)) } // 2^22 are too many

// Presets are the forms of ready problems, with what each is.
func Presets() (list [][2]string) {
	for _, p := range presets {
		list = append(list, [2]string{p.form, p.about})
	}
	return list
}

// mostInputs bounds those of presets.
const mostInputs = 1 << 12

// Preset returns a ready problem.
func Preset(text string) (*Problem, error) {
	var forms []string
	for _, p := range presets {
		forms = append(forms, p.form)
	}
	wrong := faultf("no such preset; give one of %s", strings.Join(forms, ", "))
	kind, rest, _ := strings.Cut(text, ":")
	at := slices.IndexFunc(presets, func(p readyForm) bool { return strings.HasPrefix(p.form, kind+":") })
	if at < 0 {
		return nil, wrong
	}
	form := presets[at]
	between := strings.Trim(form.form[len(kind)+1:], "HKNW") // of parameters
	parts := []string{rest}
	if between != "" {
		parts = strings.Split(rest, between)
	}
	if len(parts) != len(form.least) {
		return nil, wrong
	}
	a := make([]int, len(parts))
	for i, part := range parts {
		var err error
		if a[i], err = strconv.Atoi(strings.TrimSpace(part)); err != nil || a[i] < form.least[i] || a[i] > maxCells {
			return nil, wrong
		}
	}
	inputs := [][]int{nil}
	for _, size := range form.sizes(a) {
		if size > mostInputs/len(inputs) {
			return nil, faultf("more than %d inputs", mostInputs)
		}
		var longer [][]int
		for x := range size {
			for _, v := range inputs { // the first entry is the fastest
				longer = append(longer, append(v[:len(v):len(v)], x))
			}
		}
		inputs = longer
	}
	return form.problem(inputs), nil
}

func numerals(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// problemOf has vectors for inputs and outputs, and the uniform prior.
func problemOf(inputs [][]int, near func(p, q []int) bool) *Problem {
	p := &Problem{}
	for x, v := range inputs {
		p.Inputs = append(p.Inputs, strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", ":"))
		for y, w := range inputs[:x] {
			if near(v, w) {
				p.Pairs = append(p.Pairs, Pair{From: y, To: x})
			}
		}
	}
	p.Outputs, p.Prior = p.Inputs, p.Uniform()
	return p
}

// named fills in a loss by name, which fits.
func (p *Problem) named(loss string) *Problem {
	p.Loss, _ = NamedLoss(loss, p.Inputs, p.Outputs)
	return p
}

// manhattan returns Σ |p_i - q_i|.
func manhattan(p, q []int) (sum int) {
	for i := range p {
		sum += max(p[i]-q[i], q[i]-p[i])
	}
	return sum
}

func beside(p, q []int) bool { return manhattan(p, q) == 1 }

func gridPreset(inputs [][]int) *Problem {
	p := problemOf(inputs, beside)
	for _, v := range inputs {
		row := make([]*big.Rat, len(inputs))
		for o, w := range inputs {
			row[o] = big.NewRat(int64(manhattan(v, w)), 1)
		}
		p.Loss = append(p.Loss, row)
	}
	return p
}

func partitionPreset(inputs [][]int) *Problem {
	p := problemOf(inputs, beside)
	p.Outputs = []string{"keep", "drop"}
	for range p.Inputs {
		p.Loss = append(p.Loss, []*big.Rat{new(big.Rat), big.NewRat(1, 1)})
	}
	p.forbid(0, 0)
	return p
}

// selectionPreset is the problem of the optimal selection mechanism on the lattice Q(n,k) of step 2Δ: after a shift the depths of neighbors differ by 0 or 1 each.
func selectionPreset(depths [][]int) *Problem {
	var scores [][]int
	var loss [][]*big.Rat
	for _, v := range depths {
		if !slices.Contains(v, 0) {
			continue
		}
		q, row := make([]int, len(v)), make([]*big.Rat, len(v))
		for i, d := range v {
			r := len(v) - 1 - i // the last candidate's is the fastest
			q[r], row[r] = -d, big.NewRat(int64(d), 1)
		}
		scores, loss = append(scores, q), append(loss, row)
	}
	p := problemOf(scores, func(p, q []int) bool {
		least, most := p[0]-q[0], p[0]-q[0]
		for i := range p {
			least, most = min(least, p[i]-q[i]), max(most, p[i]-q[i])
		}
		return most-least <= 1
	})
	p.Outputs, p.Loss = numerals(len(scores[0])), loss
	return p
}
