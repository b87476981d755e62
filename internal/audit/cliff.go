package audit

import (
	"errors"
	"math"
	"slices"
	"time"

	"optratio/internal/inquiry"
)

// A cliff is a pair of neighbors between which a mechanism begins to do something else: where e^{εq/2Δ} overflows, where a small probability is
// taken for 0, where an answer is NaN. Cliffs are looked for on rays of score vectors, multiples of Δ that grow exponentially. Between two
// probes of a ray that differ by more than a mechanism does that behaves the same way all along, the place is bisected. All that is done
// here in floating point chooses which pairs are compared, exactly, with those of the side set.
const (
	mostProbes   = 1500    // questions
	farthest     = 1 << 32 // from the origin, in Δ
	slowProbe    = time.Second
	slowerProbe  = 8     // times as long as the first one of its ray: both end the ray
	negligible   = -1000 // the least binary logarithm of a probability that is told from 0
	creeping     = 1e-6  // change of a logarithm that rounding explains
	roundingBits = 50    // of scores as programs compute with them
	outstanding  = 3     // see change
)

// probe is a score vector and what was answered there.
type probe struct {
	q    inquiry.Vector
	logs []float64 // of the probabilities; nil for an event
}

// ray is a line of score vectors, in the order in which they are asked about. On a level one all scores move alike, so that nothing should change.
type ray struct {
	vectors []inquiry.Vector
	level   bool
}

// rays returns the lines of n candidates: tied ones, a ladder and a leader moved up and down by up to reach·Δ, and scores that are multiplied until
// the probabilities of all but the best ones vanish.
func (o *Options) rays(n int, reach int64) (out []ray) {
	tied, ladder, leader, loser := make(inquiry.Vector, n), make(inquiry.Vector, n), make(inquiry.Vector, n), make(inquiry.Vector, n)
	for r := range n {
		ladder[r] = -2 * whole * int64(min(r, 3))
		leader[r] = -4 * whole * int64(min(r, 1))
	}
	loser[n-1] = -whole
	for _, base := range []inquiry.Vector{ladder, leader, tied} {
		for _, sign := range []int64{1, -1} {
			line := ray{[]inquiry.Vector{base}, true}
			for t := int64(1); t <= reach; t *= 4 {
				line.vectors = append(line.vectors, base.Plus(sign*t*whole))
			}
			out = append(out, line)
		}
	}
	if n < 2 {
		return out[len(out)-2:]
	}
	for _, direction := range []inquiry.Vector{ladder, leader, loser, ladder.Plus(8 * whole)} {
		line := ray{}
		for s := int64(1); s <= max(1, o.vanishing()); s *= 2 {
			line.vectors = append(line.vectors, scaled(direction, s))
		}
		out = append(out, line)
	}
	return out
}

// cliffs is one search.
type cliffs struct {
	o     *Options
	ask   inquiry.Subject
	left  int                 // questions
	pairs [][2]inquiry.Vector // neighbors, or ends of a part of a ray that could not be looked into
	fell  bool                // there is a pair of neighbors of which one is not answered
}

// errProbes ends a search.
var errProbes = errors.New("no more probes")

// findCliffs searches the rays of n candidates.
func (o *Options) findCliffs(n int, reach int64, ask inquiry.Subject) ([][2]inquiry.Vector, error) {
	c := &cliffs{o: o, ask: ask, left: mostProbes}
	for _, line := range o.rays(n, reach) {
		if err := c.search(line); err != nil && !errors.Is(err, errProbes) && !errors.Is(err, inquiry.ErrUndecided) {
			return nil, err
		} else if err != nil || c.fell {
			break
		}
	}
	return c.pairs, nil
}

// look asks about a vector.
func (c *cliffs) look(q inquiry.Vector) (*probe, error) {
	if c.left--; c.left < 0 {
		return nil, errProbes
	}
	a, err := c.ask.Answer(q)
	if err != nil || a.Event != "" {
		return &probe{q: q}, err
	}
	p := &probe{q, make([]float64, len(a.P))}
	for r, v := range a.P {
		p.logs[r] = math.Log(max(v.Enclose(64).Near(), math.Ldexp(1, negligible)))
	}
	return p, nil
}

