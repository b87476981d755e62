package job

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/recommend"
	"optratio/mechanisms"
	"optratio/number"
)

// Instance is scores and sensitivities.
type Instance struct {
	Scores        string `json:"scores" help:"scores, comma-separated decimals or fractions, or a file with one per line"`
	Sensitivity   string `json:"sensitivity" default:"1" help:"-"`
	Sensitivities string `json:"sensitivities" help:"sensitivity Δ of all candidates, or a list or a file with one for each score (default 1); mechanisms for one Δ take the largest"`
	OneWay

	Vector []*big.Rat `json:"-"` // the scores, once they are read
}

// read reads them, but for scores that are given.
func (q *Instance) read(in *reading, at Epsilon, scores []*big.Rat) *mechanisms.Instance {
	x := &mechanisms.Instance{Epsilon: at.value(), Scores: scores}
	if x.Scores == nil {
		x.Scores = in.numbers("scores", q.Scores)
	}
	refuse(x.Scores == nil, "scores are missing: give {scores} 0,-1,-3, or a file with one per line")
	if x.Sensitivities = in.numbers("sensitivities", q.Sensitivities); x.Sensitivities == nil {
		refuse(strings.Contains(q.Sensitivity, ","), "{sensitivity} %s: give {sensitivities} %s, one for each score", escape.Quoted(q.Sensitivity), escape.Line(q.Sensitivity))
		x.Sensitivities = []*big.Rat{positive("sensitivity", q.Sensitivity)}
	}
	d, n := len(x.Sensitivities), len(x.Scores)
	refuse(d != 1 && d != n, "{sensitivities}: %d for %d scores, give one for each", d, n)
	err := x.Check()
	refuse(err != nil, "{sensitivities}: %w", err)
	q.Vector = x.Scores
	return x
}

// PMF asks for mechanisms' output probabilities on given scores. Several mechanisms have a list of answers.
type PMF struct {
	Mechanism string `json:"mechanism" help:"mechanisms, by name, or NAME:M (see optratio mechanisms {help}); several get one column each, and with {json} an array"`
	Instance
	ScoresFile string `json:"scores-file" help:"-"`
	Epsilon
	Params
}

func (q *PMF) answer(in *reading) *Answer {
	var scores []*big.Rat
	refuse(q.Scores != "" && q.ScoresFile != "", "{scores} and {scores-file} exclude each other: give one of them")
	if q.ScoresFile != "" {
		scores = in.column("scores-file", q.ScoresFile, "")
	}
	x := q.Instance.read(in, q.Epsilon, scores)
	x.Params = q.Params.read()
	list := must(FindMechanisms(q.Mechanism, mechanisms.LookupFewer))
	in.begin("pmf", x.Epsilon)
	all := &Answer{List: len(list) > 1}
	for _, m := range list {
		doc := q.of(in, m, *x)
		all.Documents, all.Undecided = append(all.Documents, doc), cmp.Or(all.Undecided, doc.Undecided)
	}
	return all
}

// of asks one mechanism.
func (q *PMF) of(in *reading, m mechanisms.Mechanism, at mechanisms.Instance) *document.PMF {
	if q.Monotonic {
		var err error
		at.Sensitivities, err = mechanisms.MonotonicSensitivities(m, at.Sensitivities)
		refuse(err != nil, "{monotonic-scores}: %w", err)
	}
	doc := &document.PMF{Mechanism: m.Info().Name, AtEpsilon: document.At(q.Eps, q.Exp), Monotonic: q.Monotonic}
	doc.Distribution = settled(in, func() *mechanisms.Distribution {
		d, err := mechanisms.Ask(mechanisms.Within(in.ctx, m), &at)
		return must(d, aboutMechanism(m, err))
	}, func(why string) *mechanisms.Distribution {
		doc.Undecided = why
		return anyAnswer(&at)
	})
	return doc
}

