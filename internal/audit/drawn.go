package audit

import (
	"time"

	"optratio/internal/inquiry"
)

// Questions grow from the first to the last of these numbers of samples, as long as answers take no longer than that part of
// the time limit. Where an answer names every outcome, it also stays within a part of the longest line, as far as earlier answers tell.
const (
	firstQuestion = 1000
	firstMixed    = 100 // where nothing is known of how long an outcome is
	lastQuestion  = 1 << 17
	longAnswer    = 8
	fullAnswer    = 4
)

// drawn is one child that draws samples.
type drawn struct {
	*asker
	most, limit int64 // samples in one question, now and ever
}

func newDrawn(a *asker) *drawn {
	d := &drawn{a, firstQuestion, lastQuestion}
	if d.lists() {
		d.limit = mostValues
	}
	if a.opts.Outcomes == Mixed {
		d.most = firstMixed
	}
	return d
}

// lists reports whether an answer names every outcome, so that it grows with the number of samples.
func (d *drawn) lists() bool { return d.opts.Outcomes == Real || d.opts.Outcomes == Mixed }

// measure lowers the limit on samples in one question to what leaves room in a line, where outcomes are as long as in an answer.
func (d *drawn) measure(bytes int, samples int64) {
	if d.lists() {
		d.limit = max(1, min(d.limit, longestLine/fullAnswer*samples/int64(bytes+1)))
		d.most = min(d.most, d.limit)
	}
}

// added adds counts to a sum, which may have fewer outcomes.
func added[T int64 | float64](sum, counts []T) []T {
	for len(sum) < len(counts) {
		sum = append(sum, 0)
	}
	for i, c := range counts {
		sum[i] += c
	}
	return sum
}

// draw asks for samples in questions of a size that is answered soon, and has read read each answer.
func (d *drawn) draw(q inquiry.Vector, samples int64, read func(line []byte, samples int64) error) (event string, err error) {
	d.labels.about(q, d.opts)
	for left := samples; left > 0; {
		some := min(left, d.most)
		begin := time.Now()
		event, err := d.ask(q, some, func(line []byte) error {
			d.measure(len(line), some)
			return read(line, some)
		})
		if err != nil || event != "" {
			return event, err
		}
		left -= some
		switch took := time.Since(begin); {
		case took > d.child.timeout/2:
			d.most = max(1, d.most/4)
		case took > d.child.timeout/longAnswer:
			d.most = max(1, some)
		case some >= d.most:
			d.most = min(2*d.most, d.limit)
		}
	}
	return "", nil
}
