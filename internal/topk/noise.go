package topk

import (
	"slices"

	"optratio/internal/arith"
)

// oneShot returns the probability that given candidates have the greatest noisy scores, in this order, where every score gets exponential noise with
// the factor z = 1/power(-1) a step: chosen are the depths of the list, others those of the rest, and power(v) = z^v.
//
// With t = e^{-x}, scaled so that t = 1 at the best score, a candidate of depth v has its noisy score above x with probability min(1, t z^v): its own t
// has the density z^v on [0, z^{-v}]. So the probability is
//
//	∫ z^{v_1} dt_1 … z^{v_T} dt_T Π_{others} (1 - t_T z^{v_s})    over t_1 < … < t_T, t_i <= z^{-v_i}, t_T <= z^{-v_s},
//
// a nested integral of polynomials in pieces that change at the powers z^{-v}.
func oneShot[T any](f arith.Field[T], power func(v int) T, chosen, others []int) T {
	most := slices.Max(chosen)
	until := chosen[len(chosen)-1] // the last t ends at z^{-until}
	for _, v := range others {
		until = min(until, v)
	}
	ends := make([]T, most+2) // piece v is [ends[v], ends[v+1]] = [z^{-(v-1)}, z^{-v}], the first one [0, 1]
	ends[0] = f.Zero()
	for v := range most + 1 {
		ends[v+1] = power(-v)
	}
	// inner[v] is, on piece v, the measure of t_1 < … < t_i <= t as a polynomial of t.
	inner := make([][]T, most+1)
	for v := range inner {
		inner[v] = []T{f.One()}
	}
	for _, depth := range chosen[:len(chosen)-1] {
		sum := f.Zero() // up to the piece at hand
		for v := range inner {
			if v > depth {
				inner[v] = []T{sum}
				continue
			}
			rising := integral(f, scaled(f, inner[v], power(depth)))
			rising[0] = f.Sub(sum, value(f, rising, ends[v]))
			inner[v], sum = rising, value(f, rising, ends[v+1])
		}
	}
	total := f.Zero()
	for v := 0; v <= until; v++ {
		density := scaled(f, inner[v], power(chosen[len(chosen)-1]))
		for _, o := range others {
			density = times(f, density, power(o))
		}
		whole := integral(f, density)
		total = f.Add(total, f.Sub(value(f, whole, ends[v+1]), value(f, whole, ends[v])))
	}
	return total
}

func scaled[T any](f arith.Field[T], p []T, by T) []T {
	out := make([]T, len(p))
	for i, c := range p {
		out[i] = f.Mul(c, by)
	}
	return out
}

// times returns p(t) (1 - a t).
func times[T any](f arith.Field[T], p []T, a T) []T {
	out := append(slices.Clone(p), f.Zero())
	for i, c := range p {
		out[i+1] = f.Sub(out[i+1], f.Mul(a, c))
	}
	return out
}

// integral returns the antiderivative with value 0 at 0.
func integral[T any](f arith.Field[T], p []T) []T {
	out := []T{f.Zero()}
	for i, c := range p {
		out = append(out, f.Quo(c, f.FromInt(int64(i+1))))
	}
	return out
}

func value[T any](f arith.Field[T], p []T, t T) T {
	sum := f.Zero()
	for i := len(p) - 1; i >= 0; i-- {
		sum = f.Add(f.Mul(sum, t), p[i])
	}
	return sum
}