// aboutMechanism names the mechanism that an error is about.
func aboutMechanism(m mechanisms.Mechanism, err error) error {
	switch {
	case err == nil:
		return nil
	case IsInput(err):
		return refusal("{mechanism} %s: %w", m.Info().Name, err)
	}
	return fmt.Errorf("mechanism %s: %w", m.Info().Name, err)
}

// MostRows is how many candidates a table for people lists. Of more, of whom nothing is known, none is listed.
const MostRows = 1000

// anyAnswer says what is true of every mechanism on an instance.
func anyAnswer(in *mechanisms.Instance) *mechanisms.Distribution {
	if len(in.Scores) > MostRows {
		atLeast := number.Bounds(new(big.Rat), nil)
		return &mechanisms.Distribution{PMF: []number.Number{}, ExpectedError: atLeast, MSE: atLeast}
	}
	width := new(big.Rat).Sub(in.Best(), slices.MinFunc(in.Scores, (*big.Rat).Cmp))
	return &mechanisms.Distribution{
		PMF:           slices.Repeat([]number.Number{number.Bounds(new(big.Rat), big.NewRat(1, 1))}, len(in.Scores)),
		ExpectedError: number.Bounds(new(big.Rat), width),
		MSE:           number.Bounds(new(big.Rat), new(big.Rat).Mul(width, width)),
	}
}

// Recommend asks which mechanism is best on given scores.
type Recommend struct {
	Instance
	Mechanism string `json:"mechanism" default:"all" help:"-"`
	Epsilon
	By string `json:"by" default:"error" help:"rank by error (the expected error) or by mse (the mean squared error)"`
}

// candidates are the mechanisms that are rated.
func (q *Recommend) candidates() (out []mechanisms.Mechanism) {
	if q.Mechanism != "all" {
		return must(FindMechanisms(q.Mechanism, mechanisms.LookupFewer))
	}
	for _, m := range must(FindMechanisms(strings.Join(mechanisms.Names(), ","), mechanisms.Lookup)) {
		if name := m.Info().Name; name != "lp-optimal" && name != "lp-extended" {
			out = append(out, m)
		}
	}
	return out
}

func (q *Recommend) answer(in *reading) *Answer {
	x := q.Instance.read(in, q.Epsilon, nil)
	oneOf("by", q.By, recommend.Error, recommend.MSE)
	list := q.candidates()
	in.begin("recommend", x.Epsilon)
	r := settled(in, func() *recommend.Recommendation {
		return must(recommend.For(in.ctx, x, list, q.By, q.Monotonic))
	}, func(why string) *recommend.Recommendation {
		return &recommend.Recommendation{Criterion: q.By, Mechanisms: []recommend.Rated{}, Warning: recommend.Warning, Undecided: why}
	})
	return answered(r, r.Undecided, nil)
}

// Params are the parameters of mechanisms that have any.
type Params struct {
	Gamma     string `json:"gamma" help:"rs, rs-log, rs-tnb: success parameter γ of the number of draws (default 0.05)"`
	Beta      string `json:"beta" help:"gem, mgem, combined-gem: failure probability β (default 0.05)"`
	Eta       string `json:"eta" help:"rs-tnb: shape η of the number of draws (default 1)"`
	EpsChoice string `json:"eps-choice" help:"combined-gem: share of ε for the choice (default 0.6)"`
}

func (p Params) read() (out mechanisms.Params) {
	for _, q := range []struct {
		field, text string
		to          **big.Rat
	}{{"gamma", p.Gamma, &out.Gamma}, {"beta", p.Beta, &out.Beta}, {"eta", p.Eta, &out.Eta}, {"eps-choice", p.EpsChoice, &out.EpsChoice}} {
		if q.text != "" {
			x, err := decimal.ParseNumber(q.text)
			refuse(err != nil, "{"+q.field+"}: %w; give a decimal", err)
			*q.to = x
		}
	}
	return out
}

// Values reads them.
func (p Params) Values() (mechanisms.Params, error) { return read(p.read) }
