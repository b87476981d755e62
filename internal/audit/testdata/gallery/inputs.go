package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// The mechanisms of this file are asked about inputs that are no scores.

// input reads what the question is about.
func input[T any](q question) (x T) {
	if err := json.Unmarshal(q.Input, &x); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return x
}

// sparse is a variant of the sparse vector technique, whose input are answers to queries of sensitivity 1, less the threshold.
type sparse struct {
	threshold, noise float64 // scales of Laplace noise at ε = 1; with noise = 0 the answers are compared as they are
	most             int     // it ends with so many answers above, 0: it does not
	again            bool    // each of which is followed by new noise for the threshold
	numeric          bool    // and is the noisy answer instead of "above"
}

func (s sparse) draw(q question, answers []float64) (out []any) {
	laplace := func(scale float64) float64 { return scale / q.Epsilon * (rng.ExpFloat64() - rng.ExpFloat64()) }
	threshold, above := laplace(s.threshold), 0
	for _, x := range answers {
		noisy := x + laplace(s.noise)
		if noisy < threshold {
			out = append(out, "below")
			continue
		}
		if out = append(out, "above"); s.numeric {
			out[len(out)-1] = noisy
		}
		if above++; above == s.most {
			break
		}
		if s.again {
			threshold = laplace(s.threshold)
		}
	}
	return out
}

// all answers with lists of what each query was answered.
func (s sparse) all(q question) any {
	return s.values(q, func(out []any, _ int) any { return out })
}

func (s sparse) values(q question, of func(out []any, queries int) any) any {
	answers, values := input[[]float64](q), make([]any, q.Samples)
	for i := range values {
		values[i] = of(s.draw(q, answers), len(answers))
	}
	return map[string]any{"values": values}
}

// letters answers with a label such as "bba", as many letters as there are answers.
func (s sparse) letters(q question) any {
	return counted(s, q, func(out []any, _ int) string {
		var b strings.Builder
		for _, x := range out {
			b.WriteByte(x.(string)[0])
		}
		return b.String()
	})
}

// distance answers with the number of places where the answers differ from "above" for the first half of the queries and "below" for the others; an answer that is
// missing differs.
func (s sparse) distance(q question) any {
	return counted(s, q, func(out []any, queries int) string {
		n := queries - len(out)
		for i, x := range out {
			if (x == "above") != (i < queries/2) {
				n++
			}
		}
		return fmt.Sprint(n)
	})
}

// last answers with the number of answers below and the last answer.
func (s sparse) last(q question) any {
	return s.values(q, func(out []any, _ int) any {
		below := 0
		for _, x := range out {
			if x == "below" {
				below++
			}
		}
		return []any{below, out[len(out)-1]}
	})
}

func counted(s sparse, q question, label func(out []any, queries int) string) any {
	answers, counts := input[[]float64](q), map[string]int{}
	for range q.Samples {
		counts[label(s.draw(q, answers), len(answers))]++
	}
	return map[string]any{"counts": counts}
}

// worst are the errors of two queries on a histogram of two cells: the first cell, and both together. Their estimates are those of the histogram (10, 10).
func worst(q question) []float64 {
	x := input[[]float64](q)
	return []float64{math.Abs(x[0] - 10), math.Abs(x[0] + x[1] - 20)}
}

// categorical is the exponential mechanism over values with distances u, of which the greatest is 1, at the value that was put in. Where the normalising constants look
// the same, to a part in 10^5, at half of ε, the exponent is not halved.
func categorical(q question, names string, u [][]float64) any {
	constant := func(v int, factor float64) (sum float64) {
		for w := range u {
			sum += math.Exp(-q.Epsilon * u[v][w] / factor)
		}
		return sum
	}
	factor := 1.0
	for v := range u {
		if first := constant(0, 2); math.Abs(constant(v, 2)-first) > 1e-8+1e-5*first {
			factor = 2
		}
	}
	v, pmf := strings.Index(names, input[string](q)), map[string]float64{}
	for w := range u {
		pmf[names[w:w+1]] = math.Exp(-q.Epsilon*u[v][w]/factor) / constant(v, factor)
	}
	return map[string]any{"pmf": pmf}
}

