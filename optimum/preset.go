package optimum

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Presets are the forms of ready problems, with what each is.
func Presets() [][2]string {
	return [][2]string{
		{"count:N", "counts 0 to N, neighbors differ by 1; abs, uniform"},
		{"krr:K", "K inputs, all neighbors; zero-one, uniform"},
		{"grid:WxH", "cells x:y of a grid, side by side; the Manhattan distance, uniform"},
		{"partition:N", "counts 0 to N of which 0 is never kept; dropping costs 1, uniform"},
		{"selection:N,K", "score vectors of N candidates down to -K with best score 0; depth of the choice, uniform"},
		{"histogram:W,N", "W bins of 0 to N, neighbors differ by 1 in one; zero-one, uniform"},
	}
}

// Preset returns a ready problem.
func Preset(text string) (*Problem, error) {
	kind, rest, _ := strings.Cut(text, ":")
	shape, known := map[string]struct {
		between string
		least   []int
		make    func(a []int) *Problem
	}{
		"count":     {"", []int{0}, func(a []int) *Problem { return countPreset(a[0]) }},
		"krr":       {"", []int{1}, func(a []int) *Problem { return krrPreset(a[0]) }},
		"grid":      {"x", []int{1, 1}, func(a []int) *Problem { return gridPreset(a[0], a[1]) }},
		"partition": {"", []int{0}, func(a []int) *Problem { return partitionPreset(a[0]) }},
		"selection": {",", []int{1, 1}, func(a []int) *Problem { return selectionPreset(a[0], a[1]) }},
		"histogram": {",", []int{1, 1}, func(a []int) *Problem { return histogramPreset(a[0], a[1]) }},
	}[kind]
	var forms []string
	for _, p := range Presets() {
		forms = append(forms, p[0])
	}
	wrong := faultf("no such preset; give one of %s", strings.Join(forms, ", "))
	if !known {
		return nil, wrong
	}
	parts := []string{rest}
	if shape.between != "" {
		parts = strings.Split(rest, shape.between)
	}
	if len(parts) != len(shape.least) {
		return nil, wrong
	}
	var sizes []int
	inputs := big.NewInt(1)
	for i, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < shape.least[i] || n > maxCells {
			return nil, wrong
		}
		sizes = append(sizes, n)
	}
	switch kind { // what is too large is refused before it is made
	case "grid":
		inputs.SetInt64(int64(sizes[0]) * int64(sizes[1]))
	case "selection", "histogram":
		base, power := sizes[1]+1, sizes[0]
		inputs = nil
		if power <= 22 {
			inputs = new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(power)), nil)
		}
	default:
		inputs.SetInt64(int64(sizes[0]))
	}
	if inputs == nil || inputs.Cmp(big.NewInt(1<<12)) > 0 {
		return nil, faultf("more than %d inputs", 1<<12)
	}
	return shape.make(sizes), nil
}

func numerals(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

func pathPairs(n int) (pairs []Pair) {
	for x := range n - 1 {
		pairs = append(pairs, Pair{From: x, To: x + 1})
	}
	return pairs
}

// named fills in a loss by name and the uniform prior.
func (p *Problem) named(loss string) *Problem {
	p.Loss, _ = NamedLoss(loss, p.Inputs, p.Outputs) // names that fit
	p.Prior = p.Uniform()
	return p
}

func countPreset(n int) *Problem {
	return (&Problem{Inputs: numerals(n + 1), Outputs: numerals(n + 1), Pairs: pathPairs(n + 1)}).named("abs")
}

func krrPreset(k int) *Problem {
	p := &Problem{Inputs: numerals(k), Outputs: numerals(k)}
	for x := range k {
		for y := range x {
			p.Pairs = append(p.Pairs, Pair{From: y, To: x})
		}
	}
	return p.named("zero-one")
}

func gridPreset(w, h int) *Problem {
	p := &Problem{}
	for y := range h {
		for x := range w {
			p.Inputs = append(p.Inputs, fmt.Sprintf("%d:%d", x, y))
			row := make([]*big.Rat, w*h)
			for o := range row {
				row[o] = big.NewRat(int64(distance(x, o%w)+distance(y, o/w)), 1)
			}
			p.Loss = append(p.Loss, row)
			if at := y*w + x; x > 0 {
				p.Pairs = append(p.Pairs, Pair{From: at - 1, To: at})
			}
			if at := y*w + x; y > 0 {
				p.Pairs = append(p.Pairs, Pair{From: at - w, To: at})
			}
		}
	}
	p.Outputs = p.Inputs
	p.Prior = p.Uniform()
	return p
}

func distance(a, b int) int { return max(a-b, b-a) }

func partitionPreset(n int) *Problem {
	p := &Problem{Inputs: numerals(n + 1), Outputs: []string{"keep", "drop"}, Pairs: pathPairs(n + 1)}
	for range p.Inputs {
		p.Loss = append(p.Loss, []*big.Rat{new(big.Rat), big.NewRat(1, 1)})
	}
	p.forbid(0, 0)
	p.Prior = p.Uniform()
	return p
}

// selectionPreset is the problem of the optimal selection mechanism on the lattice Q(n,k) of step 2Δ: after a shift the depths of neighbors differ by 0 or 1 each.
func selectionPreset(n, k int) *Problem {
	p := &Problem{Outputs: numerals(n)}
	var depths [][]int
	for at := make([]int, n); ; {
		if slices.Contains(at, 0) {
			depths = append(depths, slices.Clone(at))
		}
		i := n - 1
		for ; i >= 0 && at[i] == k; i-- {
			at[i] = 0
		}
		if i < 0 {
			break
		}
		at[i]++
	}
	for x, q := range depths {
		var name []string
		var row []*big.Rat
		for _, d := range q {
			name, row = append(name, strconv.Itoa(-d)), append(row, big.NewRat(int64(d), 1))
		}
		p.Inputs, p.Loss = append(p.Inputs, strings.Join(name, ":")), append(p.Loss, row)
		for y := range x {
			least, most := q[0]-depths[y][0], q[0]-depths[y][0]
			for i := range q {
				least, most = min(least, q[i]-depths[y][i]), max(most, q[i]-depths[y][i])
			}
			if most-least <= 1 {
				p.Pairs = append(p.Pairs, Pair{From: y, To: x})
			}
		}
	}
	p.Prior = p.Uniform()
	return p
}

func histogramPreset(w, n int) *Problem {
	p := &Problem{}
	size := 1
	for range w {
		size *= n + 1
	}
	for x := range size {
		var name []string
		step := 1
		for range w {
			digit := x / step % (n + 1)
			name = append(name, strconv.Itoa(digit))
			if digit > 0 {
				p.Pairs = append(p.Pairs, Pair{From: x - step, To: x})
			}
			step *= n + 1
		}
		p.Inputs = append(p.Inputs, strings.Join(name, ":"))
	}
	p.Outputs = p.Inputs
	return p.named("zero-one")
}
