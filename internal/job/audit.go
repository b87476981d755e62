package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"optratio/internal/audit"
	"optratio/internal/escape"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Audit asks about a mechanism in any language, or a table of its probabilities.
type Audit struct {
	Stated
	SampleExec string `json:"sample-exec" help:"program that draws samples"`
	Epsilon
	Shifted bool `json:"shifted" help:"with {pmf-file}: rows are neighbors also if they are after a shift"`
	Size
	Domain      string `json:"domain" help:"lattice, half-lattice, random, or a file of score vectors, one a line: 0,-1,-2.5 or [0,-1,-2.5]"`
	Inputs      string `json:"inputs" help:"file of what is asked about instead of scores, a JSON value a line; needs {neighbors} FILE"`
	Neighbors   string `json:"neighbors" help:"linf, monotonic, or a file of pairs, one a line: 0,-1;1,-1 or [[0,-1],[1,-1]]; of inputs 0,3 or [A,B], with a distance 0,3,2"`
	Sensitivity string `json:"sensitivity" help:"sensitivity Δ"`
	Target
	Against      string               `json:"against" help:"compare with this mechanism's probabilities"`
	Confidence   string               `json:"confidence" help:"of a sampler's lower bound on ε"`
	Until        string               `json:"until" help:"end an audit of samples when the claim is refuted, or when the budget is spent: refuted or budget"`
	Outcomes     string               `json:"outcomes" help:"what answers are about: index (candidates), labels (any strings) or, of samplers, real (numbers) or mixed (lists or objects of labels and numbers)"`
	Budget       string               `json:"budget" help:"samples in all, such as 300k or 10M"`
	Children     int                  `json:"children" help:"with {sample-exec}: run the program so many times at once; the samples of every question are dealt to them"`
	Seed         uint64               `json:"seed" help:"seed of what is chosen at random"`
	MaxQuestions int                  `json:"max-questions" help:"with {pmf-exec}: refuse to ask more than so many; 0 for what takes about a minute by the first answers. With {time-limit} nothing is refused: it ends then"`
	Function     mechanisms.Mechanism `json:"-"` // of the caller's, in place of a program
}

// NewAudit returns the question with its defaults.
func NewAudit() *Audit {
	return &Audit{
		Stated: standardStated(), Size: Size{3, 2}, Domain: "lattice", Neighbors: "linf", Sensitivity: "1", Confidence: "0.95", Until: "budget", Outcomes: audit.Index, Budget: "1M", Children: 1, Seed: 1,
	}
}

func (*Audit) standard() (string, any) { return "audit", NewAudit() }

func (q *Audit) read(ctx context.Context, h *Host) (o audit.Options, err error) {
	if err = q.checkProgram(); err != nil {
		return o, err
	}
	if o, err = q.Stated.options(number.Epsilon{}); err != nil {
		return o, err
	}
	o.N, o.K, o.Domain, o.Seed, o.Outcomes, o.MaxQuestions = q.N, q.K, q.Domain, q.Seed, q.Outcomes, int64(q.MaxQuestions)
	if q.MaxQuestions == 0 {
		o.MaxQuestions = -1
	}
	into(&o.Epsilon, &err)(q.Epsilon.Parse())
	into(&o.Sensitivity, &err)(ParsePositive("sensitivity", q.Sensitivity))
	err = cmp.Or(err, q.checkOutcomes())
	var properties []verify.Property
	into(&properties, &err)(q.properties())
	into(&properties, &err)(q.askable(properties))
	var targets verify.Options
	into(&targets, &err)(q.Target.options(properties))
	if err != nil {
		return o, err
	}
	o.Properties, o.Rho, o.Range, o.Delta, o.Slack = targets.Properties, targets.Rho, targets.Range, targets.Delta, targets.Slack
	if q.Against != "" {
		into(&o.Against, &err)(FindMechanism("against", q.Against))
	}
	if err := cmp.Or(err, q.sampling(&o)); err != nil {
		return o, err
	}
	if q.Inputs != "" {
		o.Inputs, err = q.readInputs(ctx, h)
		return o, err
	}
	return o, q.questions(ctx, h, &o)
}

