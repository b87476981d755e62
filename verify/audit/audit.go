// Package audit examines mechanisms that it cannot see into: programs in any
// language that answer with probabilities or with samples, and tables of probabilities. Mechanism and Draws
// examine mechanisms of the same process in the same way. Serve and ServeSamples make a program that can be audited of a Go function.
//
// A program is a command line for sh -c. It is sent one JSON object a line and answers one
// line each:
//
//	{"scores":[0,-1,-2.5],"epsilon":1,"sensitivity":1,"monotonic":false}                  {"pmf":[0.6,"3/10",0.1]}
//	{"scores":[0,-1,-2.5],"epsilon":1,"sensitivity":1,"monotonic":false,"samples":100}    {"counts":[61,29,10]}
//
// Programs are not trusted to behave: whatever is not an answer (a crash, silence, NaN, a wrong
// length) is the output event "error", which counts as an output like any other and is
// a finding. What a program starts ends with it, unless it leaves its process group. After Supervise nothing is left of it on Linux, whatever it does and
// however the audit ends.
//
// Probabilities are checked by package verify, a JSON number standing for every real
// number near it. Samples permit statistical verdicts alone: a lower bound on ε at a
// stated confidence, and a test of fit. Samples cannot prove privacy: a sampler that keeps its ε ends undecided.
package audit

import (
	"cmp"
	"context"
	"io"
	"math/big"
	"math/rand/v2"
	"time"

	engine "optratio/internal/audit"
	"optratio/internal/supervise"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Supervise is to be called first in the main of a program whose audits shall leave nothing behind, not even after SIGKILL or of programs that leave their
// process group: these run below a supervisor from then on, which is this executable again, under another name.
func Supervise() { supervise.Enable() }

// Options say what is asked of a mechanism, program or table, and what counts. Epsilon is required; other fields that are zero have
// the defaults that stand beside them.
type Options struct {
	N, K        int    // candidates, and depth of the lattice; 3 and 2
	Domain      string // "lattice" (the default), "half-lattice" or "random"; ignored where Vectors are given
	Vectors     [][]*big.Rat
	Monotonic   bool            // neighbors: all scores rise, or all fall, by at most Sensitivity each; otherwise each moves up or down
	Pairs       [][2][]*big.Rat // neighbors, instead of those of the model
	Epsilon     number.Epsilon
	Sensitivity *big.Rat // 1
	Seed        uint64
	Properties  []verify.Property            // nil: of probabilities as in verify.Options, of samples dp
	Targets     map[verify.Property]*big.Rat // see verify.Options
	Against     mechanisms.Mechanism         // compare the answers with its probabilities, as the property Against; may be nil

	Precision    *big.Rat // relative, of JSON numbers; 1e-9
	Budget       int64    // samples in all; 1000000
	Confidence   *big.Rat // of the lower bound on ε, and of the test of fit; 0.95
	Outcomes     string   // of a program or a table: "index" (the default) or "labels"; of samples also "real" or "mixed"
	UntilRefuted bool     // ends an audit of samples once the claim is refuted; otherwise the whole budget goes into the bound
}

// inside returns the options as the engine takes them.
func (o Options) inside() engine.Options {
	return engine.Options{
		N: o.N, K: o.K, Domain: o.Domain, Vectors: o.Vectors, Monotonic: o.Monotonic, Pairs: o.Pairs, Epsilon: o.Epsilon, Sensitivity: o.Sensitivity,
		Seed: o.Seed, Properties: o.Properties, Targets: o.Targets, Against: o.Against,
		Precision: o.Precision, Budget: o.Budget, Confidence: o.Confidence, Outcomes: o.Outcomes, UntilRefuted: o.UntilRefuted,
	}
}

// Against is a property that only audits have, as "answers", that every question was answered, the same way when it was asked again, and "independence" of samples are: the
// probabilities are those of a named mechanism.
const Against = engine.Against

// Report is the outcome of an audit. Its JSON is the document that the command writes.
type Report struct {
	verify.Report
	TightEps   number.Number // of stated probabilities, over all that was looked at
	LowerBound number.Number // on ε, of samples, at the confidence
	DeltaBound number.Number // on δ at the claimed ε, likewise
	Confidence *big.Rat      // of statistical verdicts; nil where there are none
	Samples    int64
	Findings   []string        // what a program did which it should not, whatever its probabilities
	Witness    *verify.Witness // the one that says most: of dp, else of the first property that is violated

	whole *engine.Report
}

// String returns what was audited, the verdicts, and the findings.
func (r *Report) String() string { return r.whole.String() }

// MarshalJSON writes the document of the report.
func (r *Report) MarshalJSON() ([]byte, error) { return r.whole.MarshalJSON() }

// reported returns what others see of a report.
func reported(r *engine.Report, err error) (*Report, error) {
	if err != nil {
		return nil, err
	}
	out := &Report{r.Report, r.TightEps, r.LowerBound, r.DeltaBound, r.Confidence, r.Samples, nil, r.Witness, r}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, f.String())
	}
	return out, nil
}

// Program is a program under audit, in any language.
type Program struct {
	Command  string        // a command line for sh -c
	Timeout  time.Duration // for one answer; 10 s
	Children int           // that draw samples at the same time; 1
}

// PMF audits a program that states its probabilities, on the domain and on a side set of other score vectors and numbers of
// candidates.
func (p Program) PMF(ctx context.Context, o Options) (*Report, error) {
	return reported(engine.Program(p).PMF(ctx, o.inside()))
}

// Samples audits a program that draws samples.
func (p Program) Samples(ctx context.Context, o Options) (*Report, error) {
	return reported(engine.Program(p).Samples(ctx, o.inside()))
}

// Table audits a table of probabilities, one JSON object a line as programs answer them, with what they are about:
// {"scores":[0,-1],"pmf":["2/3",0.333333333333]}. Blank lines are skipped. Its domain are the rows' vectors,
// and every pair of rows that a property relates is compared: neighbors are the pairs of the options, or without any the pairs of rows whose
// scores differ by at most the sensitivity each (Monotonic: all in one direction).
func Table(ctx context.Context, name string, text io.Reader, o Options) (*Report, error) {
	t, err := engine.ReadTable(text, name, o.Outcomes, cmp.Or(o.Precision, big.NewRat(1, 1e9)))
	if err != nil {
		return nil, err
	}
	return reported(t.Audit(ctx, false, o.inside()))
}

// Mechanism audits a mechanism of this process as Program.PMF does a program: on the domain, whose neighbors may leave it, and on a side
// set of other score vectors and numbers of candidates. Rational probabilities are taken as they are, those of
// mechanisms.Precision to theirs, and others to a relative precision of 1e-15; Options.Precision is ignored. An error that
// it returns, or a panic, is a finding. Package verify decides without any such precision, on lattices and their like.
func Mechanism(ctx context.Context, m mechanisms.Mechanism, o Options) (*Report, error) {
	return reported(engine.Mechanism(ctx, m, o.inside()))
}

// Draws audits mechanisms.Draws of a mechanism of this process as Program.Samples does a program.
func Draws(ctx context.Context, m mechanisms.Mechanism, src rand.Source, o Options) (*Report, error) {
	return reported(engine.Draws(ctx, m, src, o.inside()))
}
