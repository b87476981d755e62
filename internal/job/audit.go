package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"runtime"
	"slices"
	"sync"
	"time"

	"optratio/internal/audit"
	"optratio/internal/certtext"
	"optratio/internal/escape"
	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Stated names the user's own mechanism: a program or a table that states probabilities.
type Stated struct {
	Exec      string `json:"pmf-exec" help:"program that states probabilities"`
	File      string `json:"pmf-file" help:"table of probabilities"`
	Precision string `json:"pmf-precision" default:"1e-9" help:"relative precision of the probabilities that are stated"`
}

func (s *Stated) given() bool { return s.Exec != "" || s.File != "" }

// onPage says that this is the engine of a page. It starts no programs, and the compiler leaves out what asks them.
const onPage = runtime.GOOS == "js"

var errPage = refusal("{pmf-exec}: a page cannot start programs")

// options are those of an audit of the mechanism.
func (s *Stated) options(eps number.Epsilon) audit.Options {
	return audit.Options{Epsilon: eps, Precision: within("pmf-precision", s.Precision, "a decimal >= 0 and below 1 such as 1e-9", func(x *big.Rat) bool { return notNegative(x) && x.Cmp(one) < 0 })}
}

// table reads the table.
func (s *Stated) table(in *reading, outcomes string, precision *big.Rat) *audit.Table {
	return file(in, "pmf-file", s.File, func(name string, text io.Reader) (*audit.Table, error) {
		return audit.ReadTable(text, name, outcomes, precision)
	})
}

// Audit asks about a mechanism in any language, or a table of its probabilities.
type Audit struct {
	Stated
	SampleExec string `json:"sample-exec" help:"program that draws samples"`
	Epsilon
	Size        `default:"n=3,k=2"`
	Domain      string `json:"domain" default:"lattice" help:"lattice, half-lattice, random, or a file of score vectors, one per line: 0,-1,-2.5 or [0,-1,-2.5]"`
	Inputs      string `json:"inputs" help:"file of what to ask about instead of scores, such as datasets: one JSON value per line; needs {neighbors}; or - for lines of standard input, each with its neighbors"`
	Neighbors   string `json:"neighbors" default:"linf" help:"of scores: linf (each may change by Δ), monotonic (all change one way), shifted (rows of {pmf-file} are neighbors also if they are after a shift), or a file of pairs, one per line: 0,-1;1,-1 or [[0,-1],[1,-1]]. Of inputs: remove-row or replace-row (every input is a list of rows, and its neighbors have one row less, or one replaced by another row of the file), or a file of pairs: 0,3 or [A,B], with a distance 0,3,2"`
	Sensitivity string `json:"sensitivity" default:"1" help:"sensitivity Δ"`
	NoSide      bool   `json:"no-side" help:"look at nothing beside these: at no other scores, and of datasets no larger ones"`
	OneWay
	Target
	Against    string               `json:"against" help:"also decide whether the probabilities are those of this mechanism (property against)"`
	Reference  string               `json:"against-exec" help:"also decide whether this program answers alike (property same)"`
	Confidence string               `json:"confidence" default:"0.95" help:"confidence of a sampler's lower bound on ε"`
	Until      string               `json:"until" default:"budget" help:"when an audit of samples ends: refuted (as soon as the claim is refuted) or budget (when all samples are drawn)"`
	Outcomes   string               `json:"outcomes" default:"index" help:"what the program answers with: index (candidates), labels (any strings) or, from a sampler, real (numbers) or mixed (lists or objects of labels and numbers)"`
	Budget     string               `json:"budget" default:"1M" help:"how many samples to draw in all, such as 300k or 10M"`
	Children   int                  `json:"children" default:"1" help:"with {sample-exec}: how many copies of the program run at the same time and share the samples of every question"`
	Seed       uint64               `json:"seed" default:"1" help:"seed of all random choices"`
	Timeout    time.Duration        `json:"timeout" default:"10s" help:"how long the program may take for one answer"`
	Function   mechanisms.Mechanism `json:"-"` // of the caller's, in place of a program
}

