package lp

import (
	"flag"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

// Theorem 8 of research/docs/points.md.

var (
	coverFrom = flag.Float64("from", math.Ln2, "greatest ε of TestConstantEverywhere")
	coverTo   = flag.Float64("to", 0.25, "least ε of TestConstantEverywhere; 0.005 covers all smaller ones")
)

const (
	finest    = 0.005 // the ε below which Theorem 6 takes over
	cellRatio = 1.006 // of the ends of a cell of ε
	// Theorem 1 gives the bound from this ν on.
	crowdedAt = 1.84
	// About the length of a row of a table, in units of 1/ε.
	coarse = 0.16
)

// rectangle is a range of z with one of k; k2 < 0 stands for infinity.
type rectangle struct {
	z1, z2 float64
	k1, k2 int
	depth  int    // up to which g is needed
	lo, hi *rates // at k1, k2
	flips  []flipBound
	thin   float64 // A/B and B' at z1 and k1
	b      float64
	tables []*longTable
	cuts   []*longCut
}

// flipBound bounds permute-and-flip's error: mean · (top g(third/3) + Σ weight g), g at the points of the given rates; without third, top is ∫ (1-y) g(-y).
type flipBound struct {
	mean   float64
	third  int
	top    span
	rates  []span
	weight []span
}

const chords = 16

func newRectangle(z1, z2 float64, k1, k2, depth int) *rectangle {
	r := &rectangle{z1: z1, z2: z2, k1: k1, k2: k2, depth: depth, lo: newRates(k1, depth), hi: newRates(k2, depth)}
	sum := plainSum(at(z1), k1)
	r.thin, r.b = costSum(at(z1), k1).over(sum).lo, sum.sub(at(1)).lo
	sum = plainSum(at(z2), k2)
	r.flips = []flipBound{r.flipBound(costSum(at(z2), k2).over(sum).hi, sum.sub(at(1)).hi, at(0))}
	return r
}

// flipBound bounds ∫_0^b (1 - v/b) g(v - shift) dv by chords of the convex g.
func (r *rectangle) flipBound(mean, b float64, shift span) flipBound {
	f := flipBound{mean: mean}
	step := above(b / chords)
	for j := 0; j <= chords; j++ {
		l := at(step).mul(integer(j)).sub(shift)
		if r.k2 >= 0 {
			left := integer(r.k2).sub(l)
			l = span{0, math.Inf(1)}
			if left.lo > 0 {
				l = logOfInt(r.k2).sub(span{logOf(left.lo).lo, logOf(left.hi).hi}).mul(integer(r.k2))
			}
		}
		weight := at(step).mul(at(1 - float64(j)/chords))
		switch j {
		case 0:
			weight = at(step).mul(at(.5))
		case chords:
			weight = at(step).over(integer(6 * chords))
		}
		f.rates, f.weight = append(f.rates, l), append(f.weight, weight)
	}
	return f
}

// refinedFlips adds the bounds for lattices w times as fine, w = 2, 3, 4 and w >= 5, as far as ε = h/w < finest has that w for an h of the cell.
func (r *rectangle) refinedFlips() {
	l := logOf(r.z2)
	h := span{-l.hi, -l.lo}
	for w := 2; w <= 5; w++ {
		part := inverse(integer(w))
		if h.mul(at(1).sub(part)).lo > finest {
			continue
		}
		longer, mean, third := at(2).sub(part), inverse(h), -5
		if w < 5 {
			mean = mean.sub(part.mul(at(.5))).add(h.mul(part).mul(part).over(integer(12)))
		} else {
			longer = at(2)
		}
		if w > 3 {
			third = -6
		}
		shift, b := longer, inverse(h)
		if w < 5 {
			shift = longer.sub(part)
		}
		if r.k2 >= 0 {
			kappa := integer(r.k2).add(longer)
			rest := decayAt(1, kappa.mul(h))
			mean = mean.sub(kappa.mul(rest).over(at(1).sub(rest)))
			b = at(1).sub(rest).over(h)
		}
		f := r.flipBound(mean.hi, b.hi, at(shift.hi))
		f.third, f.top = third, part.mul(at(.5))
		r.flips = append(r.flips, f)
	}
}

// ends encloses 1/k for the k of the rectangle.
func (r *rectangle) ends() span {
	s := span{0, inverse(integer(r.k1)).hi}
	if r.k2 >= 0 {
		s.lo = inverse(integer(r.k2)).lo
	}
	return s
}

// strip is a rectangle with a range of μ. All amounts below are divided by n(n-1)k^{n-2}.
type strip struct {
	*rectangle
	m1, m2 float64
	lo, hi *corner // least and greatest g at depths >= 0
	first  span    // ∫_0^1 (1-y) g(-y) dy
}

func (r *rectangle) strip(m1, m2 float64) *strip {
	return &strip{r, m1, m2, r.lo.corner(m2, r.depth), r.hi.corner(m1, r.depth), span{r.lo.corner(m1, 0).step[0].lo, r.hi.corner(m2, 0).step[0].hi}}
}

// flip is an upper bound on permute-and-flip's error.
func (s *strip) flip() float64 {
	most := 0.0
	for _, f := range s.flips {
		sum := s.first
		if f.third != 0 {
			sum = s.rectangle.hi.g(s.m2, f.third).mul(f.top)
		}
		for j, l := range f.rates {
			m := s.m1
			if l.lo < 0 {
				m, l.hi = s.m2, min(l.hi, 0)
			}
			sum = sum.add(f.weight[j].mul(at(decayAt(m, l).hi)))
		}
		most = max(most, above(f.mean*sum.hi))
	}
	return most
}

// deepest is a lower bound on the sum of Theorem 1's dual point.
func (s *strip) deepest() float64 {
	k := s.ends()
	n := at(s.m1).add(at(k.lo)).add(at(k.lo))
	if n.lo <= 0 {
		return 0
	}
	more := at(1).sub(inverse(at(s.b).mul(n))).lo
	if more <= 0 {
		return 0
	}
	return at(more).over(at(s.m2).add(at(k.hi))).add(at(s.first.lo)).mul(at(s.thin)).lo
}

// cut is a lower bound on the sum of a cut.
func (s *strip) cut(c *longCut) float64 {
	sum, previous := at(0), 0.0
	for i := 0; i <= len(c.phi) && (s.k2 < 0 || i <= s.k2); i++ {
		phi := 0.0
		if i < len(c.phi) {
			phi = c.phi[i]
		}
		step := span{s.lo.step[i].lo, s.hi.step[i].hi}
		if i == 0 {
			step = s.first
		}
		within := step.add(span{s.lo.integral[i+c.w].sub(s.lo.integral[i]).lo, s.hi.integral[i+c.w].sub(s.hi.integral[i]).hi})
		if i > s.k1 {
			within.lo = 0
		}
		sum = sum.add(at(phi).sub(at(previous)).mul(within))
		previous = phi
	}
	return sum.lo
}

// table is a lower bound on the sum of a table of counts.
func (s *strip) table(f *longTable) float64 {
	k, most, sum := s.ends(), len(f.rows[0]), at(0)
	products := make([]span, most) // Π_{l<i-2} (μ - l/k) / i!
	for i := 2; i < most; i++ {
		products[i] = at(.5)
		if i > 2 {
			d := span{s.m1, s.m2}.sub(integer(i - 3).mul(k))
			products[i] = products[i-1].mul(span{max(0, d.lo), max(0, d.hi)}).over(integer(i))
		}
	}
	for j, row := range f.rows {
		counts, rest := make([]span, most), at(0)
		for x := j * f.w; x < (j+1)*f.w; x++ {
			g := span{s.lo.g[x].lo, s.hi.g[x].hi}
			rest = rest.add(s.first).add(span{s.lo.integral[x].lo, s.hi.integral[x].hi})
			q := at(1).sub(integer(x).mul(k))
			to, from := integer(x+1), integer(x)
			for i := 2; i < most; i++ {
				if i > 2 {
					g = g.over(q)
				}
				to, from = to.mul(integer(x+1)), from.mul(integer(x))
				counts[i] = counts[i].add(g.mul(to.sub(from)))
			}
		}
		last := at(row[most-1])
		sum = sum.add(last.mul(rest))
		for i := 2; i < most; i++ {
			sum = sum.add(at(row[i-1]).sub(last).mul(products[i]).mul(counts[i]))
		}
	}
	return sum.mul(at(f.scale)).lo
}

// bounded proves that permute-and-flip's error is at most most times that of one of the dual points, in the whole strip.
func (s *strip) bounded(most float64) bool {
	error := s.flip()
	proves := func(value float64) bool { return error <= below(most*value) }
	if proves(s.deepest()) {
		return true
	}
	for _, f := range s.tables {
		if proves(s.table(f)) {
			return true
		}
	}
	for _, c := range s.cuts {
		if proves(s.cut(c)) {
			return true
		}
	}
	return false
}

// bounded proves the bound for all μ up to m, at finite k for the μ that belong to an n where that is better.
func (r *rectangle) bounded(m, most float64) bool {
	if r.k2 >= 0 && float64(r.k1)*-math.Log(r.z1) < 8 {
		for n := int(m*float64(r.k2)) + 3; n >= 3; n-- {
			p := integer(n - 2)
			if !r.strip(p.over(integer(r.k2)).lo, p.over(integer(r.k1)).hi).bounded(most) {
				return false
			}
		}
		return true
	}
	const parts = 14
	for i := parts; i > 0; i-- { // a bound that fails at a point is not tried further
		if x := m * (float64(i) - .5) / parts; !r.strip(x, x).bounded(most) {
			return false
		}
	}
	var split func(m1, m2 float64, more int) bool
	split = func(m1, m2 float64, more int) bool {
		if r.strip(m1, m2).bounded(most) {
			return true
		}
		mid := (m1 + m2) / 2
		return more > 0 && split(m1, mid, more-1) && split(mid, m2, more-1)
	}
	for i := range parts {
		to := m * float64(i+1) / parts
		if i+1 == parts {
			to = m
		}
		if !split(m*float64(i)/parts, to, 5) {
			return false
		}
	}
	return true
}

// everywhere proves a bound on permute-and-flip's ratio for all n and all k >= 25.
type everywhere struct {
	t      *testing.T
	most   float64
	points map[[3]int]*longTable
}

// try builds the dual points for one rectangle and reports whether they prove the bound.
func (e *everywhere) try(z1, z2 float64, k1, k2 int) bool {
	eps, depth := -math.Log(z1), 0
	var cuts []*longCut
	var tables []*longTable
	b := plainSum(at(z1), k1).sub(at(1)).lo
	widths, step := []int{int(.85 * b), int(b)}, .1
	if b < 8 {
		widths, step = append(widths, int(b)+1), .02
	}
	for _, width := range widths {
		width = min(max(1, width), k1-1)
		last := min(k1, int(3*b)+width)
		if k2 < 0 {
			last = min(k1-width-1, last)
		}
		for share := 1.0; share > .7; share -= step {
			if c := proposeLongCut(z1, k1, k2, width, last, share); c.feasible(at(z1), k1, k2) {
				cuts, depth = append(cuts, c), max(depth, last+1+width)
				break
			}
		}
	}
	for _, crowd := range []float64{.75, 1.15, 1.5} {
		if f := e.propose(eps, k1, crowd); f != nil && len(f.rows)*f.w < k1 && f.fit(at(z1), k1) {
			tables, depth = append(tables, f), max(depth, len(f.rows)*f.w)
		}
	}
	r := newRectangle(z1, z2, k1, k2, depth)
	r.tables, r.cuts = tables, cuts
	m := at(crowdedAt).over(at(b)).hi
	if refinable(z2) {
		r.refinedFlips()
		m = at(crowdedAt).over(integer(k1).mul(at(peopled(z1, k1+2)))).hi
	}
	return r.bounded(m, e.most)
}

// refinable reports whether a cell that ends at z has to be proved for refinements too: every ε below finest is h/w with such an h.
func refinable(z float64) bool { return below(-logOf(z).hi) < 2*finest }

// peopled is (z - z^{κ-1})/(hκ), a lower bound on B'/k at all refinements.
func peopled(z float64, kappa int) float64 {
	l := logOf(z)
	return at(z).sub(at(z).pow(kappa - 1)).over(span{-l.hi, -l.lo}.mul(integer(kappa))).lo
}

// propose returns a table with w depths a row, found on a coarse lattice for a like εk and some ν.
func (e *everywhere) propose(eps float64, k int, crowd float64) *longTable {
	coarse, length := float64(coarse), eps*float64(k)
	if length < 4 {
		coarse = .14
	}
	w := max(1, int(math.Round(coarse/eps)))
	lengths := []float64{1.1, 1.2, 1.35, 1.5, 1.7, 1.9, 2.15, 2.45, 2.8, 3.3, 4, 5, 8}
	near := 0
	for near+1 < len(lengths) && length > math.Sqrt(lengths[near]*lengths[near+1]) {
		near++
	}
	bucket := int(math.Round(math.Log(eps*float64(w)) / .012))
	h := math.Exp(float64(bucket) * .012)
	depth, z := max(2, int(math.Round(lengths[near]/h))), math.Exp(-h)
	n := max(3, int(math.Ceil(crowd*float64(depth)*(1-z)/(z*(1-math.Pow(z, float64(depth)))))))
	key := [3]int{bucket, near, n}
	if _, ok := e.points[key]; !ok {
		e.points[key] = nil
		if f := proposeCounts(e.t, n, depth, z, min(int(.72/h)+1, depth-1), 5); f != nil {
			found := &longTable{}
			for _, row := range f {
				var values []float64
				for _, v := range row {
					x, _ := v.Float64()
					values = append(values, x)
				}
				found.rows = append(found.rows, values)
			}
			e.points[key] = found
		}
	}
	if e.points[key] == nil {
		return nil
	}
	return &longTable{rows: e.points[key].rows, w: w}
}

// cell proves the bound for e^{-ε} in [z1,z2] and all k >= 25, and if z2 is near 1 for all refinements to ε < finest. It returns the number of rectangles, and ok = false
// with the k where no proof was found.
func (e *everywhere) cell(z1, z2 float64) (rectangles, k int, ok bool) {
	eps, refined := -math.Log(z1), refinable(z2)
	k = 25
	if refined {
		k = 96
	}
	for ; ; k++ { // B' <= 1, or crowdedAt for all n >= 3
		if refined && below(3*peopled(z1, k+2)) < crowdedAt {
			break
		}
		if !refined && plainSum(at(z2), k).hi > 2 && integer(3).mul(plainSum(at(z1), k).sub(at(1))).over(integer(k)).lo < crowdedAt {
			break
		}
	}
	for length := .02; ; { // of a range of 1/(εk)
		k2, rest := -1, 1/(float64(k)*eps)-length
		if rest > length/2 {
			k2 = max(k, int(1/(rest*eps)))
		}
		rectangles++
		switch {
		case e.try(z1, z2, k, k2):
			if k2 < 0 {
				return rectangles, k, true
			}
			k, length = k2+1, min(.04, length*1.3)
		case k2 == k || length < 1e-4:
			return rectangles, k, false
		default:
			length *= .6
		}
	}
}

// Theorem 8: the bound in cells of ε from -from to -to with the tag slow, in a few otherwise.
func TestConstantEverywhere(t *testing.T) {
	e := &everywhere{t, 1.195, map[[3]int]*longTable{}}
	// e^{-ν}/(ν-1) + 1 is at most the bound from crowdedAt on.
	require.LessOrEqual(t, at(1).add(decay(crowdedAt).over(at(crowdedAt).sub(at(1)))).hi, e.most)

	start, cells, rectangles := time.Now(), 0, 0
	z := 0.5
	if *coverFrom < math.Ln2 {
		z = math.Exp(-*coverFrom)
	}
	for eps := *coverFrom; -logOf(z).lo > *coverTo; cells++ {
		if !slowtest.Enabled && cells == 6 {
			break
		}
		eps /= cellRatio
		next := math.Exp(-eps)
		count, k, ok := e.cell(z, next)
		require.True(t, ok, "e^-ε in [%v,%v], k = %d", z, next, k)
		rectangles += count
		z = next
		if cells%20 == 0 {
			t.Logf("ε = %.4f: %d cells, %d rectangles, %.0f s", eps, cells+1, rectangles, time.Since(start).Seconds())
		}
	}
	t.Logf("from %v down to ε = %v: %d cells, %d rectangles", *coverFrom, -math.Log(z), cells, rectangles)

	_, _, ok := (&everywhere{t, 1.05, e.points}).cell(.75, .7501)
	assert.False(t, ok, "these points do not prove 1.05")
}