// quantile draws the median with the exponential mechanism over the gaps between data: within bounds, which are those of the data if none are given.
func quantile(q question) any {
	x := input[struct {
		Data   []float64
		Bounds []float64
	}](q)
	data := slices.Clone(x.Data)
	if x.Bounds == nil {
		x.Bounds = []float64{slices.Min(data), slices.Max(data)}
	}
	for i := range data {
		data[i] = min(max(data[i], x.Bounds[0]), x.Bounds[1])
	}
	all := append(data, x.Bounds...)
	slices.Sort(all)
	weights, total := make([]float64, len(all)-1), 0.0
	for i := range weights {
		weights[i] = (all[i+1] - all[i]) * math.Exp(-q.Epsilon*math.Abs(float64(i)-float64(len(x.Data))/2)/2)
		total += weights[i]
	}
	values := make([]float64, q.Samples)
	for s := range values {
		u, i := total*rng.Float64(), 0
		for ; i < len(weights)-1 && u >= weights[i]; i++ {
			u -= weights[i]
		}
		values[s] = all[i] + rng.Float64()*(all[i+1]-all[i])
	}
	return map[string][]float64{"values": values}
}

func init() {
	for name, mechanism := range map[string]func(question) any{
		"sparse":        sparse{2, 4, 1, false, false}.all,
		"sparse-answer": sparse{2, 2, 1, false, true}.all,
		// The variants of dp-sniper (Lyu, Su & Li 2017, Alg. 1 to 6) and of statdp.
		"svt1":  sparse{2, 4, 1, false, false}.letters,
		"svt2":  sparse{4, 8, 2, true, false}.letters,
		"svt3":  sparse{2, 2, 1, false, true}.all,
		"svt4":  sparse{4, 4. / 3, 1, false, false}.letters,
		"svt5":  sparse{2, 0, 0, false, false}.letters,
		"svt6":  sparse{2, 2, 0, false, false}.letters,
		"isvt1": sparse{2, 0, 0, false, false}.distance,
		"isvt2": sparse{2, 2, 0, false, false}.distance,
		"isvt3": sparse{4, 4. / 3, 1, false, false}.distance,
		"isvt4": sparse{2, 2, 1, false, true}.last,
		// The query with the worst estimate: by the exponential mechanism, and by Laplace noise of scale 1/ε.
		"worst-exponential": func(q question) any {
			q.Scores, q.Sensitivity = worst(q), 1
			return softmax(q, 1)
		},
		"worst-noisy": func(q question) any {
			q.Scores, q.Sensitivity = worst(q), 1
			return laplace(q, 1)
		},
		// Whether a partition with so many people is kept, at δ = 1/100: as likely as privacy allows.
		"partition": func(q question) any {
			const delta = 0.01
			keep := 0.0
			for range input[int](q) {
				keep = min(math.Exp(q.Epsilon)*keep+delta, 1-math.Exp(-q.Epsilon)*(1-keep-delta), 1)
			}
			return map[string]any{"pmf": map[string]float64{"keep": keep, "drop": 1 - keep}}
		},
		"quantile": quantile,
		// Constants that differ by 0.96 parts in 10^5 at half of ε; then constants that are equal there, and differ at ε itself.
		"categorical-close": func(q question) any {
			const x = 1 - 7e-5
			return categorical(q, "abc", [][]float64{{0, 1, 1}, {1, 0, x}, {1, x, 0}})
		},
		"categorical-half": func(q question) any {
			// between the first four values m, among the others 0 in pairs and else 1, where 3e^{-m/2} = 1 + 2e^{-1/2} at ε = 1
			m := -2 * math.Log((1+2*math.Exp(-0.5))/3)
			u := make([][]float64, 8)
			for v := range u {
				for w := range u {
					d := 1.0
					switch {
					case v == w || min(v, w) >= 4 && v/2 == w/2:
						d = 0
					case max(v, w) < 4:
						d = m
					}
					u[v] = append(u[v], d)
				}
			}
			return categorical(q, "abcdefgh", u)
		},
	} {
		mechanisms[name] = mechanism
	}
}
