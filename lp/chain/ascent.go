package chain

import (
	"context"
	"math"
	"sync"
)

// Point is a primal and a dual iterate: x for each position, y for each class.
type Point struct{ X, Y []float64 }

// NewPoint returns the point 0 of a form.
func NewPoint(f *Form) Point {
	return Point{make([]float64, len(f.Class)), make([]float64, len(f.Weight))}
}

func (p Point) copy(q Point) {
	copy(p.X, q.X)
	copy(p.Y, q.Y)
}

// Ascent is the restarted, reflected Halpern iteration of the primal-dual hybrid gradient method (Applegate et al. 2021;
// Lu & Yang 2024) on a form. Nothing that it returns is proved. Its numbers depend on the form and the start alone, however many
// processors take part.
type Ascent struct {
	Form  *Form
	Omega float64 // primal weight: step lengths are 1/(sqrt(n) ω) and ω/sqrt(n)
	// Now is the iterate; Image is what the method makes of it, which lies in the cones.
	Now, Image Point
	Best       []float64 // the dual with the best bound, feasible but for rounding
	Bound      float64   // its bound, as a mean over the lattice
	Primal     float64   // cost at the image, as a mean over the lattice
	Infeasible float64   // Σ N |1 - A x| over the lattice at the image
	Iterations int

	anchor      Point
	average     float64 // weight of the anchor in the average that is still to be taken before the next step; 0 for none
	parts       []part
	pull, shift []float64 // A x of the image and of the step; shift also is scratch
}

// part is a range of chains that one goroutine works on.
type part struct {
	from, to     int
	pull, shift  []float64
	stack        []block
	change, cost float64
}

// A form with more positions than partLength is cut into parts of about that length, but at most maxParts.
const (
	partLength = 8192
	maxParts   = 8
)

// NewAscent starts at a point with a primal weight.
func NewAscent(f *Form, start Point, omega float64) *Ascent {
	classes := len(f.Weight)
	a := &Ascent{Form: f, Omega: omega, Now: NewPoint(f), Image: NewPoint(f), anchor: NewPoint(f)}
	a.shift, a.pull, a.Best = make([]float64, classes), make([]float64, classes), make([]float64, classes)
	count := min(maxParts, 1+len(f.Class)/partLength)
	next := 0
	for i := range count {
		p := part{from: next, pull: a.pull, shift: a.shift}
		for next < len(f.Chains) && int(f.Start[next]) < (i+1)*len(f.Class)/count {
			next++
		}
		if p.to = next; i > 0 {
			p.pull, p.shift = make([]float64, classes), make([]float64, classes)
		}
		a.parts = append(a.parts, p)
	}
	a.Now.copy(start)
	a.Image.copy(start)
	a.anchor.copy(start)
	a.Bound = math.Inf(-1)
	a.offer(start.Y)
	return a
}

// offer keeps y, repaired, if its bound is the best so far.
func (a *Ascent) offer(y []float64) {
	copy(a.shift, y)
	if v := a.Form.Repair(a.shift); v > a.Bound {
		a.Bound = v
		copy(a.Best, a.shift)
	}
}

// each runs work on all parts at once.
func (a *Ascent) each(work func(p *part)) {
	var group sync.WaitGroup
	for i := 1; i < len(a.parts); i++ {
		group.Go(func() { work(&a.parts[i]) })
	}
	work(&a.parts[0])
	group.Wait()
}

// step takes the average that is still to be taken, stores T(now) in the image and returns the squared length of T(now) - now in the norm of the
// method.
func (a *Ascent) step() float64 {
	f := a.Form
	root := math.Sqrt(float64(f.N))
	tau, sigma := 0.999/(root*a.Omega), 0.999*a.Omega/root
	if a.average > 0 {
		mix(a.average, a.Now.Y, a.Image.Y, a.anchor.Y)
	}
	a.each(func(p *part) { a.advance(p, tau) })
	change := 0.0
	a.Primal, a.Infeasible, a.average = 0, 0, 0
	for i := range a.parts {
		p := &a.parts[i]
		change += p.change / tau
		a.Primal += p.cost
		if i > 0 {
			for c, v := range p.pull {
				a.pull[c] += v
			}
			for c, v := range p.shift {
				a.shift[c] += v
			}
		}
	}
	y, image := a.Now.Y, a.Image.Y
	for c, w := range f.Weight {
		miss := 1 - a.pull[c]
		d := sigma * (miss - a.shift[c])
		image[c] = y[c] + d
		change += w * (d*d/sigma + 2*d*a.shift[c])
		a.Infeasible += w * math.Abs(miss)
	}
	return max(change, 0)
}

