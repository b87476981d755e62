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
	// Spread says how a restart sets the primal weight: where it is positive, so that Spread times Infeasible becomes about what the bound lacks of the
	// primal cost, and where it is 0, by the distances gone.
	Spread float64

	anchor  Point
	average float64 // weight of the anchor in the average that is still to be taken before the next step; 0 for none
	parts   []part
	at      struct{ now, image, anchor []float64 } // A x of each
	scratch []float64
}

// part is a range of chains, and one of classes, that one goroutine works on.
type part struct {
	from, to                 int
	first, last              int
	pull                     []float64 // A x of the image from these chains alone
	stack                    []block
	change, cost, infeasible float64
	dx, dy                   float64
}

// A form with more positions than partLength is cut into parts of about that length, but at most maxParts.
const (
	partLength = 24576
	maxParts   = 8
)

// NewAscent starts at a point with a primal weight.
func NewAscent(f *Form, start Point, omega float64) *Ascent {
	classes := len(f.Weight)
	a := &Ascent{Form: f, Omega: omega, Now: NewPoint(f), Image: NewPoint(f), anchor: NewPoint(f)}
	a.at.now, a.at.image, a.at.anchor = make([]float64, classes), make([]float64, classes), make([]float64, classes)
	a.scratch, a.Best = make([]float64, classes), make([]float64, classes)
	count := min(maxParts, 1+len(f.Class)/partLength)
	next := 0
	for i := range count {
		p := part{from: next, first: i * classes / count, last: (i + 1) * classes / count, pull: make([]float64, classes)}
		for next < len(f.Chains) && int(f.Start[next]) < (i+1)*len(f.Class)/count {
			next++
		}
		p.to = next
		p.stack = make([]block, len(f.Power)+1)
		a.parts = append(a.parts, p)
	}
	a.Now.copy(start)
	a.Image.copy(start)
	a.anchor.copy(start)
	a.Bound = math.Inf(-1)
	a.keepBest(start.Y)
	return a
}

