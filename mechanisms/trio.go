package mechanisms

import (
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// oddTrio rounds all scores down to whole steps of 2Δ after adding one offset, uniform between 0 and a step, to all of them. Then, as
// permute-and-flip does, it keeps every candidate with probability z^depth, z = e^{-ε}, and takes one of those kept at random, but
// for one case: of three that are kept, where exactly one is at depth 0, or exactly one is not, it takes that one with probability
//
//	β = min{ (1-z)/(4+2z), (1-z)³/(2 C(n,3) z³) }   (z > 1/2, n >= 3),   β = 0 otherwise,
//
// and else one at random. It is ε-DP, symmetric, shift-invariant and monotone, and on Q(n,k) its mean error is below
// permute-and-flip's wherever that is not optimal. research/docs/three.md has the proofs.
var oddTrio = &bodies{
	most: 500, // the work grows with their cube
	info: epsDP("pf-trio", "permute-and-flip on rounded scores; of three candidates left it prefers the only one that is best, or is not", "this project, research/docs/three.md, Theorem 3"),
	rat:  trioBody(permuteAndFlip[*big.Rat]),
	box:  trioBody(permuteAndFlipEnclosed),
	fun:  trioBody(permuteAndFlip[arith.RatFunc]),
	flt:  trioBody(permuteAndFlipFloat),
	off:  1e-11, // that of permute-and-flip, three terms for each of its one
}

// trioOdds returns β.
func trioOdds[T any](f arith.Field[T], z T, n int, eps number.Epsilon) T {
	p := arith.Poly{}
	if n < 3 || eps.IsZero() || !positive(eps, p.Sub(p.Add(p.Z(), p.Z()), p.One())) {
		return f.Zero()
	}
	triples := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), 3))
	rest, down := f.Sub(f.One(), z), p.Sub(p.One(), p.Z())
	if positive(eps, p.Sub(p.Mul(p.FromRat(triples), arith.Pow(p, p.Z(), 3)), p.Mul(p.Mul(down, down), p.Add(p.FromInt(2), p.Z())))) {
		return f.Quo(arith.Pow(f, rest, 3), f.Mul(f.FromRat(triples.Add(triples, triples)), arith.Pow(f, z, 3)))
	}
	return f.Quo(rest, f.Add(f.FromInt(4), f.Add(z, z)))
}

// positive reports whether a polynomial is positive at z = e^{-ε}, ε > 0. Where z is not rational it is transcendental, so that enclosures tell.
func positive(e number.Epsilon, polynomial arith.RatFunc) bool {
	if z, ok := e.Z(); ok {
		v, _ := polynomial.EvalRat(z)
		return v.Sign() > 0
	}
	sign, _ := polynomial.SignUpTo(1<<30, func(prec uint) number.Interval { return e.ExpNeg(ratOne, prec) })
	return sign > 0
}

// A rounding is what a share of all offsets makes of the scores: whole depths.
type rounding struct {
	share  *big.Rat
	depths []*big.Rat
}

// roundings returns the different ones. With the offset u a candidate of depth d comes to ⌈d - u⌉: to ⌈d⌉ while u is below 1 - φ,
// φ = ⌈d⌉ - d, and to ⌈d⌉ - 1 from there on. The best ones have φ = 0.
func (in *Instance) roundings() (out []rounding) {
	ceilings, phi := in.ceilings()
	whole := make([]*big.Rat, len(ceilings))
	for i, c := range ceilings {
		whole[i] = new(big.Rat).SetInt(c)
	}
	members, _ := classes(len(phi), func(a, b int) int { return phi[a].Cmp(phi[b]) })
	above := ratOne // the φ of the class that came down last
	for k := len(members) - 1; k >= 0; k-- {
		here := phi[members[k][0]]
		out = append(out, rounding{new(big.Rat).Sub(above, here), slices.Clone(whole)})
		for _, i := range members[k] {
			whole[i] = new(big.Rat).Sub(whole[i], ratOne)
		}
		above = here
	}
	return out
}

// trioWork bounds candidates times roundings.
const trioWork = 1e8

// trioBody is the mean over all roundings, given permute-and-flip.
func trioBody[T any](flips overWeights[T]) body[T] {
	return func(f arith.Field[T], power func(x *big.Rat) (T, error), in *Instance) ([]T, error) {
		if in.Epsilon.IsZero() {
			return uniformly(f, power, in)
		}
		z, err := power(ratOne)
		if err != nil {
			return nil, err
		}
		odds := trioOdds(f, z, len(in.Scores), in.Epsilon)
		third := f.Quo(odds, f.FromInt(3))
		at := overWeights[T](func(f arith.Field[T], weights []T, counts []int) []T {
			p := flips(f, weights, counts)
			for i, d := range oddOnes(f, weights, counts) {
				p[i] = f.Add(p[i], f.Mul(third, d))
			}
			return p
		})
		sum := slices.Repeat([]T{f.Zero()}, len(in.Scores))
		rounds := in.roundings()
		if float64(len(rounds))*float64(len(in.Scores)) > trioWork {
			return nil, fmt.Errorf("%w: pf-trio with %d candidates on %d different parts of a step takes too long in float64", ErrNoAnswer, len(in.Scores), len(rounds))
		}
		for _, r := range rounds {
			p, err := at.body(f, power, atDepths(r.depths, in.Epsilon))
			if err != nil {
				return nil, err
			}
			share := f.FromRat(r.share)
			for i := range p {
				sum[i] = f.Add(sum[i], f.Mul(share, p[i]))
			}
		}
		return sum, nil
	}
}

// oddOnes returns what preferring the odd one of three adds to a candidate's probability, in units of β/3: 2 for the odd one and -1
// for each of the other two. With e_j the probability that j candidates below the best ones are kept, a single best one gets 2 e_2,
// and each of two best ones -e_1; another candidate gets -w e_1, or with two best ones 2w e_0, those kept being counted without it.
func oddOnes[T any](f arith.Field[T], weights []T, counts []int) []T {
	out := slices.Repeat([]T{f.Zero()}, len(weights))
	best := counts[0]
	if best > 2 {
		return out
	}
	type kept [3]T // the probabilities that 0, 1 and 2 candidates are
	more := func(e kept, w T, count int) kept {
		miss := f.Sub(f.One(), w)
		for range count {
			e[2] = f.Add(f.Mul(miss, e[2]), f.Mul(w, e[1]))
			e[1] = f.Add(f.Mul(miss, e[1]), f.Mul(w, e[0]))
			e[0] = f.Mul(miss, e[0])
		}
		return e
	}
	all := kept{f.One(), f.Zero(), f.Zero()}
	leaveOneOut(len(weights)-1, all,
		func(e kept, i int) kept { return more(e, weights[i+1], counts[i+1]) },
		func(i int, e kept) {
			w := weights[i+1]
			e = more(e, w, counts[i+1]-1)
			if best == 1 {
				out[i+1] = f.Neg(f.Mul(w, e[1]))
			} else {
				out[i+1] = f.Mul(w, f.Add(e[0], e[0]))
			}
		})
	for i := 1; i < len(weights); i++ {
		all = more(all, weights[i], counts[i])
	}
	if best == 1 {
		out[0] = f.Add(all[2], all[2])
	} else {
		out[0] = f.Neg(all[1])
	}
	return out
}