// advance is the primal half of a step on one part.
func (a *Ascent) advance(p *part, tau float64) {
	f := a.Form
	clear(p.pull)
	clear(p.shift)
	p.change, p.cost = 0, 0
	for s := p.from; s < p.to; s++ {
		from, to := f.Start[s], f.Start[s+1]
		x, image := a.Now.X[from:to], a.Image.X[from:to]
		cost, class, share := f.Cost[from:to], f.Class[from:to], f.Share[from:to]
		if a.average > 0 {
			mix(a.average, x, image, a.anchor.X[from:to])
		}
		for i, v := range x {
			image[i] = v - tau*(cost[i]-a.Now.Y[class[i]])
		}
		p.stack = f.project(image, p.stack)
		sum, squares := 0.0, 0.0
		for i, v := range image {
			d := v - x[i]
			squares += d * d
			sum += cost[i] * v
			p.pull[class[i]] += share[i] * v
			p.shift[class[i]] += share[i] * d
		}
		p.change += f.Chains[s] * squares
		p.cost += f.Chains[s] * sum
	}
}

// mix moves now to the average of the reflection 2 image - now and the anchor, the latter with weight t.
func mix(t float64, now, image, anchor []float64) {
	for i, v := range now {
		now[i] = (1-t)*(2*image[i]-v) + t*anchor[i]
	}
}

// restart makes the image the new anchor and balances the primal weight by the distances gone.
func (a *Ascent) restart() {
	if dx, dy := a.gone(); dx > 1e-32 && dy > 1e-32 {
		a.Omega = math.Exp(0.5*math.Log(a.Omega) + 0.25*math.Log(dy/dx))
	}
	a.Now.copy(a.Image)
	a.anchor.copy(a.Image)
	a.average = 0
}

// gone returns the squared distances from the anchor to the image.
func (a *Ascent) gone() (dx, dy float64) {
	f := a.Form
	for s, w := range f.Chains {
		for i := f.Start[s]; i < f.Start[s+1]; i++ {
			d := a.Image.X[i] - a.anchor.X[i]
			dx += w * d * d
		}
	}
	for c, w := range f.Weight {
		d := a.Image.Y[c] - a.anchor.Y[c]
		dy += w * d * d
	}
	return dx, dy
}

// patience is the number of iterations without any gain in the bound, in units of the gap, after which an ascent is stuck.
const patience = 6000

// Until returns a watch for Run that ends it when the gap between the primal cost and the best bound is at most gap of the bound, or a small part
// of what the bound is above floor, and the primal misses little (converged), or when the bound is stuck.
func (a *Ascent) Until(gap, floor float64, report func()) func() Outcome {
	mark, marked := a.Iterations, a.Bound
	return func() Outcome {
		report()
		scale := max(gap*math.Abs(a.Bound), 0.05*(a.Bound-floor))
		if math.Abs(a.Primal-a.Bound) <= scale && a.Infeasible*10 <= scale {
			return Converged
		}
		if a.Bound > marked+scale {
			mark, marked = a.Iterations, a.Bound
		} else if a.Iterations-mark > patience {
			return Stuck
		}
		return Going
	}
}

// Outcome is what a watch says of an ascent.
type Outcome int8

// The outcomes.
const (
	Going Outcome = iota
	Converged
	Stuck
)

// every is the number of iterations from one look of the watch to the next.
const every = 64

// Run iterates until the watch has seen enough, there were most iterations in all or the context ends, and says whether the watch called it
// converged.
func (a *Ascent) Run(ctx context.Context, most int, watch func() Outcome) bool {
	first, last, age := 0.0, math.Inf(1), 0
	a.anchor.copy(a.Now)
	a.average = 0
	for ; a.Iterations < most; a.Iterations++ {
		if ctx.Err() != nil {
			return false
		}
		r := math.Sqrt(a.step())
		if a.Iterations%every == every-1 {
			a.offer(a.Image.Y)
			if o := watch(); o != Going {
				return o == Converged
			}
		}
		if age == 0 {
			first = r
		}
		if age > 0 && (r <= 0.2*first || r <= 0.8*first && r > last || float64(age) >= 0.36*float64(a.Iterations)) {
			a.offer(a.Image.Y)
			a.restart()
			age, last = 0, math.Inf(1)
			continue
		}
		last = r
		a.average = 1 / float64(age+2)
		age++
	}
	return false
}