// keepBest keeps y, repaired, if its bound is the best so far.
func (a *Ascent) keepBest(y []float64) {
	copy(a.scratch, y)
	if v := a.Form.Repair(a.scratch); v > a.Bound {
		a.Bound = v
		a.Best, a.scratch = a.scratch, a.Best
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
	root := math.Sqrt(float64(a.Form.N))
	tau, sigma := 0.999/(root*a.Omega), 0.999*a.Omega/root
	a.each(func(p *part) {
		if a.average > 0 {
			mix(a.average, a.Now.Y[p.first:p.last], a.Image.Y[p.first:p.last], a.anchor.Y[p.first:p.last])
			mix(a.average, a.at.now[p.first:p.last], a.at.image[p.first:p.last], a.at.anchor[p.first:p.last])
		}
	})
	a.each(func(p *part) { a.advance(p, tau) })
	a.each(func(p *part) { a.climb(p, sigma) })
	change := 0.0
	a.Primal, a.Infeasible, a.average = 0, 0, 0
	for i := range a.parts {
		p := &a.parts[i]
		change += p.change
		a.Primal += p.cost
		a.Infeasible += p.infeasible
	}
	return max(change, 0)
}

// climb is the dual half of a step on the classes of one part.
func (a *Ascent) climb(p *part, sigma float64) {
	image := a.at.image[p.first:p.last]
	copy(image, a.parts[0].pull[p.first:p.last])
	for i := 1; i < len(a.parts); i++ {
		for c, v := range a.parts[i].pull[p.first:p.last] {
			image[c] += v
		}
	}
	p.infeasible = 0
	now, y, next, weight := a.at.now[p.first:p.last], a.Now.Y[p.first:p.last], a.Image.Y[p.first:p.last], a.Form.Weight[p.first:p.last]
	for c, v := range image {
		shift := v - now[c]
		d := float64(sigma * (1 - v - shift))
		next[c] = y[c] + d
		p.change += float64(weight[c] * (float64(d*d/sigma) + float64(2*d*shift)))
		p.infeasible += float64(weight[c] * math.Abs(1-v))
	}
}

// advance is the primal half of a step on the chains of one part.
func (a *Ascent) advance(p *part, tau float64) {
	f := a.Form
	clear(p.pull)
	p.change, p.cost = 0, 0
	y, pull := a.Now.Y, p.pull
	for s := p.from; s < p.to; s++ {
		from, to := f.Start[s], f.Start[s+1]
		x, image := a.Now.X[from:to], a.Image.X[from:to]
		cost, class, share := f.Cost[from:to], f.Class[from:to], f.Share[from:to]
		image = image[:len(x)]
		cost, class, share = cost[:len(x)], class[:len(x)], share[:len(x)]
		if a.average > 0 {
			mix(a.average, x, image, a.anchor.X[from:to])
		}
		for i, v := range x {
			image[i] = v - float64(tau*(cost[i]-y[class[i]]))
		}
		f.project(image, p.stack)
		sum, squares := 0.0, 0.0
		for i, v := range image {
			d := v - x[i]
			squares += float64(d * d)
			sum += float64(cost[i] * v)
			pull[class[i]] += float64(share[i] * v)
		}
		p.change += float64(f.Chains[s] * squares)
		p.cost += float64(f.Chains[s] * sum)
	}
	p.change /= tau
}

// mix moves now to the average of the reflection 2 image - now and the anchor, the latter with weight t.
func mix(t float64, now, image, anchor []float64) {
	image, anchor = image[:len(now)], anchor[:len(now)]
	for i, v := range now {
		now[i] = float64((1-t)*(2*image[i]-v)) + float64(t*anchor[i])
	}
}

// restart makes the image the new anchor and balances the primal weight, as Spread says.
func (a *Ascent) restart() {
	if a.Spread > 0 {
		a.Omega *= min(16, max(1./16, math.Sqrt(math.Sqrt(a.Spread*a.Infeasible/math.Abs(a.Primal-a.Bound)))))
	} else if dx, dy := a.gone(); dx > 1e-32 && dy > 1e-32 {
		a.Omega = math.Sqrt(a.Omega * math.Sqrt(dy/dx))
	}
	a.each(func(p *part) {
		from, to := a.Form.Start[p.from], a.Form.Start[p.to]
		copy(a.Now.X[from:to], a.Image.X[from:to])
		copy(a.anchor.X[from:to], a.Image.X[from:to])
	})
	for _, y := range [][]float64{a.Now.Y, a.anchor.Y} {
		copy(y, a.Image.Y)
	}
	a.land()
}

// land starts anew where now is the anchor, and A x of it is that of the parts.
func (a *Ascent) land() {
	a.average = 0
	clear(a.at.now)
	for i := range a.parts {
		for c, v := range a.parts[i].pull {
			a.at.now[c] += v
		}
	}
	copy(a.at.anchor, a.at.now)
}

// gone returns the squared distances from the anchor to the image.
func (a *Ascent) gone() (dx, dy float64) {
	f := a.Form
	a.each(func(p *part) {
		p.dx, p.dy = 0, 0
		for s := p.from; s < p.to; s++ {
			sum := 0.0
			for i := f.Start[s]; i < f.Start[s+1]; i++ {
				d := a.Image.X[i] - a.anchor.X[i]
				sum += float64(d * d)
			}
			p.dx += float64(f.Chains[s] * sum)
		}
		for c := p.first; c < p.last; c++ {
			d := a.Image.Y[c] - a.anchor.Y[c]
			p.dy += float64(f.Weight[c] * d * d)
		}
	})
	for i := range a.parts {
		dx += a.parts[i].dx
		dy += a.parts[i].dy
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
	a.each(func(p *part) {
		clear(p.pull)
		for i := a.Form.Start[p.from]; i < a.Form.Start[p.to]; i++ {
			p.pull[a.Form.Class[i]] += float64(a.Form.Share[i] * a.Now.X[i])
		}
	})
	a.land()
	for ; a.Iterations < most; a.Iterations++ {
		if ctx.Err() != nil {
			return false
		}
		r := math.Sqrt(a.step())
		if a.Iterations%every == every-1 {
			a.keepBest(a.Image.Y)
			if o := watch(); o != Going {
				return o == Converged
			}
		}
		if age == 0 {
			first = r
		}
		if age > 0 && (r <= 0.2*first || r <= 0.8*first && r > last || float64(age) >= 0.36*float64(a.Iterations)) {
			a.keepBest(a.Image.Y)
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
