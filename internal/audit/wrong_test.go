package audit

import (
	"math"
	"slices"
)

// Samplers that are wrong in one place each, and right ones, at ε = 1.

// geometricLaw is the candidate with the largest score after geometric noise in steps of 2Δ, which falls by e^{-ε} a step. Of so many tied best
// ones, take says what share each candidate gets.
func geometricLaw(eps float64, take func(r, n int, alone, tied float64, out []float64)) law {
	return func(q []float64) []float64 {
		out, top := make([]float64, len(q)), slices.Max(q)
		fall := math.Exp(-eps)
		for r := range q {
			alone, tied := 0.0, 0.0
			for g := 0; g < 400; g++ {
				b := q[r] + 2*float64(g)
				own := (1 - fall) * math.Pow(fall, float64(g))
				if own < 1e-18 {
					break
				}
				if b < top {
					continue
				}
				ways := []float64{own} // of so many others that are tied
				for s, x := range q {
					if s == r {
						continue
					}
					steps := (b - x) / 2
					below, at := 1-math.Pow(fall, math.Ceil(steps)), 0.0
					if steps == math.Floor(steps) {
						at = (1 - fall) * math.Pow(fall, steps)
					}
					next := make([]float64, len(ways)+1)
					for j, w := range ways {
						next[j] += w * below
						next[j+1] += w * at
					}
					ways = next
				}
				alone += ways[0]
				for j, w := range ways[1:] {
					tied += w / float64(j+2)
				}
			}
			take(r, len(q), alone, tied, out)
		}
		return out
	}
}

// itself gives ties to the candidates that are tied.
func itself(r, _ int, alone, tied float64, out []float64) { out[r] += alone + tied }

// following gives them to the candidates after these.
func following(r, n int, alone, tied float64, out []float64) {
	out[r] += alone
	out[(r+1)%n] += tied
}

// weightedLaw is the exponential mechanism with weights of a candidate's own.
func weightedLaw(weight func(r int, below float64) float64) law {
	return func(q []float64) []float64 {
		p, total, top := make([]float64, len(q)), 0.0, slices.Max(q)
		for r, x := range q {
			p[r] = weight(r, x-top)
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p
	}
}

// sharedLaw is permute-and-flip by exponential noise, of which two candidates get the same.
func sharedLaw(eps float64, a, b int) law {
	return func(q []float64) []float64 {
		rest, worse := slices.Clone(q), b
		if q[b] > q[a] {
			worse = a
		}
		p := flipLaw(eps)(slices.Delete(rest, worse, worse+1))
		return slices.Insert(p, worse, 0)
	}
}

// wrapped computes with other scores.
func wrapped(l law, to func(x float64) float64) law {
	return func(q []float64) []float64 {
		x := make([]float64, len(q))
		for r := range q {
			x[r] = to(q[r])
		}
		return l(x)
	}
}

// tiedAtTop reports whether there are two best candidates.
func tiedAtTop(q []float64) bool {
	sorted := slices.Sorted(slices.Values(q))
	return sorted[len(q)-1] == sorted[len(q)-2]
}

type wrongSampler struct {
	name string
	law  func(n int) law
}

func of(l law) func(int) law { return func(int) law { return l } }

var wrongSamplers = []wrongSampler{
	{"an index shift at ties", of(geometricLaw(1, following))},
	{"1.2 ε, exponential", of(softmaxLaw(1, 1.2))},
	{"1.2 ε, permute-and-flip", of(flipLaw(1.2))},
	{"shared noise", func(n int) law { return sharedLaw(1, 1, n-1) }},
	{"one candidate's Δ", func(n int) law {
		return weightedLaw(func(r int, below float64) float64 {
			if r == n-2 {
				return math.Exp(below)
			}
			return math.Exp(below / 2)
		})
	}},
	{"all equal", of(unlike(softmaxLaw(1, 1), func(q []float64) []float64 { return taken(0, len(q)) }, func(q []float64) bool { return slices.Max(q) == slices.Min(q) }))},
	{"a tie", of(unlike(flipLaw(1), func(q []float64) []float64 { return taken(slices.Index(q, slices.Max(q)), len(q)) }, tiedAtTop))},
	{"the last one at a tie of the last two", func(n int) law {
		return unlike(softmaxLaw(1, 1), func(q []float64) []float64 { return taken(n-1, n) }, func(q []float64) bool { return q[n-1] == q[n-2] && q[n-1] == slices.Max(q) })
	}},
	{"float32 weights", func(n int) law {
		return unlike(softmaxLaw(1, 1), func([]float64) []float64 { return taken(n-1, n) }, func(q []float64) bool { return slices.Max(q)/2 >= 88.72 })
	}},
	{"float32 scores", of(wrapped(softmaxLaw(1, 1), func(x float64) float64 { return float64(float32(x)) }))},
	{"int32", of(wrapped(softmaxLaw(1, 1), func(x float64) float64 { return float64(int32(int64(math.Floor(x)))) }))},
	{"fixed point", of(wrapped(softmaxLaw(1, 1), func(x float64) float64 { return float64(int32(int64(math.Floor(x*65536)))) / 65536 }))},
}

var rightSamplers = []wrongSampler{
	{"exponential", of(softmaxLaw(1, 1))},
	{"permute-and-flip", of(flipLaw(1))},
	{"noisy max", of(noisyArgMaxLaw(1))},
	{"geometric noisy max", of(geometricLaw(1, itself))},
	{"with priors", of(weightedLaw(func(r int, below float64) float64 { return float64(r+1) * math.Exp(below/2) }))},
	{"two mechanisms", func(n int) law {
		return func(q []float64) []float64 { // takes the first candidate half of the time
			p := softmaxLaw(1, 1)(q)
			for r := range p {
				p[r] /= 2
			}
			p[0] += 0.5
			return p
		}
	}},
}
