package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"time"

	"optratio/internal/inquiry"
)

// How many questions an audit of stated probabilities has is about known before the first one, and how long they take after some of them. What would take
// longer than somebody waits who did not say so is refused then, with its size.

// ErrMany is wrapped by errors about audits that have too many questions.
var ErrMany = fmt.Errorf("%w: too many questions", errOptions)

const (
	aMinute      = time.Minute      // that an audit may take by the speed of
	firstAnswers = 200              // so many answers, or those within
	firstTime    = 10 * time.Second // this time
	countedPairs = 50_000           // of neighbors, by which the number of questions is estimated
)

// meter counts questions.
type meter struct {
	report      func(done, total int64)
	domain      string
	done, total int64
	judged      bool      // nothing is refused any more
	began       time.Time // when the first answer had come
}

// measure starts to count the questions about a domain. It refuses more than there may be, unless the context has a deadline, which says how long they may take. Of a stream it is not known.
func (o *Options) measure(ctx context.Context, dom *inquiry.Domain) error {
	if o.Inputs != nil && o.Inputs.Next != nil {
		return nil
	}
	_, timed := ctx.Deadline()
	m := &meter{report: o.Progress, domain: dom.Name, total: expected(dom), judged: timed || !o.Brief}
	o.meter = m
	if !m.judged && m.total > mostQuestions {
		return fmt.Errorf("%w: %s are about %d questions, more than %d", ErrMany, dom.Name, m.total, mostQuestions)
	}
	return nil
}

// more adds the questions about another domain.
func (m *meter) more(dom *inquiry.Domain) {
	if m != nil {
		m.total += expected(dom)
	}
}

// count counts a question before it is put, and refuses the audit once it is known that it takes too long. Nothing is reported of a program that has not answered yet.
func (m *meter) count(answered bool) error {
	if m == nil {
		return nil
	}
	m.done++
	m.total = max(m.total, m.done)
	if m.report != nil && answered {
		m.report(m.done, m.total)
	}
	if m.done == 2 {
		m.began = time.Now()
	}
	answers := m.done - 2
	if m.judged || answers < 1 {
		return nil
	}
	took := time.Since(m.began)
	if answers < firstAnswers && took < firstTime {
		return nil
	}
	m.judged = true
	if whole := time.Duration(float64(took) / float64(answers) * float64(m.total)); whole > aMinute {
		return fmt.Errorf("%w: %s are about %d questions, which take about %v by the first %d answers", ErrMany, m.domain, m.total, whole.Round(time.Second), answers)
	}
	return nil
}

// expected returns about how many different questions a domain's vectors and neighbors are: exactly, where there are few pairs.
func expected(dom *inquiry.Domain) int64 {
	seen, pairs, numbers := map[string]bool{}, int64(0), 0
	for q, other := range dom.Neighbors {
		seen[q.Key()], seen[other.Key()] = true, true
		pairs++
		if numbers += len(q); pairs == countedPairs || numbers > mostNumbers {
			break
		}
	}
	if dom.Pairs > pairs {
		return int64(min(math.MaxInt64/2, float64(dom.Pairs)/float64(pairs)*float64(len(seen))))
	}
	if pairs < countedPairs {
		for q := range dom.Vectors {
			if seen[q.Key()] = true; len(seen) > countedPairs {
				break
			}
		}
	}
	return int64(len(seen))
}

// pairsAround returns how many pairs so many vectors and their neighbors are, at most the largest number.
func (o *Options) pairsAround(vectors *big.Int, deltas []int64) int64 {
	steps := int64(0)
	for range inquiry.Steps(o.Monotonic, deltas, rand.New(rand.NewPCG(1, 1))) {
		steps++
	}
	if all := new(big.Int).Mul(vectors, big.NewInt(steps)); all.IsInt64() {
		return all.Int64()
	}
	return math.MaxInt64
}
