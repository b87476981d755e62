package topk

import (
	"slices"

	"optratio/number"
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
func oneShot(power func(v int) number.Number, chosen, others []int) number.Number {
	most := slices.Max(chosen)
	last := chosen[len(chosen)-1]
	until := last // the last t ends at z^{-until}
	for _, v := range others {
		until = min(until, v)
	}
	ends := make([]number.Number, most+2) // piece v is [ends[v], ends[v+1]] = [z^{-(v-1)}, z^{-v}], the first one [0, 1]
	ends[0] = number.Int(0)
	for v := range most + 1 {
		ends[v+1] = power(-v)
	}
	// inner[v] is, on piece v, the measure of t_1 < … < t_i <= t as a polynomial of t.
	inner := make([]polynomial, most+1)
	for v := range inner {
		inner[v] = polynomial{number.Int(1)}
	}
	for _, depth := range chosen[:len(chosen)-1] {
		sum := number.Int(0) // up to the piece at hand
		for v := range inner {
			if v > depth {
				inner[v] = polynomial{sum}
				continue
			}
			rising := inner[v].scaled(power(depth)).integral()
			rising[0] = sum.Sub(rising.at(ends[v]))
			inner[v], sum = rising, rising.at(ends[v+1])
		}
	}
	total := number.Int(0)
	for v := 0; v <= until; v++ {
		density := inner[v].scaled(power(last))
		for _, o := range others {
			density = density.times(power(o))
		}
		whole := density.integral()
		total = total.Add(whole.at(ends[v+1]).Sub(whole.at(ends[v])))
	}
	return total
}

// polynomial has the coefficients of t^0, t^1, ….
type polynomial []number.Number

func (p polynomial) scaled(by number.Number) polynomial {
	out := make(polynomial, len(p))
	for i, c := range p {
		out[i] = c.Mul(by)
	}
	return out
}

// times returns p(t) (1 - a t).
func (p polynomial) times(a number.Number) polynomial {
	out := append(slices.Clone(p), number.Int(0))
	for i, c := range p {
		out[i+1] = out[i+1].Sub(a.Mul(c))
	}
	return out
}

// integral returns the antiderivative with value 0 at 0.
func (p polynomial) integral() polynomial {
	out := polynomial{number.Int(0)}
	for i, c := range p {
		out = append(out, c.Quo(number.Int(int64(i+1))))
	}
	return out
}

func (p polynomial) at(t number.Number) number.Number {
	sum := number.Int(0)
	for _, c := range slices.Backward(p) {
		sum = sum.Mul(t).Add(c)
	}
	return sum
}