// checkProgram refuses questions from which it is not clear what to run, and how often at once.
func (q *Audit) checkProgram() error {
	given := 0
	for _, is := range []bool{q.Exec != "", q.SampleExec != "", q.File != "", q.Function != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return refuse("give exactly one of {pmf-exec}, {sample-exec} and {pmf-file}")
	}
	if q.Children < 1 || q.Children > 1 && q.SampleExec == "" {
		return refuse("{children} %d: give at least 1, and with more than 1 {sample-exec}", q.Children)
	}
	return nil
}

// checkOutcomes refuses what the kind of answers does not go with.
func (q *Audit) checkOutcomes() error {
	switch {
	case q.Outcomes == audit.Index:
	case q.Outcomes != audit.Labels && q.Outcomes != audit.Real && q.Outcomes != audit.Mixed:
		return refuse("{outcomes} %s: give index, labels, real or mixed", escape.Quoted(q.Outcomes))
	case q.SampleExec == "" && (q.Outcomes == audit.Real || q.Outcomes == audit.Mixed):
		return refuse("{outcomes} %s: this needs {sample-exec}", q.Outcomes)
	case q.Outcomes == audit.Mixed && q.Children > 1:
		return refuse("{children} %d: with {outcomes} mixed one child draws", q.Children)
	case q.Against != "":
		return refuse("{outcomes} %s: they cannot be compared {against} a mechanism's candidates", q.Outcomes)
	}
	return nil
}

// askable returns the properties that are asked about, and refuses those that inputs, labels or samples have nothing to do with. Of samples these are,
// where none are named, DP, or with a δ approximate DP; that is added to those that are named.
func (q *Audit) askable(properties []verify.Property) ([]verify.Property, error) {
	if q.Inputs != "" {
		if err := q.aboutInputs(properties); err != nil {
			return nil, err
		}
	}
	if q.SampleExec == "" {
		for _, p := range properties {
			if (q.Outcomes == audit.Labels || q.Inputs != "") && !slices.Contains(audit.OfLabels, p) {
				return nil, refuse("{property} %s: %s is about candidates, and {outcomes} are labels", escape.Quoted(q.Property), p)
			}
		}
		return properties, nil
	}
	if q.Property == "" {
		properties = []verify.Property{verify.DP}
	}
	switch {
	case q.Delta == "" || slices.Contains(properties, verify.ApproximateDP):
	case q.Property == "":
		properties = []verify.Property{verify.ApproximateDP}
	default:
		properties = append(properties, verify.ApproximateDP)
	}
	for _, p := range properties {
		switch {
		case !slices.Contains(audit.Testable, p):
			return nil, refuse("{property} %s: samples cannot tell about %s, give some of dp, symmetry, shift, monotone, bounded-range, zcdp, approximate-dp", escape.Quoted(q.Property), p)
		case q.Outcomes != audit.Index && slices.Contains(audit.Testable[1:4], p):
			return nil, refuse("{property} %s: %s is about candidates, and {outcomes} are %s", escape.Quoted(q.Property), p, q.Outcomes)
		}
	}
	return properties, nil
}

// aboutInputs refuses what does not go with inputs.
func (q *Audit) aboutInputs(properties []verify.Property) error {
	switch {
	case q.Domain != "lattice":
		return refuse("{inputs} and {domain} exclude each other: the inputs are the domain")
	case q.Neighbors == "linf" || q.Neighbors == "monotonic":
		return refuse("{inputs}: give {neighbors} FILE, a line such as 0,3 for each pair of inputs that are neighbors")
	case q.Against != "":
		return refuse("{against}: a mechanism is about scores, leave it out with {inputs}")
	case q.Shifted:
		return refuse("{shifted}: it is about scores, leave it out with {inputs}")
	}
	for _, p := range properties {
		if !slices.Contains(audit.OfLabels, p) {
			return refuse("{property} %s: %s is about candidates and scores, which inputs do not have", escape.Quoted(q.Property), p)
		}
	}
	return nil
}