func (q *Audit) read(in *reading) audit.Options {
	q.checkProgram()
	o := q.Stated.options(number.Epsilon{})
	refuse(q.Timeout <= 0, "{timeout} %s: give a positive duration such as 10s", q.Timeout)
	o.N, o.K, o.Domain, o.Seed, o.Outcomes, o.Brief, o.NoSide = q.N, q.K, q.Domain, q.Seed, q.Outcomes, true, q.NoSide
	o.Sensitivity = positive("sensitivity", q.Sensitivity)
	q.checkOutcomes()
	properties := q.properties(audit.Same)
	if at := slices.Index(properties, audit.Same); at >= 0 {
		refuse(q.Reference == "", "{property} same: give the program to compare with, {against-exec} CMD")
		properties = slices.Delete(properties, at, at+1)
	}
	refuse(q.Reference != "" && q.File != "", "{against-exec}: compares programs, and {pmf-file} is a table; give {pmf-exec} or {sample-exec}")
	o.Reference = q.Reference
	targets := q.Target.options(q.askable(properties))
	o.Properties, o.Slack, o.Targets, o.Profile = targets.Properties, targets.Slack, targets.Targets, targets.Profile
	if q.Against != "" {
		o.Against = mechanism("against", q.Against)
	}
	o.Confidence = within("confidence", q.Confidence, "a decimal between 0 and 1 such as 0.95", func(x *big.Rat) bool { return x.Sign() > 0 && x.Cmp(one) < 0 })
	budget, err := Scaled(q.Budget)
	refuse(err != nil || !budget.IsInt() || budget.Sign() <= 0 || budget.Num().BitLen() > 50, "{budget} %s: give a number of samples such as 1000000, 3M or 1e6", escape.Quoted(q.Budget))
	o.Budget, o.UntilRefuted = budget.Num().Int64(), q.Until == "refuted"
	refuse(!o.UntilRefuted && q.Until != "budget", "{until} %s: give refuted or budget", escape.Quoted(q.Until))
	switch q.Inputs {
	case "":
		q.questions(in, &o)
	case streamed: // is begun last
	default:
		o.Inputs = q.readInputs(in)
	}
	return o
}

// streamed is the name of inputs that come from standard input.
const streamed = "-"

// arriving is a line of a stream, and what returns the next one, nil for none, once it is there. Many may follow the same lines, each at its own pace.
type arriving struct {
	audit.Line
	next func() *arriving
}

func arrivals(read func() (audit.Line, bool)) func() *arriving {
	return sync.OnceValue(func() *arriving {
		line, ok := read()
		if !ok {
			return nil
		}
		return &arriving{line, arrivals(read)}
	})
}

// stream reads inputs with their neighbors as they come, for each relation that the first line names. ended returns what was wrong with a line, once no more come.
func (q *Audit) stream(in *reading) (relations []*audit.Inputs, ended func() error) {
	var wrong error
	lines, done := make(chan audit.Line), make(chan struct{})
	go func() {
		defer close(lines)
		defer close(done)
		wrong = caught(func() { q.send(in, lines) })
	}()
	ended = func() error {
		select {
		case <-done:
			return wrong
		default:
			return nil
		}
	}
	first := arrivals(func() (line audit.Line, ok bool) {
		select {
		case line, ok = <-lines:
		case <-in.ctx.Done():
		}
		return line, ok
	})
	if first() == nil {
		throw(cmp.Or(ended(), context.Cause(in.ctx), refusal("{inputs} -: there are no lines; give one for each input")))
	}
	for _, name := range slices.Sorted(maps.Keys(first().Neighbors)) {
		next := first
		relations = append(relations, &audit.Inputs{Name: "standard input", Relation: name, Next: func() (line audit.Line, ok bool) {
			at := next()
			if at == nil {
				return line, false
			}
			next = at.next
			return at.Line, true
		}})
	}
	return relations, ended
}

// send sends the lines of the stream, which name no other relations than the first one does.
func (q *Audit) send(in *reading, lines chan<- audit.Line) {
	var names []string
	in.each("inputs", q.Inputs, func(text string) error {
		line, err := audit.ReadLine(text)
		if err != nil {
			return err
		}
		if names == nil {
			names = slices.Sorted(maps.Keys(line.Neighbors))
		}
		for name := range line.Neighbors {
			if !slices.Contains(names, name) {
				return fmt.Errorf("the neighbors are related by %s, which the first line does not name", escape.Quoted(name))
			}
		}
		select {
		case lines <- line:
		case <-in.ctx.Done():
		}
		return nil
	})
}

// checkProgram refuses questions that do not say clearly what to run, and how many copies at once.
func (q *Audit) checkProgram() {
	named := slices.DeleteFunc([]string{q.Exec, q.SampleExec, q.File}, func(name string) bool { return name == "" })
	refuse(len(named) != Choose(q.Function == nil, 1, 0), "give exactly one of {pmf-exec}, {sample-exec} and {pmf-file}")
	refuse(q.Children < 1 || q.Children > 1 && q.SampleExec == "", "{children} %d: give at least 1, and with more than 1 {sample-exec}", q.Children)
}

