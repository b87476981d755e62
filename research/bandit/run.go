package bandit

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"optratio/research/scenario"
)

// Record is what one policy did in one run.
type Record struct {
	Reward, Regret []float64 // cumulative, at the times of the curve
	BestShare      []float64 // share of choices of the best arm since the time before
	BeforeShift    float64   // regret up to the shift
	BestAfter      float64   // share of choices of the best arm after the shift
	FirstBest      int       // steps after the shift until the arm that is best then is taken first; 0 for never
}

// Outcome is what the runs of a policy say.
type Outcome struct {
	Policy                    string
	Runs                      []Record
	Reward, Regret, BestShare []scenario.Mean // at Times
	Final, Before, After      scenario.Mean   // regret in all, up to the shift and after it
	Total                     scenario.Mean   // reward
	BestAfter                 scenario.Mean
}

// FirstBest is the median of the runs' numbers of steps after the shift until the arm that is best then is taken; 0 for never.
func (o *Outcome) FirstBest() int {
	var steps []int
	for _, r := range o.Runs {
		steps = append(steps, cmp.Or(r.FirstBest, math.MaxInt))
	}
	slices.Sort(steps)
	if median := steps[(len(steps)-1)/2]; median < math.MaxInt {
		return median
	}
	return 0
}

// Result is a simulation.
type Result struct {
	Times     []int
	Outcomes  []Outcome
	Completed int // runs
}

// Run simulates all runs of all policies, as many at a time as there are processors; results depend on the configuration alone. Within a run all policies meet the same rewards: those of an arm at a time do not depend on
// what was chosen. When the context ends, the result is that of the runs that all policies completed, which may be none, and the error is the context's cause. Regret is that of the arms'
// means, not of the rewards that were drawn: Σ_t (mean reward of the best arm at t - that of the arm taken).
func Run(ctx context.Context, c Config, report func(done, total int)) (*Result, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &Result{}
	points := min(c.Points, c.Horizon)
	for i := range points {
		if t := int(int64(i+1) * int64(c.Horizon) / int64(points)); t > 0 && (len(r.Times) == 0 || t > r.Times[len(r.Times)-1]) {
			r.Times = append(r.Times, t)
		}
	}
	means := c.means()
	records := make([]*Record, c.Runs*len(c.Policies)) // run by run
	var lock sync.Mutex
	var failure error
	done := 0
	scenario.Parallel(ctx, len(records), func(i int) {
		rec, err := c.play(ctx, i/len(c.Policies), c.Policies[i%len(c.Policies)], r.Times, means)
		lock.Lock()
		defer lock.Unlock()
		records[i], failure = rec, cmp.Or(failure, err)
		done++
		report(done, len(records))
	})
	if failure != nil && context.Cause(ctx) == nil {
		return nil, failure
	}
	r.summarise(&c, slices.Collect(slices.Chunk(records, len(c.Policies))))
	return r, context.Cause(ctx)
}

// means are the mean rewards of the arms, before and after the shift.
func (c *Config) means() (out [2][]float64) {
	for i, arms := range [][]Arm{c.Before, c.After} {
		for _, a := range arms {
			out[i] = append(out[i], a.clippedMean(c.Low, c.High))
		}
	}
	return out
}

// bestArm returns the first arm of the largest mean.
func bestArm(means []float64) int {
	best := 0
	for a, m := range means {
		if m > means[best] {
			best = a
		}
	}
	return best
}

// policy returns a policy with its own source of randomness, which depends on the seed, the run and the policy's name.
func (c *Config) policy(run int, name string) (policy, error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(c.Seed+1<<32, uint64(run)^h.Sum64()))
	switch arms := len(c.Before); name {
	case UCB:
		return newUpperBound(c.Alpha, c.Horizon, arms), nil
	case Thompson:
		return newThompson(c.Low, c.High, arms, rng), nil
	}
	m, err := c.scorer(name)
	if err != nil {
		return nil, err
	}
	return newPrivate(c, m, rng), nil
}

// play is one run of one policy; nil where the context ended.
func (c *Config) play(ctx context.Context, run int, name string, times []int, means [2][]float64) (*Record, error) {
	p, err := c.policy(run, name)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(c.Seed, uint64(run)))
	rec := &Record{}
	rewards := make([]float64, len(c.Before))
	reward, regret, best, atBest := 0.0, 0.0, 0, 0
	arms, now, top := c.Before, means[0], bestArm(means[0])
	before := 0 // the time of the curve before the next
	for t, next := 0, 0; t < c.Horizon; t++ {
		if t == c.Shift {
			rec.BeforeShift = regret
			arms, now, top = c.After, means[1], bestArm(means[1])
		}
		if t&1023 == 0 && ctx.Err() != nil {
			return nil, nil
		}
		for a, arm := range arms {
			rewards[a] = min(max(arm.Mean+arm.Spread*rng.NormFloat64(), c.Low), c.High)
		}
		a, err := p.choose()
		if err != nil {
			return nil, err
		}
		p.learn(a, rewards[a])
		reward += rewards[a]
		regret += now[top] - now[a]
		if a == top {
			best++
		}
		if t >= c.Shift && a == top {
			if atBest++; atBest == 1 {
				rec.FirstBest = t - c.Shift + 1
			}
		}
		if t+1 == times[next] {
			rec.Reward, rec.Regret = append(rec.Reward, reward), append(rec.Regret, regret)
			rec.BestShare = append(rec.BestShare, float64(best)/float64(times[next]-before))
			best, before, next = 0, times[next], next+1
		}
	}
	if c.Shift == c.Horizon {
		rec.BeforeShift = regret
	} else {
		rec.BestAfter = float64(atBest) / float64(c.Horizon-c.Shift)
	}
	return rec, nil
}

// summarise takes means over the runs that every policy completed.
func (r *Result) summarise(c *Config, records [][]*Record) {
	for i, name := range c.Policies {
		out := Outcome{Policy: name}
		for _, run := range records {
			if !slices.Contains(run, nil) {
				out.Runs = append(out.Runs, *run[i])
			}
		}
		r.Completed = len(out.Runs)
		if r.Completed == 0 {
			return
		}
		over := func(pick func(*Record) float64) scenario.Mean {
			var values []float64
			for k := range out.Runs {
				values = append(values, pick(&out.Runs[k]))
			}
			return scenario.MeanOf(values)
		}
		for at := range r.Times {
			out.Reward = append(out.Reward, over(func(rec *Record) float64 { return rec.Reward[at] }))
			out.Regret = append(out.Regret, over(func(rec *Record) float64 { return rec.Regret[at] }))
			out.BestShare = append(out.BestShare, over(func(rec *Record) float64 { return rec.BestShare[at] }))
		}
		last := len(r.Times) - 1
		out.Final, out.Total = out.Regret[last], out.Reward[last]
		out.Before = over(func(rec *Record) float64 { return rec.BeforeShift })
		out.After = over(func(rec *Record) float64 { return rec.Regret[last] - rec.BeforeShift })
		out.BestAfter = over(func(rec *Record) float64 { return rec.BestAfter })
		r.Outcomes = append(r.Outcomes, out)
	}
}
