// Package claims is the ledger: what the sources and the project state about private selection and private stopping,
// and what a computation says of each statement. The statements stand in the folder statements, a file for each source; a check is a small function that computes
// its verdict anew each time it runs; nothing is looked up. research/docs/claims.md is generated from the entries.
//
// A verdict holds on the domain that it names. "refuted" comes with a witness, and with the source's own quantifiers in the statement, so that
// a reader can check that the witness contradicts what the source says and not what somebody made of it.
package claims

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	check     check
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

// Schema names the form of the JSON document.
func (Result) Schema() string { return "research.claim/1" }

// checks are the computations by source and heading. Each file of checks registers its own.
var checks = map[Source]map[string]check{PF: {}, Het: {}, Stopping: {}, Own: {}}

// register adds the checks of the entries with these headings in the statements of a source.
func register(s Source, of map[string]check) {
	for heading, c := range of {
		if checks[s][heading] != nil {
			panic("two checks of " + heading)
		}
		checks[s][heading] = c
	}
}

// statements has a Markdown file for each source. An entry there is a heading, "## item | version" or "## item", a paragraph with the statement, and perhaps one
// with the note.
//
//go:embed statements
var statements embed.FS

// entries are those of all sources, in the order of their statements.
var entries = sync.OnceValue(func() []Entry {
	var out []Entry
	for _, s := range Sources() {
		text := must(statements.ReadFile("statements/" + string(s) + ".md"))
		for block := range strings.SplitSeq(strings.TrimPrefix(string(text), "## "), "\n## ") {
			parts := append(strings.SplitN(strings.TrimSpace(block), "\n\n", 3), "")
			item, version, _ := strings.Cut(parts[0], " | ")
			out = append(out, Entry{Source: s, Version: version, Item: item, Statement: parts[1], Note: parts[2], check: checks[s][parts[0]]})
		}
	}
	return out
})

// All returns the entries of one source, or of all of them if source is empty, in the order of the ledger.
func All(source Source) []Entry {
	return slices.DeleteFunc(slices.Clone(entries()), func(e Entry) bool { return source != "" && e.Source != source })
}

// run computes the entry's verdict. An entry whose check fails, panics or is ended by the context is undecided, with the reason as its domain: one broken check
// does not hide the others.
func (e Entry) run(ctx context.Context) (r Result) {
	defer func() {
		if why := recover(); why != nil {
			f := Finding{Verdict: Undecided, Domain: fmt.Sprintf("the check failed: %v", why)}
			if cause := context.Cause(ctx); cause != nil {
				f.Domain = cause.Error()
			}
			r = e.result(f)
		}
	}()
	return e.result(e.check(&tally{ctx: ctx}))
}

// result returns the entry with a finding.
func (e Entry) result(f Finding) Result {
	return Result{
		Source: e.Source, Version: e.Version, Item: e.Item, Statement: e.Statement,
		Verdict: f.Verdict, Domain: f.Domain, Witness: f.Witness, Note: e.Note,
	}
}

// inOneReading is the check of a statement that can be read in two ways, one of which a computation refutes: that settles nothing of the other, and why names it.
func inOneReading(why string, of check) check {
	return func(t *tally) Finding {
		f := of(t)
		if f.Verdict == Refuted {
			f.Verdict, f.Witness = NotCheckable, why+"; "+f.Witness
		}
		return f
	}
}

// notCheckable is the check of a statement that no computation can settle, with the reason.
func notCheckable(why string) check {
	return func(*tally) Finding { return Finding{Verdict: NotCheckable, Witness: why} }
}