// checkOutcomes refuses what does not go with the kind of answers.
func (q *Audit) checkOutcomes() {
	if q.Outcomes == audit.Index {
		return
	}
	refuse(q.Outcomes != audit.Labels && q.Outcomes != audit.Real && q.Outcomes != audit.Mixed, "{outcomes} %s: give index, labels, real or mixed", escape.Quoted(q.Outcomes))
	refuse(q.SampleExec == "" && q.Outcomes != audit.Labels, "{outcomes} %s: this needs {sample-exec}", q.Outcomes)
	refuse(q.Outcomes == audit.Mixed && q.Children > 1, "{children} %d: with {outcomes} mixed one child draws", q.Children)
	refuse(q.Against != "", "{outcomes} %s: they cannot be compared {against} a mechanism's candidates", q.Outcomes)
}

// askable returns the properties that are asked about, and refuses those that make no sense for inputs, labels or samples. If none is named, samples
// are asked about DP, or with a δ about approximate DP, which is also added to those that are named.
func (q *Audit) askable(properties []verify.Property) []verify.Property {
	refuse(q.Inputs == streamed && q.Neighbors != "linf", "{inputs} -: each line has its neighbors; leave {neighbors} out")
	if q.Inputs != "" {
		refuse(q.Domain != "lattice", "{inputs} and {domain} exclude each other: the inputs are the domain")
		refuse(slices.Contains(neighborhoods, q.Neighbors) && q.Inputs != streamed || q.Monotonic, "{inputs}: give {neighbors} remove-row or replace-row, where inputs are lists of rows, or FILE, with a line such as 0,3 for each pair of inputs; linf, monotonic and shifted are about scores")
		refuse(q.Against != "", "{against}: a mechanism is about scores, leave it out with {inputs}")
	}
	for _, p := range properties {
		other := !slices.Contains(audit.OfLabels, p)
		refuse(other && q.Inputs != "", "{property} %s: %s is about candidates and scores, which inputs do not have", escape.Quoted(q.Property), p)
		refuse(other && q.Outcomes == audit.Labels && q.SampleExec == "", "{property} %s: %s is about candidates, and {outcomes} are labels", escape.Quoted(q.Property), p)
	}
	if q.SampleExec == "" {
		return properties
	}
	refuse(q.Order != "" || q.Profile, "{order} and {profile}: are about stated probabilities; leave them out with {sample-exec}")
	if q.Property == "" {
		properties = []verify.Property{Choose(q.Delta == "", verify.DP, verify.ApproximateDP)}
	} else if q.Delta != "" && !slices.Contains(properties, verify.ApproximateDP) {
		properties = append(properties, verify.ApproximateDP)
	}
	for _, p := range properties {
		refuse(!slices.Contains(audit.Testable, p), "{property} %s: samples cannot tell about %s; give some of dp, symmetry, shift, monotone, bounded-range, zcdp, approximate-dp", escape.Quoted(q.Property), p)
		refuse(q.Outcomes != audit.Index && slices.Contains(audit.Testable[1:4], p), "{property} %s: %s is about candidates, and {outcomes} are %s", escape.Quoted(q.Property), p, q.Outcomes)
	}
	return properties
}

// questions sets the score vectors that are asked about, and which of them are neighbors. A table has its own.
func (q *Audit) questions(in *reading, o *audit.Options) {
	switch {
	case q.File != "":
	case slices.Contains([]string{"lattice", "half-lattice", "random"}, q.Domain):
		q.Size.check()
	default:
		o.Vectors = in.vectors(q.Domain, "lattice, half-lattice, random")
	}
	refuse(slices.Contains(rowNeighbors, q.Neighbors), "{neighbors} %s: is about datasets; give them with {inputs} FILE, one per line", q.Neighbors)
	refuse(q.Neighbors == "shifted" && q.File == "", "{neighbors} shifted: is about the rows of {pmf-file}, give that")
	if o.Monotonic = q.Monotonic || q.Neighbors == "monotonic"; q.Monotonic {
		refuse(q.Neighbors != "linf" && q.Neighbors != "monotonic", "{monotonic-scores} and {neighbors} %s exclude each other: give one of them", escape.Quoted(q.Neighbors))
		o.Domain = Choose(q.Domain == "lattice", "half-lattice", q.Domain)
	}
	if !slices.Contains(neighborhoods, q.Neighbors) {
		o.Pairs = lines(in, "neighbors", q.Neighbors, "linf, monotonic, shifted or a file of pairs"+DidYouMean(q.Neighbors, neighborhoods), "the file has no pairs; give one per line, such as 0,-1;1,-1", splitPair)
	}
}

