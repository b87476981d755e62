// Package claims is the ledger: what the sources and the project state about private selection and private stopping,
// and what a computation says of each statement. An entry is a small function that computes its verdict anew each time it runs; nothing is looked
// up. docs/claims.md is generated from the entries.
//
// A verdict holds on the domain that it names. "refuted" comes with a witness, and with the source's own quantifiers in the statement, so that
// a reader can check that the witness contradicts what the source says and not what somebody made of it.
package claims

import (
	"context"
	"fmt"
)

// Verdict is what a computation says of a statement.
type Verdict string

// The verdicts.
const (
	Holds        Verdict = "holds"         // on the whole domain that the finding names
	Refuted      Verdict = "refuted"       // the witness contradicts it
	Undecided    Verdict = "undecided"     // the computation was not conclusive, or was stopped
	NotCheckable Verdict = "not-checkable" // a definition, an opinion, or it needs data that are not available
)

// Source is where a statement stands.
type Source string

// The sources: McKenna & Sheldon 2020 with supplement, Antonova et al., Grining et al. in two versions, and the project's own theorems.
const (
	PF       Source = "pf"
	Het      Source = "het"
	Stopping Source = "stopping"
	Own      Source = "optratio"
)

// Finding is the outcome of an entry's computation.
type Finding struct {
	Verdict Verdict
	Domain  string // what was checked: instances, ranges, arithmetic ("exact", "enclosed", "quadrature"); empty for not-checkable
	Witness string // the numbers that refute the statement, or the extreme values seen where it holds
}

// Entry is a statement and the computation that settles it.
type Entry struct {
	Source    Source
	Version   string // "main", "supplement", "newer", "older", "both"; empty where there is one
	Item      string // as the source numbers it: "Theorem 2", "Figure 2, text"; unique together with source and version
	Statement string // with the source's quantifiers, in our own words
	Note      string // a sentence or two: why it fails and what is true instead, or the short proof; where one version is right, or a typo is likely, it says so
	Check     func(ctx context.Context) (Finding, error)
}

// Result is an entry with its finding, as the command prints it.
type Result struct {
	Source    Source  `json:"source"`
	Version   string  `json:"version,omitempty"`
	Item      string  `json:"item"`
	Statement string  `json:"statement"`
	Verdict   Verdict `json:"verdict"`
	Domain    string  `json:"domain"`
	Witness   string  `json:"witness"`
	Note      string  `json:"note,omitempty"`
}

// entries are the ledger's, in the order of the sources; each file adds its own.
var entries []Entry

// All returns the entries of one source, or of all of them if source is empty, in the order of the ledger.
func All(source Source) []Entry {
	var out []Entry
	for _, s := range Sources() {
		for _, e := range entries {
			if e.Source == s && (source == "" || source == s) {
				out = append(out, e)
			}
		}
	}
	return out
}

// Run computes the entry's verdict. An entry that the context ended is undecided.
func (e Entry) Run(ctx context.Context) (Result, error) {
	f, err := e.Check(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		f, err = Finding{Verdict: Undecided, Domain: cause.Error()}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("%s, %s: %w", e.Source, e.Item, err)
	}
	return e.result(f), nil
}

// result returns the entry with a finding.
func (e Entry) result(f Finding) Result {
	return Result{
		Source: e.Source, Version: e.Version, Item: e.Item, Statement: e.Statement,
		Verdict: f.Verdict, Domain: f.Domain, Witness: f.Witness, Note: e.Note,
	}
}

// inOneReading is the check of a statement that can be read in two ways, one of which a computation refutes: that settles nothing of the other, and why names it.
func inOneReading(why string, check func(context.Context) (Finding, error)) func(context.Context) (Finding, error) {
	return func(ctx context.Context) (Finding, error) {
		f, err := check(ctx)
		if err == nil && f.Verdict == Refuted {
			f.Verdict, f.Witness = NotCheckable, why+"; "+f.Witness
		}
		return f, err
	}
}

// notCheckable is the check of a statement that no computation can settle, with the reason.
func notCheckable(why string) func(context.Context) (Finding, error) {
	return func(context.Context) (Finding, error) { return Finding{Verdict: NotCheckable, Witness: why}, nil }
}
