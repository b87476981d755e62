package verify

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"optratio/internal/inquiry"
)

// tracker gathers what the comparisons of one property say.
type tracker struct {
	run       *run
	res       *Result
	undecided string
	witness   func() *Witness
	size      []int64
	doubt     float64 // the greatest part by which numbers may exceed their limit in some reading
	proofOnly bool    // the check ends at the first comparison that rules a proof out

	all   int64 // pairs of neighbors, once they were counted; -1: that takes too long
	pairs int64 // of them that were begun
	began int64 // comparisons before the last of them
	cost  int64 // comparisons of the last one before it that needed any, or those that are likely
}

// pair counts a pair of neighbors whose comparisons follow, which are likely so many of candidates, one by one or together, in each direction.
func (t *tracker) pair(likely int) {
	if made := t.res.Checked - t.began; made > 0 {
		t.cost = made
	} else if t.cost == 0 {
		t.cost = int64(likely)
	}
	t.began = t.res.Checked
	t.pairs++
}

// total returns how many comparisons all pairs of neighbors need, if those that were not looked at need as many as the last one; 0 where that
// is not known.
func (t *tracker) total() int64 {
	if t.cost == 0 {
		return 0
	}
	if t.all == 0 {
		t.all = cmp.Or(t.run.dom.Count(), -1)
	}
	all := t.all
	if all < 0 || all > math.MaxInt64/t.cost {
		return 0
	}
	return max(t.res.Checked, t.began+(all-t.pairs+1)*t.cost)
}

// manyChecked is how many comparisons there have to be before it pays to count all.
const manyChecked = 1 << 14

// step counts a comparison, and reports errStop when it is time to end.
func (t *tracker) step() error {
	if t.proofOnly && (t.undecided != "" || t.witness != nil) {
		return errStop
	}
	if t.run.opts.limit > 0 && t.res.Checked >= t.run.opts.limit {
		t.undecide(fmt.Sprintf("the limit of %d comparisons was reached", t.run.opts.limit))
		return errStop
	}
	if t.res.Checked%256 == 0 {
		if t.run.ctx.Err() != nil {
			t.undecide("it was stopped")
			return errStop
		}
		if t.run.opts.Progress != nil {
			total := int64(0)
			if t.pairs > 0 && t.res.Checked >= manyChecked {
				total = t.total()
			}
			t.run.opts.Progress(t.res.Name, t.res.Checked, total)
		}
	}
	t.res.Checked++
	return nil
}

// maxPrec is how many bits enclosures are refined to.
const maxPrec = 1024

func (t *tracker) undecide(reason string) {
	if t.undecided == "" {
		t.undecided = reason
	}
}

// precision returns how far to refine: once a comparison was in vain, not for the others.
func (t *tracker) precision() uint {
	if t.undecided != "" {
		return 64
	}
	return maxPrec
}

// unclear records a comparison that was not decided.
func (t *tracker) unclear() {
	if t.run.opts.readings {
		t.undecide(openReading)
		return
	}
	t.undecide(fmt.Sprintf("enclosures of %d bits do not tell two numbers apart", maxPrec))
}

// fail records a violation, to be described by witness where no smaller one turns up.
func (t *tracker) fail(size []int64, witness func() *Witness) {
	if t.witness == nil || slices.Compare(size, t.size) < 0 {
		t.witness, t.size = witness, size
	}
}

// finish sets the verdict.
func (t *tracker) finish(err error) error {
	if errors.Is(err, inquiry.ErrUndecided) {
		t.undecide(strings.TrimPrefix(err.Error(), inquiry.ErrUndecided.Error()+": "))
	} else if err != nil && !errors.Is(err, errStop) {
		return err
	}
	if t.res.Stopped = err != nil; t.res.Stopped && t.pairs > 0 {
		t.res.Total = t.total()
	}
	switch {
	case t.witness != nil:
		t.res.Verdict, t.res.Witness = Violated, t.witness()
	case t.undecided != "":
		t.res.Verdict, t.res.Reason = Undecided, t.undecided
	default:
		t.res.Verdict = Proved
		t.res.Doubt = t.doubt
	}
	return nil
}

// size orders witnesses: fewer candidates, smaller and fewer scores other than 0, lower in place.
func size(r int, vectors ...inquiry.Vector) []int64 {
	var n, sum, nonzero int64
	for _, q := range vectors {
		n = int64(len(q))
		for _, x := range q {
			if x != 0 {
				nonzero++
			}
			sum += max(x, -x)
		}
	}
	return []int64{n, sum, nonzero, int64(r)}
}