// readInputs reads inputs, and neighbors, which are about them.
func (q *Audit) readInputs(in *reading) *audit.Inputs {
	inputs, first := &audit.Inputs{Name: q.Inputs}, true
	in.each("inputs", q.Inputs, func(text string) error { return inputs.Add(json.RawMessage(text)) })
	refuse(inputs.Values == nil, "{inputs} %s: the file has no inputs; give one JSON value per line", escape.Quoted(q.Inputs))
	if slices.Contains(rowNeighbors, q.Neighbors) {
		err := inputs.AddRowPairs(q.Neighbors == "replace-row")
		refuse(err != nil, "{inputs} %s with {neighbors} %s: %w", escape.Quoted(q.Inputs), q.Neighbors, err)
		refuse(len(inputs.Pairs) == 0, "{inputs} %s with {neighbors} %s: no input has a neighbor; give inputs with more rows", escape.Quoted(q.Inputs), q.Neighbors)
		return inputs
	}
	pair := func(text string) error {
		if text != `"oneway"` {
			first = false
			return inputs.AddPair(text)
		}
		if !first {
			return errors.New(`"oneway" is about the whole file, give it in the first line`)
		}
		inputs.OneWay, first = true, false
		return nil
	}
	err := caught(func() { in.each("neighbors", q.Neighbors, pair) })
	refuse(errors.Is(err, fs.ErrNotExist), "%w; give remove-row, replace-row or a file of pairs%s", err, DidYouMean(q.Neighbors, rowNeighbors))
	throw(err)
	refuse(len(inputs.Pairs) == 0, "{neighbors} %s: the file has no pairs; give one per line, such as 0,3", escape.Quoted(q.Neighbors))
	return inputs
}

func (q *Audit) answer(in *reading) *Answer {
	o := q.read(in)
	decided := verify.Options{Properties: o.Properties, Targets: o.Targets}
	decided.Complete()
	refuse(in.Certificate && q.SampleExec != "", "{cert}: samples prove nothing that could be checked; give {pmf-exec} or {pmf-file}, or leave it out")
	in.certifiable("", decided.Properties)
	relations, ended := []*audit.Inputs{o.Inputs}, func() error { return nil }
	if q.Inputs == streamed {
		relations, ended = q.stream(in)
		refuse(in.Certificate && len(relations) > 1, "{cert}: a certificate is about one relation; give lines with one")
	}
	list, _ := q.Epsilon.List()
	verdicts := int64(max(1, len(list)) * len(relations)) // which share what is left to chance
	chance := new(big.Rat).Sub(one, o.Confidence)
	o.Confidence = new(big.Rat).Sub(one, chance.Quo(chance, big.NewRat(verdicts, 1)))
	o.Budget = max(1, o.Budget/int64(len(relations)))
	return in.atEach(q.Epsilon, func(eps Epsilon) *Answer {
		o := o
		o.Epsilon = eps.value()
		a, err := read(func() *Answer { return q.at(in, o, relations, decided) })
		throw(ended())
		return must(a, err)
	})
}

// at answers it with options that were read, for each of some relations between inputs.
func (q *Audit) at(in *reading, o audit.Options, relations []*audit.Inputs, decided verify.Options) *Answer {
	in.begin("audit", o.Epsilon)
	if q.Inputs != streamed {
		o.Progress, o.Keep = q.progress(in), in.Certificate
	}
	reports, err := Settle(in.ctx, func() ([]*audit.Report, error) {
		reports, errs := make([]*audit.Report, len(relations)), make([]error, len(relations))
		var running sync.WaitGroup
		for i, inputs := range relations { // at the same time, as their lines come
			running.Go(func() {
				own := o
				own.Inputs = inputs
				reports[i], errs[i] = Await(context.WithoutCancel(in.ctx), 0, func() (*audit.Report, error) { return q.examine(in, own) })
			})
		}
		running.Wait()
		return reports, cmp.Or(errs...)
	}, func(why string) (reports []*audit.Report) {
		for _, inputs := range relations {
			r := &audit.Report{Report: verify.Report{
				Mechanism: q.Exec + q.SampleExec + q.File, Domain: cmp.Or(q.Inputs, q.Domain), Claimed: o.Epsilon.Number(), Properties: nothingDecided(decided, why),
			}}
			if inputs != nil {
				r.Relation = inputs.Relation
			}
			reports = append(reports, r)
		}
		return reports
	})
	throw(otherwise(err))
	all := &Answer{List: len(reports) > 1}
	for _, r := range reports {
		all.Documents = append(all.Documents, r)
		all.Certificate = func(w io.Writer) error {
			if err := writeWitness(w, &r.Report, q.setting(&o)); !errors.Is(err, certtext.ErrNone) {
				return err
			}
			return writeProof(w, r, &o)
		}
		if q.SampleExec != "" && r.Verdict() == verify.Undecided && in.ctx.Err() == nil && r.Compared() {
			continue // nothing found
		}
		all.verdict(&r.Report)
	}
	return all
}

