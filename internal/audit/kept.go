package audit

import (
	"math/big"
	"strings"

	"optratio/internal/inquiry"
)

// Kept is what proves that stated probabilities are private: those of every input that was asked about, and which inputs are neighbors at which distance.
type Kept struct {
	Names []string
	Low   [][]*big.Rat // of each input, of its outcomes
	High  [][]*big.Rat
	Pairs map[[2]int]*big.Rat // the distance d of each, the least that was stated: an outcome at the first input is likelier than at the second by no more than e^{dε}
	Both  bool                // so it is the other way round; the smaller number is the first then
	Whole bool                // nothing was left out
	place map[string]int      // of an input, by its name
}

// Kept returns what proves dp or approximate-dp, where Options.Keep was set; nil where neither was proved.
func (r *Report) Kept() *Kept { return r.kept }

// keep adds what a question found: all of its pairs with their answers, which are remembered.
func (o *Options) keep(k *Kept, q *inquiry.Question) *Kept {
	if k == nil {
		k = &Kept{Pairs: map[[2]int]*big.Rat{}, Both: !q.Domain.Directed, place: map[string]int{}, Whole: true}
	}
	distances := []*big.Rat{unity}
	if o.Inputs != nil {
		distances = o.Inputs.distances()
	}
	for _, d := range distances {
		domain := q.Domain
		if o.Inputs != nil {
			domain = o.Inputs.domain(q.Domain.Space, d)
		}
		for from, to := range domain.Neighbors {
			a, b := o.row(k, q, from), o.row(k, q, to)
			if !k.Whole {
				return k
			}
			if k.Both && a > b {
				a, b = b, a
			}
			if least := k.Pairs[[2]int{a, b}]; a != b && (least == nil || d.Cmp(least) < 0) {
				k.Pairs[[2]int{a, b}] = d
			}
		}
	}
	return k
}

// row returns the number of an input, which is asked about where it is new.
func (o *Options) row(k *Kept, q *inquiry.Question, v inquiry.Vector) int {
	name := ""
	if o.Inputs != nil {
		name = string(o.Inputs.Values[v[0]])
	} else {
		var scores []string
		for _, x := range q.Domain.Space.Scores(v) {
			scores = append(scores, x.RatString())
		}
		name = strings.Join(scores, " ")
	}
	if at, known := k.place[name]; known {
		return at
	}
	a, err := q.Subject.Answer(v)
	if err == nil {
		a, _ = a.Distribution(1024)
	}
	if err != nil || a == nil || a.Event != "" || a.Misses() {
		k.Whole = false
		return 0
	}
	var low, high []*big.Rat
	for _, p := range a.P {
		lo, hi := p.Readings()
		low, high = append(low, lo), append(high, hi)
	}
	k.place[name] = len(k.Names)
	k.Names, k.Low, k.High = append(k.Names, name), append(k.Low, low), append(k.High, high)
	return len(k.Names) - 1
}
