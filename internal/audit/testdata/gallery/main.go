// Command gallery is a collection of selection mechanisms for audits: right ones, and ones that are
// broken in the ways real libraries were. Its argument names one; it then
// speaks the audit's line protocol. verdicts.txt beside it says what an audit must find.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

type question struct {
	Scores      []float64       `json:"scores"`
	Input       json.RawMessage `json:"input"`
	Epsilon     float64         `json:"epsilon"`
	Sensitivity float64         `json:"sensitivity"`
	Monotonic   bool            `json:"monotonic"`
	Samples     int             `json:"samples"`
}

// softmax is the exponential mechanism with a factor in the exponent.
func softmax(q question, factor float64) []float64 {
	best := slices.Max(q.Scores)
	p, total := make([]float64, len(q.Scores)), 0.0
	for i, s := range q.Scores {
		p[i] = math.Exp(factor * q.Epsilon * (s - best) / (2 * q.Sensitivity))
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// flip is permute-and-flip: p_r ∫ Π (1 - t p_s) dt, the polynomial integrated term by term.
func flip(q question, factor float64) []float64 {
	best := slices.Max(q.Scores)
	out := make([]float64, len(q.Scores))
	w := func(s float64) float64 { return math.Exp(factor * q.Epsilon * (s - best) / (2 * q.Sensitivity)) }
	for r, s := range q.Scores {
		poly := []float64{1}
		for i, other := range q.Scores {
			if i == r {
				continue
			}
			next := make([]float64, len(poly)+1)
			for j, c := range poly {
				next[j] += c
				next[j+1] -= c * w(other)
			}
			poly = next
		}
		for j, c := range poly {
			out[r] += w(s) * c / float64(j+1)
		}
	}
	return out
}

func argmax(scores []float64) []float64 {
	p := make([]float64, len(scores))
	p[slices.Index(scores, slices.Max(scores))] = 1
	return p
}

// exp is math.Exp that overflows where double precision does, which on some machines math.Exp does a little earlier.
func exp(x float64) float64 { return math.Exp(x/2) * math.Exp(x/2) }

// weights are e^{εq/2Δ}, with their sum.
func weights(q question, exp func(float64) float64) (w []float64, total float64) {
	for _, s := range q.Scores {
		w = append(w, exp(q.Epsilon*s/(2*q.Sensitivity)))
		total += w[len(w)-1]
	}
	return w, total
}

// laplace is report noisy max of two, with Laplace noise of scale factor·Δ/ε.
func laplace(q question, factor float64) []float64 {
	x := q.Epsilon * math.Abs(q.Scores[0]-q.Scores[1]) / (factor * q.Sensitivity)
	worse := 0.5 * math.Exp(-x) * (1 + x/2)
	if q.Scores[0] < q.Scores[1] {
		return []float64{worse, 1 - worse}
	}
	return []float64{1 - worse, worse}
}

var rng = rand.New(rand.NewPCG(1, 2)) // the same samples in every run

// values draws the greatest of the scores with noise.
func values(q question, noise func() float64) map[string][]float64 {
	out := make([]float64, q.Samples)
	for i := range out {
		out[i] = math.Inf(-1)
		for _, s := range q.Scores {
			out[i] = max(out[i], s+2*q.Sensitivity/q.Epsilon*noise())
		}
	}
	return map[string][]float64{"values": out}
}

var asked = map[string]bool{}

var mechanisms = map[string]func(question) any{
	"em": func(q question) any { return softmax(q, 1) },
	"pf": func(q question) any { return flip(q, 1) },
	// Noisy max that returns the place of the minimum.
	"minimum": func(q question) any {
		for i := range q.Scores {
			q.Scores[i] = -q.Scores[i]
		}
		return softmax(q, 1)
	},
	// The best is picked before there is any noise.
	"argmax-first": func(q question) any { return argmax(q.Scores) },
	// Calibrated for scores that can only grow, whatever the neighbors are.
	"monotonic-calibration": func(q question) any { return flip(q, 2) },
	// The score's sensitivity was declared half of what it is.
	"half-sensitivity": func(q question) any {
		q.Sensitivity /= 2
		return softmax(q, 1)
	},
	// The best score is not subtracted before exponentiation.
	"overflow": func(q question) any {
		p, total := weights(q, exp)
		for i := range p {
			p[i] /= total
		}
		return p
	},
	// A factor 2 in the noise that nothing needs.
	"wasted-half": func(q question) any { return flip(q, 0.5) },
	// Report noisy max with Laplace noise, two candidates: private, and worse than the exponential mechanism.
	"laplace": func(q question) any { return laplace(q, 2) },
	// Thresholds on the scores themselves.
	"clipped": func(q question) any {
		for i := range q.Scores {
			q.Scores[i] = max(q.Scores[i], -2)
		}
		return softmax(q, 1)
	},
	"unnormalised": func(q question) any {
		p := softmax(q, 1)
		for i := range p {
			p[i] *= 0.999
		}
		return p
	},
	// Rounding leaves a probability below 0.
	"negative": func(q question) any {
		p := softmax(q, 1)
		if len(p) > 1 {
			p[0], p[1] = p[0]+p[1]+1e-17, -1e-17
		}
		return p
	},
	"first-wins-ties": func(q question) any {
		p := softmax(q, 1)
		for i := 1; i < len(p); i++ {
			if q.Scores[i] == q.Scores[0] {
				p[0], p[i] = p[0]+p[i]/2, p[i]/2
			}
		}
		return p
	},
	"crash-on-ties": func(q question) any {
		for i, s := range q.Scores[1:] {
			if s == q.Scores[i] {
				panic("tied scores")
			}
		}
		return softmax(q, 1)
	},
	"refusal": func(q question) any {
		if slices.Min(q.Scores) < slices.Max(q.Scores)-4*q.Sensitivity {
			return map[string]string{"error": "too far apart"}
		}
		return softmax(q, 1)
	},
	// Draws afresh what it was asked before.
	"forgetful": func(q question) any {
		p := softmax(q, 1)
		if key := fmt.Sprint(q.Scores); asked[key] && len(p) > 1 {
			p[0], p[1] = p[0]*0.99, p[1]+p[0]*0.01
		} else {
			asked[key] = true
		}
		return p
	},
	"wrong-length": func(q question) any { return append(softmax(q, 1), 0) },
	"hang":         func(question) any { time.Sleep(time.Hour); return nil },
	"chatty": func(q question) any {
		fmt.Fprintln(os.Stderr, strings.Repeat("warning: nothing is wrong ", 200))
		return softmax(q, 1)
	},
	// The rest is right on lattices.
	"floors": func(q question) any {
		for i, s := range q.Scores {
			q.Scores[i] = math.Floor(s + 0.01)
		}
		return softmax(q, 1)
	},
	"lonely": func(q question) any {
		if len(q.Scores) == 1 {
			return []float64{0.999}
		}
		return softmax(q, 1)
	},
	"many": func(q question) any {
		if len(q.Scores) > 5 {
			return softmax(q, 2)
		}
		return softmax(q, 1)
	},
	"all-positive": func(q question) any {
		if slices.Min(q.Scores) > 1 {
			return softmax(q, 1.2)
		}
		return softmax(q, 1)
	},
	"negligible": func(q question) any {
		p := softmax(q, 1)
		for i := range p {
			if p[i] < 1e-9 {
				p[i] = 0
			}
		}
		return p
	},
	"far-argmax": func(q question) any {
		if slices.Max(q.Scores)-slices.Min(q.Scores) > 20*q.Sensitivity {
			return argmax(q.Scores)
		}
		return softmax(q, 1)
	},
	// Divides by the weight of the others.
	"others-vanish": func(q question) any {
		p := softmax(q, 1)
		best := slices.Index(q.Scores, slices.Max(q.Scores))
		others := 0.0
		for i, x := range p {
			if i != best {
				others += x
			}
		}
		for i := range p {
			if i != best && len(p) > 1 {
				p[i] *= others / others // 0/0 where they underflow
			}
		}
		return p
	},
	"late": func(q question) any {
		asked[fmt.Sprint(len(asked))] = true
		if len(asked) > 700 {
			return softmax(q, 1.1)
		}
		return softmax(q, 1)
	},
	// The subjects that docs/explanation/gallery.md names begin here. Query 0 was measured before and must not be chosen again: after eleven draws
	// that chose it, one of the others is taken uniformly.
	"mwem-retries": func(q question) any {
		p := softmax(q, 1)
		if len(p) == 1 { // nothing to choose from
			return p
		}
		draws, chosen := 0.0, 1.0 // 1 + a + ... + a^10 and a^11, where a is the probability of query 0
		for range 11 {
			draws, chosen = draws+chosen, chosen*p[0]
		}
		for r := range p[1:] {
			p[r+1] = p[r+1]*draws + chosen/float64(len(p)-1)
		}
		p[0] = 0
		return p
	},
	// Report noisy max of two, with Laplace noise of scale Δ/ε instead of 2Δ/ε.
	"laplace-half-noise": func(q question) any {
		if len(q.Scores) != 2 {
			return map[string]string{"error": "two candidates, please"}
		}
		return laplace(q, 1)
	},
	// Weights are not scaled by the best one. Where one overflows, the cumulative sums are 0 before it and NaN from there on, and the
	// search for a random number in them, a multiple of 2^-53, ends at it unless that number is 0.
	"overflow-search": func(q question) any {
		p, total := weights(q, exp)
		if i := slices.Index(p, math.Inf(1)); i >= 0 {
			out := slices.Repeat([]string{"0/1"}, len(p))
			out[0], out[i] = "1/9007199254740992", "9007199254740991/9007199254740992"
			if i == 0 {
				out[0] = "1/1"
			}
			return out
		}
		if math.IsInf(total, 1) || total == 0 {
			return map[string]string{"error": "the weights do not sum to 1"}
		}
		for i := range p {
			p[i] /= total
		}
		return p
	},
	// The same weights, without a search: those that overflow share the probability, and where only their sum does, all share it.
	"overflow-uniform": func(q question) any {
		p, total := weights(q, exp)
		infinite := 0
		for _, x := range p {
			if math.IsInf(x, 1) {
				infinite++
			}
		}
		for i := range p {
			switch {
			case infinite > 0 && math.IsInf(p[i], 1):
				p[i] = 1 / float64(infinite)
			case infinite > 0:
				p[i] = 0
			case math.IsInf(total, 1) || total == 0:
				p[i] = 1 / float64(len(p))
			default:
				p[i] /= total
			}
		}
		return p
	},
	// The exponential mechanism, whose generator is seeded with the same number before every draw.
	"seeded": func(q question) any {
		counts := make([]int, len(q.Scores))
		for range q.Samples {
			u, r := rand.New(rand.NewPCG(0, 1)).Float64(), 0
			for p := softmax(q, 1); r < len(p)-1 && u >= p[r]; r++ {
				u -= p[r]
			}
			counts[r]++
		}
		return map[string][]int{"counts": counts}
	},
	// The greatest noisy score is returned, with Laplace or exponential noise of scale 2Δ/ε.
	"value-laplace":     func(q question) any { return values(q, func() float64 { return rng.ExpFloat64() - rng.ExpFloat64() }) },
	"value-exponential": func(q question) any { return values(q, rng.ExpFloat64) },
	// A uniform multiple of 2^-53 is searched for in cumulative sums in double precision. The probabilities are exact.
	"cumulative": func(q question) any {
		p, sum, before := softmax(q, 1), 0.0, big.NewInt(-1)
		out := make([]string, len(p))
		for i := range p {
			sum += p[i]
			until, _ := new(big.Float).SetMantExp(big.NewFloat(sum), 53).Int(nil) // the numbers 0, ..., until are <= sum
			if last := big.NewInt(1<<53 - 1); i == len(p)-1 || until.Cmp(last) > 0 {
				until = last
			}
			out[i] = new(big.Int).Sub(until, before).String() + "/9007199254740992"
			before = until
		}
		return out
	},
	"exact": func(q question) any {
		if len(q.Scores) == 1 {
			return []string{"1/1"}
		}
		p := make([]string, len(q.Scores))
		for i := range p {
			p[i] = fmt.Sprintf("1/%d", len(p))
		}
		return p
	},
}

func main() {
	mechanism, ok := mechanisms[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such mechanism")
		os.Exit(2)
	}
	in := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var err error
		switch a := mechanism(q).(type) {
		case map[string]string, map[string]float64, map[string][]float64, map[string][]int, map[string]any:
			err = out.Encode(a)
		case []float64: // may hold NaN, which is not JSON
			_, err = fmt.Printf("{\"pmf\":[%s]}\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(a), " ", ","), "[]"))
		default:
			err = out.Encode(map[string]any{"pmf": a})
		}
		if err != nil {
			os.Exit(1)
		}
	}
}
