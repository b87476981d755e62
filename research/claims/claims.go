// Package claims is the ledger: what the sources state about private selection and private stopping, and what a computation says of each
// statement. The statements stand in the folder statements, a file for each source; a check is a small function that computes its verdict anew each time it
// runs; nothing is looked up.
//
// A verdict holds on the domain that it names. "refuted" comes with a witness, and with the source's own quantifiers in the statement, so that
// a reader can check that the witness contradicts what the source says and not what somebody made of it.
package claims

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// The sources: McKenna & Sheldon 2020 with supplement, Antonova et al., Grining et al. in two versions.
const (
	PF       Source = "pf"
	Het      Source = "het"
	Stopping Source = "stopping"
)

// Sources has them in the order of the ledger.
var Sources = []Source{PF, Het, Stopping}

var titles = map[Source]string{
	PF:       "McKenna & Sheldon, *Permute-and-Flip: A new mechanism for differentially private selection* (2020), and its supplement",
	Het:      "Antonova, Laro, McMillan & Wolf, *Private Selection with Heterogeneous Sensitivities*",
	Stopping: "Grining, Klonowski & Sulkowska, *What Do Our Choices Say About Our Preferences?*, in two versions",
}

// Finding is the outcome of an entry's computation.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Domain  string  `json:"domain"`  // what was checked: instances, ranges, arithmetic ("exact", "enclosed", "quadrature"); empty for not-checkable
	Witness string  `json:"witness"` // the numbers that refute the statement, or the extreme values seen where it holds
}

// Result is a statement with its finding.
type Result struct {
	Source    Source `json:"source"`
	Version   string `json:"version,omitempty"` // "main", "supplement", "newer", "older", "both"; empty where there is one
	Item      string `json:"item"`              // as the source numbers it: "Theorem 2", "Figure 2, text"; unique together with source and version
	Statement string `json:"statement"`         // with the source's quantifiers, in our own words
	Finding
	Note string `json:"note,omitempty"` // why it fails and what is true instead, or the short proof; where one version is right, or a typo is likely, it says so
}

// Schema names the form of the JSON document.
func (Result) Schema() string { return "research.claim/1" }

// Entry is a statement, and the computation that settles it.
type Entry struct {
	Result
	check check
}

// checks are the computations by source and heading. Each file of checks registers its own.
var checks = map[Source]map[string]check{PF: {}, Het: {}, Stopping: {}}

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

// All has the entries of all sources, in the order of their statements.
var All = sync.OnceValue(func() (out []Entry) {
	for _, s := range Sources {
		text := must(statements.ReadFile("statements/" + string(s) + ".md"))
		for block := range strings.SplitSeq(strings.TrimPrefix(string(text), "## "), "\n## ") {
			parts := append(strings.SplitN(strings.TrimSpace(block), "\n\n", 3), "")
			item, version, _ := strings.Cut(parts[0], " | ")
			out = append(out, Entry{Result{Source: s, Version: version, Item: item, Statement: parts[1], Note: parts[2]}, checks[s][parts[0]]})
		}
	}
	return out
})

// run computes the entry's verdict. An entry whose check fails, panics or is ended by the context is undecided, with the reason as its domain: one broken check
// does not hide the others.
func (e Entry) run(ctx context.Context) (r Result) {
	r = e.Result
	defer func() {
		if why := recover(); why != nil {
			r.Finding = Finding{Verdict: Undecided, Domain: fmt.Sprintf("the check failed: %v", why)}
			if cause := context.Cause(ctx); cause != nil {
				r.Domain = cause.Error()
			}
		}
	}()
	t := &tally{ctx: ctx}
	e.check(t)
	r.Finding = t.finding()
	return r
}

// Ledger runs entries and keeps the results so far, so that a run that is cut short still has an answer.
type Ledger struct {
	entries []Entry
	mu      sync.Mutex
	results []Result // undecided without a reason while the entry is not done
	done    int
}

// NewLedger returns a ledger of the given entries, none of which has been run.
func NewLedger(entries []Entry) *Ledger {
	l := &Ledger{entries: entries}
	for _, e := range entries {
		e.Verdict = Undecided
		l.results = append(l.results, e.Result)
	}
	return l
}

// Run runs all entries, as many at a time as there are processors, and returns when all are done or ctx has ended. report is called
// after each entry, one call at a time.
func (l *Ledger) Run(ctx context.Context, report func(done, total int, r Result)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.entries) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				r := l.entries[i].run(ctx)
				l.mu.Lock()
				l.results[i], l.done = r, l.done+1
				report(l.done, len(l.entries), r)
				l.mu.Unlock()
			}
		})
	}
	workers.Wait()
}

// Results returns a result for each entry, in their order. Those that are not done are undecided, with why as their domain.
func (l *Ledger) Results(why string) []Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.results)
	for i := range out {
		if out[i].Verdict == Undecided {
			out[i].Domain = cmp.Or(out[i].Domain, why)
		}
	}
	return out
}

// Summary states how many of the results have each verdict, as "12 hold, 1 refuted".
func Summary(results []Result) string {
	count := map[Verdict]int{}
	for _, r := range results {
		count[r.Verdict]++
	}
	var parts []string
	for _, v := range []Verdict{Holds, Refuted, Undecided, NotCheckable} {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], strings.Replace(string(v), "holds", "hold", 1)))
		}
	}
	return strings.Join(parts, ", ")
}

const preamble = `# The sources' claims

What the three papers that optratio builds on state, and what a computation says of each statement.

- *holds*: no exception was found on the domain named after "Checked", in exact or enclosed arithmetic where nothing else is said. Where there is a proof for all cases, the note has it or says where it is.
- *refuted*: the witness contradicts the statement with the quantifiers that the source gives it. The note says what is true instead, and where a slip of the pen is the likely reason.
- *undecided*: the computation was not conclusive.
- *not-checkable*: a definition, an opinion, or data are needed that are not at hand.
`

// WriteMarkdown writes the results as a document, a section for each source that has any.
func WriteMarkdown(w io.Writer, results []Result) error {
	b := strings.Builder{}
	b.WriteString(preamble)
	sentence := func(format, text string) {
		if text != "" {
			fmt.Fprintf(&b, format+"%s", text, map[bool]string{true: "\n", false: ".\n"}[strings.ContainsRune(".?!", rune(text[len(text)-1]))])
		}
	}
	for _, s := range Sources {
		own := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Source != s })
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%d entries: %s.\n\n", titles[s], len(own), Summary(own))
		for _, r := range own {
			item := strings.TrimSuffix(r.Item+" ("+r.Version+")", " ()")
			sentence(fmt.Sprintf("- **%s**, *%s*: ", item, r.Verdict)+"%s", r.Statement)
			sentence("  *Checked:* %s", r.Domain)
			sentence("  *"+cmp.Or(map[Verdict]string{Refuted: "Witness", NotCheckable: "Why"}[r.Verdict], "Seen")+":* %s", r.Witness)
			sentence("  %s", r.Note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