// examine does the audit.
func (q *Audit) examine(in *reading, o audit.Options) (*audit.Report, error) {
	if q.Function != nil {
		return audit.Mechanism(in.ctx, q.Function, o)
	}
	if q.File == "" {
		if onPage {
			return nil, errPage
		}
		program := audit.Program{Command: q.Exec, Timeout: q.Timeout, Children: q.Children}
		if q.SampleExec != "" {
			program.Command = q.SampleExec
			return program.Samples(in.ctx, o)
		}
		return program.PMF(in.ctx, o)
	}
	t := q.table(in, o.Outcomes, o.Precision)
	refuse(t.Inputs != nil && q.Inputs == "", "{pmf-file} %s: its rows are about inputs, give them with {inputs} FILE and their pairs with {neighbors} FILE", escape.Quoted(q.File))
	return t.Audit(in.ctx, q.Neighbors == "shifted", o)
}

// noted is how long an audit has to take for a note about it.
const noted = 30 * time.Second

// progress shows how far an audit is, and says once how long it takes where that is long.
func (q *Audit) progress(in *reading) func(done, total int64) {
	switch {
	case q.SampleExec != "":
		return func(done, total int64) { in.report("%d of %d samples", done, total) }
	case q.File != "":
		return func(done, total int64) { in.report("%s", inquiry.Comparisons(done, total)) }
	}
	var began time.Time
	told := false
	return func(done, total int64) {
		if began.IsZero() {
			began = time.Now()
		}
		took := time.Since(began)
		whole := time.Duration(float64(took) / float64(done) * float64(total))
		in.report("%d of about %d questions%s", done, total, Choose(took < time.Second, "", fmt.Sprintf(", %v left", (whole-took).Round(time.Second))))
		if !told && took > noted/10 && whole > noted {
			in.Note(fmt.Sprintf("there are about %d questions, which take about %v", total, whole.Round(time.Second)))
		}
		told = told || took > noted/10
	}
}

// The neighbors that have a name: of scores, and of inputs that are lists of rows.
var (
	neighborhoods = []string{"linf", "monotonic", "shifted"}
	rowNeighbors  = []string{"remove-row", "replace-row"}
)

// otherwise adds to an error the field that suits the program, if its answers are of another kind than was asked for, or if it is asked too much.
func otherwise(err error) error {
	if errors.Is(err, audit.ErrMany) {
		return refusal("%w; give a smaller {n}, {k} or {domain} FILE, or {time-limit} D to ask until D has passed, and end with the best answer so far", err)
	}
	var u *audit.Unlike
	if !errors.As(err, &u) {
		return err
	}
	instead := map[string]string{
		"pmf": "{pmf-exec}", "counts": "{sample-exec}", "values": "{sample-exec} and {outcomes} real or mixed", "labels": "{outcomes} labels", "index": "{outcomes} index",
		"input": "{inputs} FILE {neighbors} remove-row, or what else its neighbors are",
	}[u.Kind]
	if instead == "" {
		return err
	}
	return refusal("%w; give it with "+instead, err)
}

// setting is what a witness's certificate says beside the report.
func (q *Audit) setting(o *audit.Options) witnessed {
	s := witnessed{
		Epsilon: o.Epsilon, Stated: true, Neighbors: inquiry.Model(o.Monotonic), Sensitivity: o.Sensitivity,
		Scale: new(big.Rat).Mul(o.Sensitivity, big.NewRat(2, 1)), Delta: o.Targets[verify.ApproximateDP],
	}
	switch {
	case o.Pairs != nil:
		s.Neighbors = "stated"
	case q.Neighbors == "shifted":
		s.Neighbors = "shifted"
	}
	return s
}
