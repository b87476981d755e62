// Package subject makes a mechanism, as lp takes one, of a program or a table that states probabilities.
package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"optratio/internal/audit"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Stated is the mechanism that a program or a table states. It is asked in the user's units: an instance's candidates at depth d (in steps of 2Δ) have the scores -2Δ·d, Δ the sensitivity of the options.
//
// Its answer to an instance is the mean over the orders of the scores: the probability of a candidate is the mean, over all distinct
// permutations of the scores, of the probability that a candidate of its score has there. That mechanism is symmetric, and over a set of score
// vectors that holds every order of each it has the same mean error as the one that was stated. Where symmetry is
// assumed, one order is asked and stands for all.
//
// An error wraps mechanisms.ErrAnswer where there was no answer, or none that is a probability distribution. Answers are
// remembered. A Stated is safe for concurrent use.
type Stated struct {
	ctx context.Context
	*stating
}

// stating is what a Stated shares with those of other contexts.
type stating struct {
	mu        sync.Mutex
	opts      audit.Options
	program   *audit.Conversation        // nil for a table
	table     string                     // name of a table
	rows      map[string][]*verify.Value // of a table, by scores; where symmetry is assumed, in descending order
	symmetric bool
	asked     int64
	known     map[string]*meanAnswer
}

// meanAnswer is what was found of all orders of some scores: the mean probability of a candidate that has each of the distinct
// scores, best first.
type meanAnswer struct {
	exact []*big.Rat // nil where a probability is not rational
	boxes []number.Interval
	err   error // of a subject that failed; wraps mechanisms.ErrAnswer
}

// statedBits is the precision of sums of stated numbers, far beyond that of the numbers.
const statedBits = 192

// OfProgram returns the mechanism that a program states. Of the options it takes Epsilon, Sensitivity, Neighbors and Precision; Progress is told how
// many score vectors were asked. Close ends the program.
func OfProgram(p audit.Program, symmetric bool, o audit.Options) (*Stated, error) {
	program, err := p.Ask(o)
	if err != nil {
		return nil, err
	}
	s := newStated(symmetric, o)
	s.program = program
	return s, nil
}

func newStated(symmetric bool, o audit.Options) *Stated {
	o.Sensitivity, o.Precision = cmp.Or(o.Sensitivity, big.NewRat(1, 1)), cmp.Or(o.Precision, big.NewRat(1, 1e9))
	return &Stated{context.Background(), &stating{opts: o, symmetric: symmetric, known: map[string]*meanAnswer{}}}
}

// errTable is wrapped by errors about tables of probabilities.
var errTable error = number.InputError("bad file")

// OfTable returns the mechanism that a table states at its rows.
func OfTable(name string, rows []audit.Row, symmetric bool, o audit.Options) (*Stated, error) {
	s := newStated(symmetric, o)
	s.table, s.rows = name, map[string][]*verify.Value{}
	for _, row := range rows {
		if row.Input != nil {
			return nil, fmt.Errorf("%w: %s: its rows are about inputs, not scores", errTable, name)
		}
		scores, pmf := row.Scores, row.PMF
		if symmetric {
			order := make([]int, len(scores))
			for r := range order {
				order[r] = r
			}
			slices.SortFunc(order, func(a, b int) int { return row.Scores[b].Cmp(row.Scores[a]) })
			scores, pmf = nil, nil
			for _, r := range order {
				scores, pmf = append(scores, row.Scores[r]), append(pmf, row.PMF[r])
			}
		}
		key := verify.ScoresText(scores)
		if _, twice := s.rows[key]; twice && !symmetric {
			return nil, fmt.Errorf("%w: %s: scores %s are there twice", errTable, name, key)
		}
		s.rows[key] = pmf
	}
	return s, nil
}

// Try asks about n tied candidates, so that what cannot be asked at all is known before other work: the error says where a program
// cannot be started. Of a table it looks for the rows of all score vectors of n candidates and depths 0, 1/parts, …, k in steps of 2Δ; the error says where one is missing.
func (s *Stated) Try(ctx context.Context, n, k, parts int) error {
	if s.rows == nil {
		_, _, err := (&Stated{ctx, s.stating}).placed(slices.Repeat([]*big.Rat{new(big.Rat)}, n))
		if errors.Is(err, mechanisms.ErrAnswer) || ctx.Err() != nil {
			return nil // which is found again
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range verify.Grid(n, k*parts, 1) {
		if ctx.Err() != nil {
			return nil
		}
		if s.symmetric && !slices.IsSortedFunc(q, func(x, y int64) int { return cmp.Compare(y, x) }) {
			continue
		}
		depths := make([]*big.Rat, n)
		for r, x := range q {
			depths[r] = big.NewRat(-x, int64(parts))
		}
		if _, err := s.row(s.scores(depths)); err != nil {
			return err
		}
	}
	return nil
}

// Again asks a program some of the questions again that it answered, in another order, to be called last. The error wraps mechanisms.ErrAnswer where
// an answer changed.
func (s *Stated) Again(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.program == nil {
		return nil
	}
	return s.program.Again(ctx)
}

// Asked returns how many score vectors were asked about.
func (s *Stated) Asked() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Close ends the program.
func (s *Stated) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.program != nil {
		s.program.Close()
	}
}

// Info calls it the subject.
func (s *Stated) Info() mechanisms.Info {
	return mechanisms.Info{Name: "subject", Summary: "what a program or a table states", Uniform: true}
}

// Precision is for mechanisms.Precision.
func (s *Stated) Precision() *big.Rat { return s.opts.Precision }

// WithContext is for mechanisms.Within.
func (s *Stated) WithContext(ctx context.Context) mechanisms.Mechanism {
	return &Stated{ctx, s.stating}
}

// Exact returns the probabilities where all that were stated at orders of the scores are rational.
func (s *Stated) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	a, place, err := s.answer(in)
	if err != nil {
		return nil, err
	}
	if a.exact == nil {
		return nil, mechanisms.ErrNotRational
	}
	p := make([]*big.Rat, len(place))
	for r, i := range place {
		p[r] = new(big.Rat).Set(a.exact[i])
	}
	return p, nil
}

