package claims

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Ledger runs entries and keeps the results so far, so that a run that is cut short still has an answer.
type Ledger struct {
	entries []Entry
	mu      sync.Mutex
	results []*Result // nil while the entry is not done
	done    int
}

// NewLedger returns a ledger of the given entries, none of which has been run.
func NewLedger(entries []Entry) *Ledger {
	return &Ledger{entries: entries, results: make([]*Result, len(entries))}
}

// Run runs all entries, as many at a time as there are processors, and returns when all are done or ctx has ended. report, if not nil, is called
// after each entry, one call at a time.
func (l *Ledger) Run(ctx context.Context, report func(done, total int, r Result)) {
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range l.entries {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				r := l.entries[i].run(ctx)
				l.mu.Lock()
				l.results[i] = &r
				l.done++
				if report != nil {
					report(l.done, len(l.entries), r)
				}
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
	out := make([]Result, len(l.entries))
	for i, e := range l.entries {
		if l.results[i] != nil {
			out[i] = *l.results[i]
		} else {
			out[i] = e.result(Finding{Verdict: Undecided, Domain: why})
		}
	}
	return out
}

// Count is how many of the results have each verdict.
func Count(results []Result) map[Verdict]int {
	count := map[Verdict]int{}
	for _, r := range results {
		count[r.Verdict]++
	}
	return count
}

// verdicts are all of them, in the order in which they are counted.
var verdicts = []Verdict{Holds, Refuted, Undecided, NotCheckable}

// Summary states how many of the results have each verdict, as "12 hold, 1 refuted".
func Summary(results []Result) string {
	count := Count(results)
	var parts []string
	for _, v := range verdicts {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], strings.Replace(string(v), "holds", "hold", 1)))
		}
	}
	return strings.Join(parts, ", ")
}

// titles are the headings of the sources, in the order of the ledger.
var titles = []struct {
	source Source
	title  string
}{
	{PF, "McKenna & Sheldon, *Permute-and-Flip: A new mechanism for differentially private selection* (2020), and its supplement"},
	{Het, "Antonova, Laro, McMillan & Wolf, *Private Selection with Heterogeneous Sensitivities*"},
	{Stopping, "Grining, Klonowski & Sulkowska, *What Do Our Choices Say About Our Preferences?*, in two versions"},
	{Own, "The project's own theorems"},
}

// Sources returns the sources in the order of the ledger.
func Sources() []Source {
	var out []Source
	for _, t := range titles {
		out = append(out, t.source)
	}
	return out
}

// begin and end mark a source's section in research/docs/claims.md.
func begin(s Source) string { return fmt.Sprintf("<!-- ledger: %s -->\n", s) }

const end = "<!-- end -->\n"

// Markdown returns the sections of research/docs/claims.md that list the results, one section for each source that has any.
func Markdown(results []Result) string {
	var b strings.Builder
	for _, t := range titles {
		var own []Result
		for _, r := range results {
			if r.Source == t.source {
				own = append(own, r)
			}
		}
		if len(own) > 0 {
			b.WriteString(begin(t.source) + section(t.title, own) + end)
		}
	}
	return b.String()
}

// section returns one source's heading, its counts and a paragraph for each result.
func section(title string, results []Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%d entries: %s.\n\n", title, len(results), Summary(results))
	above := ""
	for _, r := range results {
		item, domain := r.Item, r.Domain
		if domain != "" && domain == above {
			domain = "as above"
		}
		above = r.Domain
		if r.Version != "" {
			item += " (" + r.Version + ")"
		}
		b.WriteString(wrapped(fmt.Sprintf("- **%s**, *%s*: %s", item, r.Verdict, sentence(r.Statement))))
		for _, part := range []struct{ label, text string }{{"Checked", domain}, {choice(r.Verdict), r.Witness}, {"", r.Note}} {
			switch {
			case part.text == "":
			case part.label == "":
				b.WriteString("\n" + wrapped("  "+sentence(part.text)))
			default:
				b.WriteString("\n" + wrapped("  *"+part.label+":* "+sentence(part.text)))
			}
		}
		b.WriteString("\n")
	}
	return b.String() + "\n"
}

// lineLength is that of documents.
const lineLength = 118

// wrapped breaks a text into lines that begin with two spaces, but for the first. No line begins with what Markdown reads as a list or a quotation.
func wrapped(text string) string {
	lines := []string{}
	line := ""
	words := strings.Split(text, " ")
	for i, word := range words {
		next := line + " " + word
		switch {
		case i == 0:
			line = word
		case utf8.RuneCountInString(next) <= lineLength || startsBlock(word):
			line = next
		default:
			lines, line = append(lines, line), "  "+word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// startsBlock reports whether a line that begins with the word would be no part of the paragraph.
func startsBlock(word string) bool {
	number := strings.TrimRight(word, "0123456789.") == "" && strings.HasSuffix(word, ".")
	return number || word == "+" || word == "-" || word == "*" || strings.HasPrefix(word, ">") || strings.HasPrefix(word, "=") || strings.HasPrefix(word, "#") || strings.HasPrefix(word, "|")
}

// choice names what a finding's witness is.
func choice(v Verdict) string {
	switch v {
	case Refuted:
		return "Witness"
	case NotCheckable:
		return "Why"
	}
	return "Seen"
}

// sentence returns the text with a full stop where it ends without a mark.
func sentence(text string) string {
	if text == "" || strings.ContainsRune(".?!", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// Select returns the entries whose item contains the text, whatever its case.
func Select(entries []Entry, item string) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return !strings.Contains(strings.ToLower(e.Item), strings.ToLower(item))
	})
}
