package lumped

import (
	"context"
	"math"
)

// point is a primal and a dual iterate.
type point struct{ x, y []float64 }

func newPoint(f *flow) point {
	return point{make([]float64, len(f.class)), make([]float64, len(f.weight))}
}

func (p point) copy(q point) {
	copy(p.x, q.x)
	copy(p.y, q.y)
}

// ascent is the restarted, reflected Halpern iteration of the primal-dual hybrid gradient method (Applegate et al. 2021;
// Lu & Yang 2024) on a flow. Nothing that it returns is proved.
type ascent struct {
	f                  *flow
	omega              float64 // primal weight: step lengths are 1/(sqrt(n) ω) and ω/sqrt(n)
	now, anchor, image point
	best               []float64 // the dual with the best bound, feasible but for rounding
	bound              float64   // its bound
	primal, infeasible float64   // cost at the image, and Σ N |1 - A x|
	iterations         int
	pull, shift        []float64 // A x of the image and of the step; shift also is scratch
	stack              []block
}

func newAscent(f *flow, start point, omega float64) *ascent {
	a := &ascent{f: f, omega: omega, now: newPoint(f), anchor: newPoint(f), image: newPoint(f)}
	a.shift, a.pull, a.best = make([]float64, len(f.weight)), make([]float64, len(f.weight)), make([]float64, len(f.weight))
	a.now.copy(start)
	a.anchor.copy(start)
	a.bound = math.Inf(-1)
	a.offer(start.y)
	return a
}

// offer keeps y, repaired, if its bound is the best so far.
func (a *ascent) offer(y []float64) {
	copy(a.shift, y)
	if v := a.f.repair(a.shift); v > a.bound {
		a.bound = v
		copy(a.best, a.shift)
	}
}

// step stores T(now) in image and returns the squared length of T(now) - now in the norm of the method.
func (a *ascent) step() float64 {
	f := a.f
	root := math.Sqrt(float64(f.n))
	tau, sigma := 0.999/(root*a.omega), 0.999*a.omega/root
	clear(a.pull)
	clear(a.shift)
	x, y, image := a.now.x, a.now.y, a.image.x
	change, cost := 0.0, 0.0
	for s, w := range f.chains {
		from, to := f.start[s], f.start[s+1]
		for i := from; i < to; i++ {
			image[i] = x[i] - tau*(f.cost[i]-y[f.class[i]])
		}
		a.stack = f.project(image[from:to], a.stack)
		sum, squares := 0.0, 0.0
		for i := from; i < to; i++ {
			d := image[i] - x[i]
			squares += d * d
			sum += f.cost[i] * image[i]
			c := f.class[i]
			a.pull[c] += f.share[i] * image[i]
			a.shift[c] += f.share[i] * d
		}
		change += w * squares
		cost += w * sum
	}
	change /= tau
	a.primal, a.infeasible = cost, 0
	for c, w := range f.weight {
		miss := 1 - a.pull[c]
		d := sigma * (miss - a.shift[c])
		a.image.y[c] = y[c] + d
		change += w * (d*d/sigma + 2*d*a.shift[c])
		a.infeasible += w * math.Abs(miss)
	}
	return max(change, 0)
}

// reflect moves now to the Halpern average of the reflection 2T(now) - now and the anchor.
func (a *ascent) reflect(age int) {
	t := 1 / float64(age+2)
	mix := func(now, image, anchor []float64) {
		for i := range now {
			now[i] = (1-t)*(2*image[i]-now[i]) + t*anchor[i]
		}
	}
	mix(a.now.x, a.image.x, a.anchor.x)
	mix(a.now.y, a.image.y, a.anchor.y)
}

// restart makes the image the new anchor and balances the primal weight by the distances gone.
func (a *ascent) restart() {
	dx, dy := 0.0, 0.0
	f := a.f
	for s, w := range f.chains {
		for i := f.start[s]; i < f.start[s+1]; i++ {
			d := a.image.x[i] - a.anchor.x[i]
			dx += w * d * d
		}
	}
	for c, w := range f.weight {
		d := a.image.y[c] - a.anchor.y[c]
		dy += w * d * d
	}
	if dx > 1e-24 && dy > 1e-24 {
		a.omega = math.Exp(0.5*math.Log(a.omega) + 0.25*math.Log(dy/dx))
	}
	a.now.copy(a.image)
	a.anchor.copy(a.image)
}

// patience is the number of iterations without any gain in the bound, in units of the gap, after which run gives up.
const patience = 6000

// run iterates until the gap between the primal cost and the best bound is at most gap of the bound, or a small part of what the
// bound is above floor, and the primal misses little, and returns true; or until there were most iterations in all, the bound is
// stuck or the context ends.
func (a *ascent) run(ctx context.Context, gap, floor float64, most int, report func()) bool {
	first, last, age := 0.0, math.Inf(1), 0
	mark, marked := a.iterations, a.bound
	a.anchor.copy(a.now)
	for ; a.iterations < most; a.iterations++ {
		if ctx.Err() != nil {
			return false
		}
		r := math.Sqrt(a.step())
		if a.iterations%64 == 63 {
			a.offer(a.image.y)
			report()
			scale := max(gap*math.Abs(a.bound), 0.05*(a.bound-floor))
			if math.Abs(a.primal-a.bound) <= scale && a.infeasible*10 <= scale {
				return true
			}
			if a.bound > marked+scale {
				mark, marked = a.iterations, a.bound
			} else if a.iterations-mark > patience {
				return false
			}
		}
		if age == 0 {
			first = r
		}
		if age > 0 && (r <= 0.2*first || r <= 0.8*first && r > last || float64(age) >= 0.36*float64(a.iterations)) {
			a.offer(a.image.y)
			a.restart()
			age, last = 0, math.Inf(1)
			continue
		}
		last = r
		a.reflect(age)
		age++
	}
	return false
}