// sampling sets how many samples are drawn, and what they are to show.
func (q *Audit) sampling(o *audit.Options) (err error) {
	if o.Confidence, err = within("confidence", q.Confidence, "a decimal between 0 and 1 such as 0.95", func(x *big.Rat) bool { return x.Sign() > 0 && x.Cmp(big.NewRat(1, 1)) < 0 }); err != nil {
		return err
	}
	budget, err := Scaled(q.Budget)
	if err != nil || !budget.IsInt() || budget.Sign() <= 0 || budget.Num().BitLen() > 50 {
		return refuse("{budget} %s: give a number of samples such as 1000000, 3M or 1e6", escape.Quoted(q.Budget))
	}
	o.Budget, o.UntilRefuted = budget.Num().Int64(), q.Until == "refuted"
	if q.Until != "refuted" && q.Until != "budget" {
		return refuse("{until} %s: give refuted or budget", escape.Quoted(q.Until))
	}
	return nil
}

// questions sets the score vectors that are asked about, and which of them are neighbors. A table has its own.
func (q *Audit) questions(ctx context.Context, h *Host, o *audit.Options) (err error) {
	if q.File == "" {
		switch q.Domain {
		case "lattice", "half-lattice", "random":
			err = q.Size.check()
		default:
			o.Vectors, err = h.readVectors(ctx, q.Domain, "lattice, half-lattice, random")
		}
		if err != nil {
			return err
		}
	}
	if o.Neighbors, err = verify.ParseNeighborhood(q.Neighbors); err != nil {
		o.Pairs, err = readAll(ctx, h, "neighbors", q.Neighbors, "linf, monotonic or a file of pairs", "the file has no pairs, give one a line such as 0,-1;1,-1", splitPair)
	}
	return err
}

// readInputs reads inputs, and neighbors, which are about them.
func (q *Audit) readInputs(ctx context.Context, h *Host) (*audit.Inputs, error) {
	in := &audit.Inputs{Name: q.Inputs}
	err := h.readLines(ctx, "inputs", q.Inputs, func(text string) error { return in.Add(json.RawMessage(text)) })
	if err == nil && in.Values == nil {
		err = refuse("{inputs} %s: no inputs, give a JSON value a line", escape.Quoted(q.Inputs))
	}
	if err != nil {
		return nil, err
	}
	first := true
	err = h.readLines(ctx, "neighbors", q.Neighbors, func(text string) error {
		if oneway := text == `"oneway"`; oneway {
			if !first {
				return errors.New(`"oneway" is about the whole file, give it in the first line`)
			}
			in.OneWay, first = true, false
			return nil
		}
		first = false
		return in.AddPair(text)
	})
	if err == nil && len(in.Pairs) == 0 {
		err = refuse("{neighbors} %s: the file has no pairs, give one a line such as 0,3", escape.Quoted(q.Neighbors))
	}
	return in, err
}

// Answer answers it.
func (q *Audit) Answer(ctx context.Context, h *Host) (*Answer, error) {
	o, err := q.read(ctx, h)
	if err != nil {
		return nil, err
	}
	decided := verify.Options{Properties: o.Properties, Rho: o.Rho, Range: o.Range, Delta: o.Delta}
	decided.Complete()
	if h.Certificate {
		if q.SampleExec != "" {
			return nil, refuse("{cert}: samples prove nothing that could be checked; give {pmf-exec} or {pmf-file}, or leave it out")
		}
		if err := certifiable("", decided.Properties); err != nil {
			return nil, err
		}
	}
	report, err := h.Begin("audit", o.Epsilon)
	if err != nil {
		return nil, err
	}
	o.Progress = q.progress(h, report)
	r, err := Settle(ctx, func() (*audit.Report, error) { return q.examine(ctx, h, o) }, func(why string) *audit.Report {
		return &audit.Report{Report: verify.Report{
			Mechanism: q.Exec + q.SampleExec + q.File, Domain: cmp.Or(q.Inputs, q.Domain), Claimed: o.Epsilon.Number(), Properties: nothingDecided(decided, why),
		}}
	})
	if err != nil {
		return nil, otherwise(err)
	}
	a := answered(r, "")
	if q.SampleExec != "" && r.Verdict() == verify.Undecided && ctx.Err() == nil && r.Compared() {
		return a, nil // nothing found
	}
	a.verdict(&r.Report)
	a.certified(func(w io.Writer) error { return writeWitness(w, &r.Report, q.setting(&o)) })
	return a, nil
}

