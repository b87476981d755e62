package certificate

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/evidence"
	"optratio/number"
)

// slot is where an outcome of a stretch goes: the cell between the nodes i+at and i+at+1 or, where tiny > 0, the node i+at, as far as tiny from the loss.
type slot struct {
	at   int
	tiny float64
}

// stretch is a range of x. The value of its end e at node i is Σ weights[e][j] V[i + nodes[j]].
type stretch struct {
	a, b          slot
	nodes         [4]int // two for A, and two for B
	weights       [2][4]float64
	onP, onA, onB float64 // what the second derivative has: h = onP(a_A-a_B) + onA·b_A - onB·b_B
}

// prepare computes what all formulas have.
func (k *kind) prepare() {
	k.e, k.one = number.FromRat(k.eps, composePrecision), whole(1)
}

// pair returns the probabilities of A under P and Q, those of B, and that of the outcomes that are the same.
func (k *kind) pair(x bits) (p, q, notP, notQ, stay bits) {
	z, stay := number.Exp(k.e.Neg()), whole(0)
	down, up := number.Exp(x.Neg()), number.Exp(x.Sub(k.e)) // e^{-x} and e^{x-ε}
	switch k.name {
	case "pf":
		half := number.FromRat(big.NewRat(1, 2), composePrecision)
		return k.one.Sub(half.Mul(down)), half.Mul(up), half.Mul(down), k.one.Sub(half.Mul(up)), stay
	case "em":
		rest := k.one.Sub(z)
		return k.one.Sub(down).Quo(rest), up.Sub(z).Quo(rest), down.Sub(z).Quo(rest), k.one.Sub(up).Quo(rest), stay
	}
	all := k.one.Add(z.Mul(number.FromInt(k.outputs-1, composePrecision)))
	return k.one.Quo(all), z.Quo(all), z.Quo(all), k.one.Quo(all), z.Quo(all).Mul(number.FromInt(k.outputs-2, composePrecision))
}

// loss returns h(x), which falls in x.
func (k *kind) loss(x bits) bits {
	switch k.name {
	case "pf":
		return k.e.Sub(x).Add(number.Log(whole(2).Sub(number.Exp(x.Neg()))))
	case "em":
		return k.e.Sub(x)
	}
	return k.e
}

// closeness is the tiny distance, times ε: 2^-closeness.
const closeness = 70

// divide divides [0, ε] at the x whose losses are at nodes. Where they are is guessed by bisection; what is said of each stretch is then enclosed.
func (k *kind) divide(grid *big.Rat, cost *evidence.Effort) {
	d := number.FromRat(grid, composePrecision)
	tiny := new(big.Rat).Quo(k.eps, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), closeness)))
	var cuts []*big.Rat
	cut := func(x *big.Rat) {
		for _, side := range []*big.Rat{new(big.Rat).Sub(x, tiny), new(big.Rat).Add(x, tiny)} {
			if side.Sign() > 0 && side.Cmp(k.eps) < 0 {
				cuts = append(cuts, side)
			}
		}
	}
	if k.name == "em" || k.name == "pf" {
		cut(new(big.Rat))
		cut(k.eps)
		least := k.loss(k.e).Near()
		for i := math.Floor(least / d.Near()); i*d.Near() < k.e.Near()+d.Near(); i++ {
			cost.Spend(1 << 18)
			x := k.reaching(d.Mul(whole(int(i))))
			cut(x)
			cut(new(big.Rat).Sub(k.eps, x))
		}
	}
	slices.SortFunc(cuts, (*big.Rat).Cmp)
	cuts = slices.CompactFunc(slices.Concat([]*big.Rat{new(big.Rat)}, cuts, []*big.Rat{k.eps}), func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	if k.name == "geo" || k.name == "krr" {
		cuts = []*big.Rat{new(big.Rat), new(big.Rat)}
	}
	for j := 1; j < len(cuts); j++ {
		cost.Spend(1 << 14)
		k.stretches = append(k.stretches, k.newStretch(cuts[j-1], cuts[j], d))
	}
	_, _, _, _, stay := k.pair(whole(0))
	_, k.stay = stay.Float64()
}

