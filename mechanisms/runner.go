package mechanisms

import (
	"optratio/number/interval"
)

func init() {
	const (
		halfway = ", deeper candidates halfway between the runner-up's depth and their own"
		source  = "this project, docs/results/unequal.md, Theorem 2"
	)
	Register(&gem{info: epsDPEach("gem-runner", "gem at the whole of ε"+halfway, source), sign: +1, runner: true})
	Register(&gem{info: epsDPEach("mgem-runner", "mgem at the whole of ε"+halfway, source), sign: -1, runner: true})
}

// runnerExponents returns -εD_r, D_r = min(d_r, (d_r + d)/2), from -εd_r/2, of classes of so many candidates. No exponent
// stands for a candidate that is never taken.
func runnerExponents(x []*interval.Interval, counts []int) []*interval.Interval {
	var all []interval.Interval
	for a, e := range x {
		for range min(2, counts[a]) {
			if e != nil {
				all = append(all, *e)
			}
		}
	}
	if len(all) < 2 {
		return x
	}
	// The second largest of numbers lies between the second largest of their lower ends and that of their upper ends. Kept as max and min over
	// what was seen, it is an interval operation at each step.
	first, second := all[0].Max(all[1]), all[0].Min(all[1])
	for _, e := range all[2:] {
		second = second.Max(first.Min(e))
		first = first.Max(e)
	}
	out := make([]*interval.Interval, len(x))
	for a, e := range x {
		if e != nil {
			twice := e.Add(*e).Max(e.Add(second))
			out[a] = &twice
		}
	}
	return out
}

// runnerFloat is runnerExponents in float64, in place, for single candidates.
func runnerFloat(x []float64) {
	if len(x) < 2 {
		return
	}
	first, second := max(x[0], x[1]), min(x[0], x[1])
	for _, e := range x[2:] {
		second = max(second, min(first, e))
		first = max(first, e)
	}
	for a, e := range x {
		x[a] = max(2*e, e+second)
	}
}
