package audit

import "math"

// branch is an event that is told in few words: outcomes from the first to before the end that have the answers to so many questions in common.
type branch struct {
	first, end int
	tests      int
	leaf       bool
}

const (
	shortness = 0.05 // part of an event's promise that is given up for fewer words
	mostShort = 3    // branches of a short event

)

// leaves groups outcomes by the leaves of a tree, of which each counts as one.
func (f *field) leaves(list []outcome) (grouped []outcome) {
	for _, b := range f.branches {
		if !b.leaf {
			continue
		}
		o := outcome{r: b.first, more: b.end - b.first - 1}
		for _, in := range list[b.first:b.end] {
			o.x, o.y, o.x1, o.y1 = o.x+in.x, o.y+in.y, o.x1+in.x1, o.y1+in.y1
		}
		grouped = append(grouped, o)
	}
	return grouped
}

// shorten looks for an event of few branches, or the complement of one, that promises nearly as much as another. rate rates an event that
// came so often at either side.
func (f *field) shorten(best edge, own, near []float64, rate func(x, y float64) edge) edge {
	xs, ys := make([]float64, len(own)+1), make([]float64, len(own)+1)
	for r := range own {
		xs[r+1], ys[r+1] = xs[r]+own[r], ys[r]+near[r]
	}
	x, y := 0.0, 0.0
	for r, in := range best.event {
		if in {
			x, y = x+own[r], y+near[r]
		}
	}
	enough := min(best.promise, rate(x, y).promise)
	enough -= float64(shortness * math.Abs(enough))
	event := make([]bool, len(own))
	x, y = 0, 0
	for range mostShort {
		var next edge
		var with branch
		next.promise = math.Inf(-1)
		inside, tests := true, math.MaxInt
		consider := func(b branch, in bool, px, py float64) {
			e := rate(px, py)
			fine := e.promise >= enough
			switch {
			case fine && next.promise >= enough && (b.tests > tests || b.tests == tests && e.promise <= next.promise):
			case !fine && e.promise <= next.promise:
			default:
				next, with, inside, tests = e, b, in, b.tests
			}
		}
		for _, b := range f.branches {
			if b.end > len(own) || anyOf(event[b.first:b.end]) {
				continue
			}
			bx, by := xs[b.end]-xs[b.first], ys[b.end]-ys[b.first]
			consider(b, true, x+bx, y+by)
			if x+y == 0 {
				consider(b, false, xs[len(own)]-bx, ys[len(own)]-by)
			}
		}
		if math.IsInf(next.promise, -1) {
			return best
		}
		for r := range event {
			event[r] = event[r] || (with.first <= r && r < with.end) == inside
		}
		if next.promise >= enough {
			next.event, next.hopeful = event, best.hopeful
			return next
		}
		if !inside {
			return best
		}
		x, y = x+xs[with.end]-xs[with.first], y+ys[with.end]-ys[with.first]
	}
	return best
}

// fill takes the cells into an event that never came, where all others of a branch that came are in it.
func (f *field) fill(event []bool, own, near []float64) {
	for _, b := range f.branches {
		some, all := false, true
		for r := b.first; r < b.end; r++ {
			came := own[r]+near[r] > 0
			some, all = some || came && event[r], all && (event[r] || !came)
		}
		for r := b.first; some && all && r < b.end; r++ {
			event[r] = true
		}
	}
}

func anyOf(event []bool) bool {
	for _, is := range event {
		if is {
			return true
		}
	}
	return false
}
