package pairwise

import "math"

// circlesOfFour bounds the probability C that none of four candidates beats all others, box by box in the scores of the last three; that of the first is 0. research/docs/unequal.md,
// Theorem 9, says why each of the three tests of a box is a proof. All is float64; circleMargin has the roundings, as in circles.go: here are fewer than 100 terms, no
// quotient but those by sums of two sensitivities, and speeds are multiplied by half a box's width, which is at most 1 there.
type circlesOfFour struct {
	deltas  [4]float64 // ascending, the last one 1, the second one positive
	triples [4]circles // without candidate 0, 1, 2, 3: bounds of C and of the speed at which circles open; {} for equal sensitivities
	target  float64    // the bound to be proved
	left    int        // boxes that may still be tried
}

const (
	fourAllow = 6e-3 // and a tenth: by how much the bound exceeds the largest value found
	fourBoxes = 250_000
	fourReach = 32.0 // the range of scores that is divided; leads at its ends are 16 or more
	fourNone  = 1e-9 // more than the densities of circles of which a lead exceeds 25
	fourSets  = 5    // for how many sets of four with different sensitivities, among at most
	fourMany  = 6    // candidates, this is worth while
)

// fourBox holds scores from low to high.
type fourBox struct{ low, high [4]float64 }

// lead bounds the lead of s over r from above.
func (c *circlesOfFour) lead(b *fourBox, r, s int) float64 {
	return (b.high[s] - b.low[r]) / (c.deltas[r] + c.deltas[s])
}

// nobody bounds C from above: 1 - Σf, with each f at the greatest leads of the others, as it falls with each. At a point it is C.
func (c *circlesOfFour) nobody(b *fourBox) float64 {
	rest := 1.0
	for r := range 4 {
		rest -= winsOver(c.lead(b, r, (r+1)%4), c.lead(b, r, (r+2)%4), c.lead(b, r, (r+3)%4))
	}
	return rest
}

// winsOver returns the probability that a candidate beats three others with these leads over it, or 0 if it is below e^-56: ∫ (1-u e^x)(1-u e^y)(1-u e^z) du over u up to where a
// factor is 0. A lead of -∞ stands for nobody.
func winsOver(x, y, z float64) float64 {
	top := max(0, x, y, z)
	if top > 56 {
		return 0
	}
	p, q, s := circleExp(x-top), circleExp(y-top), circleExp(z-top)
	return float64(circleExp(-top) * (1 - float64((p+q+s)/2) + float64((float64(p*(q+s))+float64(q*s))/3) - float64(float64(p*q*s)/4)))
}

// directions returns the leads of the two circles of the candidates other than one.
func (c *circlesOfFour) directions(b *fourBox, other int) [2]circleBox {
	i, j, k := (other+1)%4, (other+2)%4, (other+3)%4
	ij, jk, ki, ji, kj, ik := c.lead(b, i, j), c.lead(b, j, k), c.lead(b, k, i), c.lead(b, j, i), c.lead(b, k, j), c.lead(b, i, k)
	x, y, z := c.deltas[i]+c.deltas[j], c.deltas[j]+c.deltas[k], c.deltas[k]+c.deltas[i]
	return [2]circleBox{
		{[3]float64{x, y, z}, [3]float64{-ji, -kj, -ik}, [3]float64{ij, jk, ki}},
		{[3]float64{x, z, y}, [3]float64{-ij, -ki, -jk}, [3]float64{ji, ik, kj}},
	}
}

// most bounds C by the sum over all triples.
func (c *circlesOfFour) most(b *fourBox) float64 {
	sum := 0.0
	for other, t := range c.triples {
		if t.most > 0 {
			d := c.directions(b, other)
			sum += min(t.most, max(d[0].most(), d[1].most()))
		}
	}
	return sum
}

// speed bounds the speed at which C changes in the box: the sum over the triples that can run in a circle there.
func (c *circlesOfFour) speed(b *fourBox) float64 {
	sum := fourNone
	for other, t := range c.triples {
		here := 0.0
		for _, d := range c.directions(b, other) {
			if g := d.low; t.most > 0 && g[0]+g[1]+g[2] < 0 && max(g[0], g[1], g[2]) < 25 {
				here = max(here, d.opens())
			}
		}
		sum += min(here, t.slope)
	}
	return sum
}

// holds reports whether C is proved to be at most the target in the box.
func (c *circlesOfFour) holds(b fourBox) bool {
	if c.left--; c.left < 0 {
		return false
	}
	middle, widest, split, finite := b, 0.0, 0, true
	for s := 1; s < 4; s++ {
		if c.deltas[s] == c.deltas[s-1] && b.high[s] < b.low[s-1] {
			return true // the two exchanged are in another box
		}
		if math.IsInf(b.high[s]-b.low[s], 1) {
			finite = false
			continue
		}
		half := float64((b.high[s] - b.low[s]) / 2)
		middle.low[s], middle.high[s] = b.low[s]+half, b.low[s]+half
		if half/c.deltas[s] > widest {
			widest, split = half/c.deltas[s], s
		}
	}
	if c.most(&b) <= c.target {
		return true
	}
	if finite && widest <= 1 {
		room := c.target - c.nobody(&middle)
		if room < 0 {
			return false
		}
		if float64(c.speed(&b)*widest) <= room {
			return true
		}
	}
	if c.nobody(&b) <= c.target {
		return true
	}
	if split == 0 {
		return false
	}
	one, other := b, b
	one.low[split], other.high[split] = middle.low[split], middle.low[split]
	return c.holds(one) && c.holds(other)
}

// climb returns a value of C that is close to the largest: uphill from 64 places, with shrinking steps.
func (c *circlesOfFour) climb() float64 {
	found := 0.0
	for start := range 64 {
		var at fourBox
		for s, n := 1, start; s < 4; s, n = s+1, n/4 {
			at.low[s] = float64((c.deltas[s] + c.deltas[0]) * float64(2*(n%4)-3))
			at.high[s] = at.low[s]
		}
		here := c.nobody(&at)
		for step := 1.0; step > 1e-3; step /= 2 {
			for better := true; better; {
				better = false
				for s := 1; s < 4; s++ {
					for _, move := range []float64{-float64(step * c.deltas[s]), float64(step * c.deltas[s])} {
						to := at
						to.low[s] += move
						to.high[s] = to.low[s]
						if there := c.nobody(&to); there > here {
							at, here, better = to, there, true
						}
					}
				}
			}
		}
		found = max(found, here)
	}
	return found
}

// bound returns a bound of C: the sum of those of the triples where none that is better is proved.
func (c *circlesOfFour) bound() float64 {
	sum, least := 0.0, 0.0
	for _, t := range c.triples {
		sum, least = sum+t.most, max(least, t.most)
	}
	c.target = max(float64(c.climb()*1.1)+fourAllow, least+fourAllow)
	if c.deltas[1] == 0 || !(c.target < sum) {
		return sum
	}
	c.left = fourBoxes
	for i := range fourStarts {
		if !c.holds(fourStart(i)) {
			return sum
		}
	}
	return c.target + circleMargin
}

const fourStarts = 64

// fourStart returns one of the boxes that the search begins with: together they are all scores.
func fourStart(i int) (b fourBox) {
	edges := []float64{math.Inf(-1), -fourReach, 0, fourReach, math.Inf(1)}
	for s := 1; s < 4; s, i = s+1, i/4 {
		b.low[s], b.high[s] = edges[i%4], edges[i%4+1]
	}
	return b
}
