package audit

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

const (
	fewestAgain = 100 // questions that are asked again at the end, where there are as many,
	againPart   = 10  // or such a part of all
	mostListed  = 8   // probabilities of an answer that are shown
)

// record is what stated its probabilities so far. An answer to a question that comes again, from whatever part of an audit, is compared with the first
// one: an output is as likely as it was, or the mechanism is none.
type record struct {
	known   map[[sha256.Size]byte]*inquiry.Answer
	asked   []query // each question once, in order
	changed []Finding
	unasked string // why not all was asked again at the end that should be
}

// query is what was asked about, in the units of a space.
type query struct {
	space *inquiry.Space
	q     inquiry.Vector
}

// recall compares an answer with that to the same question before, or keeps it. question is what was asked, in full.
func (r *record) recall(question []byte, at query, answer *inquiry.Answer, o *Options, name func(r int) string) {
	key := sha256.Sum256(question)
	before := r.known[key]
	if before == nil {
		if len(r.asked) < mostQuestions {
			r.known[key], r.asked = answer, append(r.asked, at)
		}
		return
	}
	if detail := difference(before, answer, name); detail != "" {
		r.changed = addFinding(r.changed, o.finding("different answers", detail, at.space, at.q))
	}
}

// late returns what is asked once more at the end: the two vectors of each witness of a violation, now that other questions came in between, and some of all
// questions, in another order, as many from every part of the audit, and the first one last.
func (r *record) late(report *Report, o *Options, space *inquiry.Space) (questions []query) {
	for _, p := range report.Properties {
		if p.Verdict != verify.Violated || p.Witness == nil {
			continue
		}
		for _, scores := range [][]*big.Rat{p.Witness.Scores, p.Witness.Neighbor} {
			if o.Inputs == nil {
				space = &inquiry.Space{Unit: inquiry.Unit([][]*big.Rat{scores, {o.Sensitivity}}), Sensitivities: space.Sensitivities, Epsilon: space.Epsilon}
			}
			if q, err := space.Vector(scores); err == nil && len(q) > 0 {
				questions = append(questions, query{space, q})
			}
		}
	}
	if len(r.asked) == 0 {
		return questions
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x7477696365))
	count := min(len(r.asked), max(fewestAgain, len(r.asked)/againPart))
	some := make([]query, count)
	for i := range some { // one of each stretch
		first := i * len(r.asked) / count
		some[i] = r.asked[first+rng.IntN((i+1)*len(r.asked)/count-first)]
	}
	rng.Shuffle(count, func(i, j int) { some[i], some[j] = some[j], some[i] })
	return slices.Concat(questions, some, r.asked[:1])
}

// answeredOnce describes a failure that does not come again.
const answeredOnce = "an answer once, an error the other time"

// difference describes how two answers to one question differ, "" where they need not: numbers stand for all within their precision.
func difference(first, again *inquiry.Answer, name func(r int) string) string {
	if (first.Event == "") != (again.Event == "") {
		return answeredOnce
	}
	n := max(len(first.P), len(again.P))
	is := again.Padded(n)
	for r, p := range first.Padded(n).P {
		o := is.P[r]
		if s, ok := p.Compare(o, 1024); ok && s != 0 {
			was, now := short(p.Number()), short(o.Number())
			if was == now {
				was, now = p.Number().String(), o.Number().String()
			}
			detail := fmt.Sprintf("asked twice, %s has probability %s, then %s", name(r), was, now)
			if n <= mostListed {
				detail += fmt.Sprintf(", of the answers %s and %s", listOf(first.P, name), listOf(again.P, name))
			}
			return detail
		}
	}
	return ""
}

// listOf writes probabilities in a row.
func listOf(p []*inquiry.Value, name func(r int) string) string {
	parts := make([]string, len(p))
	for r, v := range p {
		parts[r] = short(v.Number())
		if text, label := strings.CutPrefix(name(r), "output "); label {
			parts[r] = text + ": " + parts[r]
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// short writes a number in a finding: of one that stands for others, what stands there.
func short(x number.Number) string { return fmt.Sprintf("%.10g", x.Float64()) }

// sumText writes a sum that is not 1, however little.
func sumText(sum number.Number) string {
	if text := short(sum); text != "1" {
		return text
	}
	least, _ := sum.Lower()
	off, _ := new(big.Rat).Sub(least, big.NewRat(1, 1)).Float64()
	return fmt.Sprintf("1%+.3g", off)
}

// noDistribution is the event of an answer that cannot be a distribution.
const noDistribution = "no distribution"

// fault says what is wrong with an answer that cannot be a distribution, "" where nothing is, and what may help.
func fault(a *inquiry.Answer, name func(r int) string) string {
	kind, place, value := a.Fault()
	switch kind {
	case "":
		return ""
	case inquiry.Negative:
		return fmt.Sprintf("%s has the probability %s", name(place), short(value))
	}
	help := "were they divided by their sum?"
	switch x := value.Float64(); {
	case x == 0:
		help = "subtract the best score before exp, so that it neither overflows nor gives 0 everywhere"
	case x > 0.99 && x < 1.01:
		help = "print more digits, or fractions in strings, or set pmf-precision to what they have, such as 1e-3"
	}
	return fmt.Sprintf("the probabilities sum to %s: %s", sumText(value), help)
}

// candidate names a place of an answer about candidates.
func candidate(r int) string { return fmt.Sprintf("candidate %d", r) }

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