// reaching returns about the x with this loss.
func (k *kind) reaching(loss bits) *big.Rat {
	low, high := new(big.Rat), k.eps
	for range closeness + 12 {
		x := new(big.Rat).Add(low, high)
		x.Quo(x, big.NewRat(2, 1))
		if k.loss(number.FromRat(x, composePrecision)).Mid().Cmp(loss.Mid()) > 0 {
			low = x
		} else {
			high = x
		}
	}
	return low
}

func (k *kind) newStretch(from, to *big.Rat, d bits) stretch {
	x, y := number.FromRat(from, composePrecision), number.FromRat(to, composePrecision)
	lossA := [2]bits{k.loss(x), k.loss(y)}
	lossB := [2]bits{k.loss(k.e.Sub(x)).Neg(), k.loss(k.e.Sub(y)).Neg()}
	p := stretch{a: placed(number.Hull(lossA[0], lossA[1]), d), b: placed(number.Hull(lossB[0], lossB[1]), d)}
	for end, at := range []bits{x, y} {
		pA, _, pB, _, _ := k.pair(at)
		p.weights[end][0], p.weights[end][1] = p.a.weights(pA, lossA[end], d)
		p.weights[end][2], p.weights[end][3] = p.b.weights(pB, lossB[end], d)
	}
	p.nodes = [4]int{p.a.at, p.a.other(), p.b.at, p.b.other()}
	if from.Cmp(to) == 0 {
		return p
	}
	scale := whole(2)
	if k.name == "em" {
		scale = k.one.Sub(number.Exp(k.e.Neg()))
	}
	half := y.Sub(x).Pow(2).Quo(whole(2))
	bendP, bendQ := half.Mul(number.Exp(x.Neg())).Quo(scale), half.Mul(number.Exp(y.Sub(k.e))).Quo(scale)
	_, p.onP = bendP.Float64()
	_, p.onA = bendQ.Mul(number.Exp(d.Mul(whole(-p.a.at)))).Float64()
	p.onB, _ = bendQ.Mul(number.Exp(d.Mul(whole(-p.b.at)))).Float64()
	return p
}

// placed returns where the outcome with these losses goes: node i less a loss L is in the cell from i+at on where -L is between at·d and (at+1)·d.
func placed(loss, d bits) slot {
	q := loss.Neg().Quo(d)
	at := int(math.Floor(q.Near()))
	if q.Lo().Cmp(big.NewFloat(float64(at))) >= 0 && q.Hi().Cmp(big.NewFloat(float64(at+1))) <= 0 {
		return slot{at: at}
	}
	at = int(math.Round(q.Near()))
	off := q.Sub(whole(at)).Mul(d)
	_, far := number.Hull(off, off.Neg()).Float64()
	if far > min(1, d.Near())/16 {
		evidence.Stop(fmt.Errorf("%w: where losses cross a node", evidence.ErrUndecided))
	}
	return slot{at, max(far, 0x1p-200)}
}

func (p slot) other() int {
	if p.tiny > 0 {
		return p.at - 1
	}
	return p.at + 1
}

// weights returns those of the node, and of the other one. In a cell they keep the outcome's masses under P and Q. Near a node V is above its value there by at most
// tiny·V(s-d)/(1-e^{-d}), by convexity.
func (p slot) weights(mass, loss, d bits) (node, other float64) {
	step := number.Exp(d.Neg())
	if p.tiny > 0 {
		_, node = mass.Float64()
		_, other = number.FromFloat(2*p.tiny, composePrecision).Quo(whole(1).Sub(step)).Float64()
		return node, other
	}
	// between the losses -at·d, which is the greater, and -(at+1)d: e^{-loss} = e^{at·d}(share + (1-share)e^d)
	up := number.Exp(d)
	share := up.Sub(number.Exp(loss.Neg().Sub(d.Mul(whole(p.at))))).Quo(up.Sub(whole(1)))
	_, node = mass.Mul(share).Float64()
	_, other = mass.Mul(whole(1).Sub(share)).Float64()
	return max(node, 0), max(other, 0)
}