// examine does the audit.
func (q *Audit) examine(ctx context.Context, h *Host, o audit.Options) (*audit.Report, error) {
	switch {
	case q.Function != nil:
		return audit.Mechanism(ctx, q.Function, o)
	case q.File == "":
		return q.examineProgram(ctx, o)
	}
	t, err := q.table(ctx, h, o.Outcomes, o.Precision)
	if err != nil {
		return nil, err
	}
	if t.Inputs != nil && q.Inputs == "" {
		return nil, refuse("{pmf-file} %s: its rows are about inputs, give them with {inputs} FILE and their pairs with {neighbors} FILE", escape.Quoted(q.File))
	}
	return t.Audit(ctx, q.Shifted, o)
}

// noted is how long an audit has to take for a note about it.
const noted = 30 * time.Second

// progress shows how far an audit is, and says once how long it takes where that is long.
func (q *Audit) progress(h *Host, report func(string, ...any)) func(done, total int64) {
	switch {
	case q.SampleExec != "":
		return func(done, total int64) { report("%d of %d samples", done, total) }
	case q.File != "":
		return func(done, total int64) { report("%s", comparisons(done, total)) }
	}
	var began time.Time
	told := false
	return func(done, total int64) {
		if began.IsZero() {
			began = time.Now()
		}
		took := time.Since(began)
		whole := time.Duration(float64(took) / float64(done) * float64(total))
		if took < time.Second {
			report("%d of about %d questions", done, total)
		} else {
			report("%d of about %d questions, %v left", done, total, (whole - took).Round(time.Second))
		}
		if !told && took > noted/10 {
			if told = true; whole > noted {
				h.Note(fmt.Sprintf("there are about %d questions, which take about %v", total, whole.Round(time.Second)))
			}
		}
	}
}

// otherwise adds the field that goes with a program whose answers are of another kind than was asked for, or that is asked too much.
func otherwise(err error) error {
	if errors.Is(err, audit.ErrMany) {
		return refuse("%w; give a smaller {n}, {k} or {domain} FILE, {max-questions} N to ask them all, or {time-limit} D to end after D with the best answer so far", err)
	}
	var u *audit.Unlike
	if !errors.As(err, &u) {
		return err
	}
	instead := map[string]string{
		"pmf": "{pmf-exec}", "counts": "{sample-exec}", "values": "{sample-exec} and {outcomes} real or mixed", "labels": "{outcomes} labels", "index": "{outcomes} index",
	}[u.Kind]
	if instead == "" {
		return err
	}
	return refuse("%w; give it with "+instead, err)
}

// setting is what a witness's certificate says beside the report.
func (q *Audit) setting(o *audit.Options) witnessed {
	s := witnessed{
		Epsilon: o.Epsilon, Stated: true, Neighbors: neighborsWord(o.Neighbors), Sensitivity: o.Sensitivity,
		Scale: new(big.Rat).Mul(o.Sensitivity, big.NewRat(2, 1)), Delta: o.Delta,
	}
	switch {
	case o.Pairs != nil:
		s.Neighbors = "stated"
	case q.Shifted:
		s.Neighbors = "shifted"
	}
	return s
}
