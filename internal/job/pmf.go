package job

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/document"
	"optratio/internal/recommend"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// Instance is scores and sensitivities, and the parameters of mechanisms.
type Instance struct {
	Scores            string `json:"scores" help:"scores, comma-separated decimals or fractions, or a file with one a line"`
	ScoresFile        string `json:"scores-file" help:"file of scores, one a line"`
	Sensitivity       string `json:"sensitivity" help:"sensitivity Δ of all candidates"`
	Sensitivities     string `json:"sensitivities" help:"sensitivities, one for each score, as a list or a file; mechanisms for one Δ take the largest"`
	SensitivitiesFile string `json:"sensitivities-file" help:"file of sensitivities, one a line"`
	OneWay
	K int `json:"k" help:"lp-optimal: depth of the lattice (default: the deepest score)"`
	Params

	Vector []*big.Rat `json:"-"` // the scores, once they are read
}

func (q *Instance) read(ctx context.Context, h *Host, at Epsilon) (*mechanisms.Instance, error) {
	in := &mechanisms.Instance{}
	var err error
	into(&in.Epsilon, &err)(at.Parse())
	into(&in.Params, &err)(q.Params.Values())
	if err != nil {
		return nil, err
	}
	if in.Scores, err = q.numbers(ctx, h, "scores", q.Scores, q.ScoresFile); err != nil {
		return nil, err
	}
	if in.Scores == nil {
		return nil, refuse("scores are missing: give {scores} 0,-1,-3 or {scores-file} FILE")
	}
	if in.Sensitivities, err = q.numbers(ctx, h, "sensitivities", q.Sensitivities, q.SensitivitiesFile); err != nil {
		return nil, err
	}
	if in.Sensitivities == nil {
		one, err := ParsePositive("sensitivity", q.Sensitivity)
		if err != nil {
			return nil, err
		}
		in.Sensitivities = []*big.Rat{one}
	} else if d, n := len(in.Sensitivities), len(in.Scores); d != 1 && d != n {
		return nil, refuse("{sensitivities}: %d for %d scores, give one for each", d, n)
	}
	if err := in.Check(); err != nil {
		return nil, refuse("{sensitivities}: %w", err)
	}
	q.Vector = in.Scores
	return in, nil
}

// numbers reads the numbers of a list or of a file; nil where neither is given.
func (q *Instance) numbers(ctx context.Context, h *Host, field, list, file string) ([]*big.Rat, error) {
	switch {
	case list != "" && file != "":
		return nil, refuse("{" + field + "} and {" + field + "-file} exclude each other: give one of them")
	case file != "":
		return h.readColumn(ctx, field+"-file", file, "")
	}
	return h.numbers(ctx, field, list)
}

// PMF asks for mechanisms' output probabilities on given scores. Several mechanisms have a list of answers.
type PMF struct {
	Mechanism string `json:"mechanism" help:"mechanisms, by name, or NAME:M, see optratio mechanisms {help}; of several, a column each, and with {json} an array"`
	Instance
	Epsilon
}

// NewPMF returns the question with its defaults.
func NewPMF() *PMF { return &PMF{Instance: Instance{Sensitivity: "1"}} }

func (*PMF) standard() (string, any) { return "pmf", NewPMF() }

// Answer answers it.
func (q *PMF) Answer(ctx context.Context, h *Host) (*Answer, error) {
	in, err := q.Instance.read(ctx, h, q.Epsilon)
	if err != nil {
		return nil, err
	}
	list, err := FindMechanisms(q.Mechanism, mechanisms.LookupFewer)
	if err != nil {
		return nil, err
	}
	if _, err := h.Begin("pmf", in.Epsilon); err != nil {
		return nil, err
	}
	all := &Answer{List: len(list) > 1}
	for _, m := range list {
		doc, err := q.of(ctx, m, in)
		if err != nil {
			return nil, err
		}
		all.Documents = append(all.Documents, doc)
		if all.Undecided == "" {
			all.Undecided = doc.Undecided
		}
	}
	return all, nil
}

// of asks one mechanism.
func (q *PMF) of(ctx context.Context, m mechanisms.Mechanism, in *mechanisms.Instance) (*document.PMF, error) {
	m, err := q.Params.OnLattice(m, q.K)
	if err != nil {
		return nil, err
	}
	at := *in
	if q.Monotonic {
		if at.Sensitivities, err = mechanisms.MonotonicSensitivities(m, in.Sensitivities); err != nil {
			return nil, refuse("{monotonic-scores}: %w", err)
		}
	}
	doc := &document.PMF{Mechanism: m.Info().Name, Eps: Optional(q.Eps), ExpEps: Optional(q.Exp), Monotonic: q.Monotonic}
	doc.Distribution, err = Settle(ctx, func() (*mechanisms.Distribution, error) {
		d, err := mechanisms.Ask(mechanisms.Within(ctx, m), &at)
		return d, aboutMechanism(m, err)
	}, func(why string) *mechanisms.Distribution {
		doc.Undecided = why
		return anyAnswer(&at)
	})
	return doc, err
}

// aboutMechanism names the mechanism that an error is about.
func aboutMechanism(m mechanisms.Mechanism, err error) error {
	switch {
	case err == nil:
		return nil
	case IsInput(err):
		return refuse("{mechanism} %s: %w", m.Info().Name, err)
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
	Mechanism string `json:"mechanism" help:"mechanisms to rate, by name, or NAME:M, see optratio mechanisms {help}; all leaves out lp-optimal, which lives on the lattice, and without {k} lp-extended, whose lattice must not depend on the scores"`
	Epsilon
	Step string `json:"step" help:"with {k}: distance of the scores of lp-extended's table, 2delta, delta or 2delta/L; all others are rated at the scores as they are"`
}

// NewRecommend returns the question with its defaults.
func NewRecommend() *Recommend {
	return &Recommend{Instance: Instance{Sensitivity: "1"}, Mechanism: "all", Step: "2delta"}
}

func (*Recommend) standard() (string, any) { return "recommend", NewRecommend() }

// candidates are the mechanisms that are rated.
func (q *Recommend) candidates() ([]mechanisms.Mechanism, error) {
	if q.Mechanism != "all" {
		return FindMechanisms(q.Mechanism, mechanisms.LookupFewer)
	}
	parts, err := ParseStep(q.Step, false)
	if err != nil {
		return nil, err
	}
	var out []mechanisms.Mechanism
	for _, name := range mechanisms.Names() {
		if name == "lp-optimal" || name == "lp-extended" && q.K == 0 {
			continue
		}
		m, err := mechanisms.Lookup(name)
		if err != nil {
			return nil, err
		}
		if name == "lp-extended" {
			m = lp.Extended(q.K, parts)
		} else {
			m, _ = mechanisms.ForLattice(m, q.K)
		}
		out = append(out, m)
	}
	return out, nil
}

// Answer answers it.
func (q *Recommend) Answer(ctx context.Context, h *Host) (*Answer, error) {
	in, err := q.Instance.read(ctx, h, q.Epsilon)
	if err != nil {
		return nil, err
	}
	list, err := q.candidates()
	if err != nil {
		return nil, err
	}
	if _, err := h.Begin("recommend", in.Epsilon); err != nil {
		return nil, err
	}
	r, err := Settle(ctx, func() (*recommend.Recommendation, error) { return recommend.For(ctx, in, list, q.Monotonic) },
		func(why string) *recommend.Recommendation {
			return &recommend.Recommendation{Mechanisms: []recommend.Rated{}, Warning: recommend.Warning, Undecided: why}
		})
	if err != nil {
		return nil, err
	}
	return answered(r, r.Undecided), nil
}