// Enclose encloses what the stated numbers stand for, at whatever prec.
func (s *Stated) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	a, place, err := s.answer(in)
	if err != nil {
		return nil, err
	}
	p := make([]number.Interval, len(place))
	for r, i := range place {
		p[r] = a.boxes[i]
		if a.exact != nil {
			p[r] = number.FromRat(a.exact[i], prec)
		}
	}
	return p, nil
}

// Float returns the middles of the enclosures.
func (s *Stated) Float(in *mechanisms.Instance) ([]float64, error) {
	boxes, err := s.Enclose(in, 64)
	p := make([]float64, len(boxes))
	for r, x := range boxes {
		p[r] = x.Near()
	}
	return p, err
}

// answer returns what is stated at the orders of an instance's scores, and the place of each candidate in it.
func (s *Stated) answer(in *mechanisms.Instance) (a *meanAnswer, place []int, err error) {
	if err := in.CheckScores(); err != nil {
		return nil, nil, err
	}
	return s.placed(in.Depths())
}

// placed is answer for depths.
func (s *Stated) placed(depths []*big.Rat) (a *meanAnswer, place []int, err error) {
	distinct := slices.CompactFunc(slices.SortedFunc(slices.Values(depths), (*big.Rat).Cmp), func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
	place = make([]int, len(depths))
	for r, d := range depths {
		place[r], _ = slices.BinarySearchFunc(distinct, d, (*big.Rat).Cmp)
	}
	a, err = s.mean(s.ctx, distinct, slices.Sorted(slices.Values(place)))
	return a, place, err
}

// mean asks about every order of the scores of candidates at the given places among distinct depths.
func (s *stating) mean(ctx context.Context, distinct []*big.Rat, order []int) (*meanAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprint(verify.ScoresText(distinct), order)
	if a := s.known[key]; a != nil {
		return a, a.err
	}
	exact, boxes := make([]*big.Rat, len(distinct)), make([]number.Interval, len(distinct))
	counts := make([]int64, len(distinct))
	for i := range distinct {
		exact[i], boxes[i] = new(big.Rat), number.FromInt(0, statedBits)
	}
	for _, i := range order {
		counts[i]++
	}
	orders := int64(0)
	for more := true; more; more = !s.symmetric && nextOrder(order) {
		depths := make([]*big.Rat, len(order))
		for r, i := range order {
			depths[r] = distinct[i]
		}
		p, err := s.ask(ctx, s.scores(depths))
		if err != nil {
			if errors.Is(err, mechanisms.ErrAnswer) {
				s.known[key] = &meanAnswer{err: err}
			}
			return nil, err
		}
		orders++
		for r, v := range p {
			i := order[r]
			boxes[i] = boxes[i].Add(v.Enclose(statedBits))
			if x := v.Rat(); exact != nil && x != nil {
				exact[i].Add(exact[i], x)
			} else {
				exact = nil
			}
		}
	}
	for i, count := range counts {
		if exact != nil {
			exact[i].Quo(exact[i], big.NewRat(orders*count, 1))
		}
		boxes[i] = boxes[i].Quo(number.FromInt(orders*count, statedBits))
	}
	s.known[key] = &meanAnswer{exact: exact, boxes: boxes}
	return s.known[key], nil
}

// scores returns the scores of candidates at depths in steps of 2Δ.
func (s *stating) scores(depths []*big.Rat) []*big.Rat {
	step := new(big.Rat).Mul(s.opts.Sensitivity, big.NewRat(-2, 1))
	if s.opts.Neighbors == verify.Monotonic {
		step.Neg(s.opts.Sensitivity)
	}
	out := make([]*big.Rat, len(depths))
	for r, d := range depths {
		out[r] = new(big.Rat).Mul(d, step)
	}
	return out
}

// row returns the table's row of some scores.
func (s *stating) row(scores []*big.Rat) ([]*verify.Value, error) {
	p, ok := s.rows[verify.ScoresText(scores)]
	if !ok {
		return nil, fmt.Errorf("%w: %s has no row for the scores %s%s", errTable, s.table, verify.ScoresText(scores), orderHint(s.symmetric))
	}
	return p, nil
}

func orderHint(symmetric bool) string {
	if symmetric {
		return " in any order"
	}
	return "; add it, or rate one order of each scores, assuming that it is symmetric"
}

// ask asks about one score vector. What is no distribution in any reading is an error.
func (s *stating) ask(ctx context.Context, scores []*big.Rat) (p []*verify.Value, err error) {
	if s.rows != nil {
		p, err = s.row(scores)
	} else {
		p, err = s.program.Answer(ctx, scores)
	}
	if err == nil || errors.Is(err, mechanisms.ErrAnswer) {
		s.asked++
		if s.opts.Progress != nil {
			s.opts.Progress(s.asked, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	if text := (audit.Row{PMF: p}).Fault(); text != "" {
		return nil, fmt.Errorf("%w: at the scores %s %s", mechanisms.ErrAnswer, verify.ScoresText(scores), text)
	}
	return p, nil
}

// nextOrder changes order to the next one of the same numbers in lexicographic order, and reports false at the last.
func nextOrder(order []int) bool {
	i := len(order) - 2
	for i >= 0 && order[i] >= order[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(order) - 1
	for order[j] <= order[i] {
		j--
	}
	order[i], order[j] = order[j], order[i]
	slices.Reverse(order[i+1:])
	return true
}