// search asks about the vectors of a ray, and bisects where it should. After a failure the last vector alone is of interest: what is answered there is
// another change of behavior.
func (c *cliffs) search(line ray) error {
	var known []*probe
	first := time.Duration(0)
	for i, q := range line.vectors {
		if len(known) > 0 && known[len(known)-1].logs == nil && i < len(line.vectors)-1 {
			continue
		}
		begin := time.Now()
		p, err := c.look(q)
		if err != nil {
			return err
		}
		known = append(known, p)
		took := time.Since(begin)
		if i == 0 {
			first = took
		}
		if took > slowProbe && took > slowerProbe*first {
			break
		}
	}
	for i := 1; i < len(known); i++ {
		if !c.notable(line, known[i-1], known[i]) {
			continue
		}
		if err := c.bisect(line, known[i-1], known[i]); err != nil || c.fell {
			return err
		}
	}
	return nil
}

// notable reports whether two probes differ by more than is to be expected of a mechanism that behaves the same way between them.
func (c *cliffs) notable(line ray, a, b *probe) bool {
	most, surprising := change(a, b)
	if line.level {
		far := float64(max(magnitude(a.q), magnitude(b.q))) / whole
		return most > creeping+math.Ldexp(c.o.pace()*far, -roundingBits)
	}
	return surprising || most > c.o.pace()*float64(distance(a.q, b.q))/whole*(1+creeping)
}

// change returns the greatest change of the logarithm of a probability, and whether one changes by far more than its own amount at the greater end: where gaps double,
// that of the exponential mechanism and its like about doubles. An outcome that an answer does not have is negligible there.
func change(a, b *probe) (most float64, surprising bool) {
	if a.logs == nil || b.logs == nil {
		if a.logs == nil && b.logs == nil {
			return 0, false
		}
		return math.Inf(1), true
	}
	at := func(p *probe, r int) float64 {
		if r < len(p.logs) {
			return p.logs[r]
		}
		return negligible * math.Ln2
	}
	for r := range max(len(a.logs), len(b.logs)) {
		x, y := at(a, r), at(b, r)
		most = max(most, math.Abs(x-y))
		surprising = surprising || math.Abs(x-y) > outstanding*(1+min(math.Abs(x), math.Abs(y)))
	}
	return most, surprising
}

// bisect narrows a change down to two neighbors, multiples of Δ, going on where there is more change for the distance: where that is above the pace,
// one half's is. Neighbors whose difference is notable by itself are kept; so are the ends where the place cannot be found.
func (c *cliffs) bisect(line ray, a, b *probe) error {
	steepness := func(a, b *probe) float64 {
		most, _ := change(a, b)
		return most / float64(distance(a.q, b.q))
	}
	for distance(a.q, b.q) > whole {
		m, err := c.look(middle(a.q, b.q, whole))
		if err != nil {
			c.pairs = append(c.pairs, [2]inquiry.Vector{a.q, b.q})
			return err
		}
		if steepness(a, m) >= steepness(m, b) {
			b = m
		} else {
			a = m
		}
	}
	if most, _ := change(a, b); most > c.o.pace() || line.level && c.notable(line, a, b) {
		c.pairs = append(c.pairs, [2]inquiry.Vector{a.q, b.q})
		c.fell = c.fell || a.logs == nil || b.logs == nil
	}
	return nil
}

// middle returns a vector between two, all multiples of a unit, that differs from each by at least that where they differ by twice as much or more.
func middle(a, b inquiry.Vector, unit int64) inquiry.Vector {
	m := slices.Clone(a)
	for r := range m {
		m[r] += (b[r] - a[r]) / unit / 2 * unit
	}
	return m
}

// distance returns the greatest difference of a score.
func distance(a, b inquiry.Vector) int64 {
	low, high := spread(a, b)
	return max(high, -low)
}

func magnitude(q inquiry.Vector) int64 { return max(slices.Max(q), -slices.Min(q)) }
