package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
)

// printable writes text to w with everything escaped that a terminal may take for a command. All that a command writes to its standard streams goes
// through one, whatever names, labels and messages of other programs it holds.
type printable struct{ w io.Writer }

func (p printable) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.w, escape.Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Say writes one line, whatever line ends the values hold.
func Say(w io.Writer, format string, values ...any) {
	fmt.Fprintln(w, escape.Line(fmt.Sprintf(format, values...)))
}

// terminal returns the terminal that w writes to, nil where that is none.
func terminal(w io.Writer) *os.File {
	if p, ok := w.(printable); ok {
		w = p.w
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// output is the standard output of a command. It counts what was written and remembers that an error occurred.
type output struct {
	w       io.Writer
	err     atomic.Pointer[error]
	written atomic.Int64
}

func (o *output) Write(p []byte) (int, error) {
	n, err := printable{pieces{o}}.Write(p)
	if err != nil {
		o.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// pieces writes a long text in pieces that count one by one, so that a signal's last wait sees that somebody reads them.
type pieces struct{ *output }

func (o pieces) Write(p []byte) (n int, err error) {
	for piece := range slices.Chunk(p, 1<<14) {
		m, err := o.w.Write(piece)
		n += m
		o.written.Add(int64(m))
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// writeJSON writes the one JSON text of a --json run.
func writeJSON(w io.Writer, compact []byte) {
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		panic(err)
	}
	b.WriteByte('\n')
	_, _ = io.WriteString(w, escape.JSON(b.String()))
}

// Show prints an answer: as the one JSON document, or as print does for people. Where the output cannot be written, run says so: it asks
// the output, which remembers its errors.
func (j *Job) Show(doc document.Document, print func(io.Writer)) {
	if j.JSON {
		writeJSON(j.Out, document.Encode(doc))
	} else {
		print(j.Short(j.Out))
	}
}

// Short returns a writer of text for people, whose numbers have the digits that are wanted.
func (j *Job) Short(w io.Writer) io.Writer {
	return decimal.Short{To: w, Digits: cmp.Or(j.digits, usualDigits)}
}

// ShowAll prints several answers of one command, with --json as an array of documents.
func ShowAll[D document.Document](j *Job, docs []D, print func(io.Writer)) {
	if !j.JSON {
		print(j.Short(j.Out))
		return
	}
	all := make([][]byte, len(docs))
	for i, doc := range docs {
		all[i] = document.Encode(doc)
	}
	writeJSON(j.Out, slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]")))
}

// undecidedDoc is the document of a command to which a limit left no time for more.
type undecidedDoc struct {
	Undecided string `json:"undecided"`
}

func (undecidedDoc) Schema() string { return "optratio.undecided/1" }

// bar is a progress bar where the errors of a command go to a terminal, nil elsewhere.
func bar(s Streams, what string, options ...progressbar.Option) *progressbar.ProgressBar {
	f := terminal(s.Err)
	if f == nil {
		return nil
	}
	return progressbar.NewOptions(-1, append(options, progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())...)
}

// Counter returns a function that shows on a terminal how many of all steps are done; elsewhere it shows nothing. After done nothing is shown.
func Counter(s Streams, what string) (report func(done, total int), done func()) {
	bar := bar(s, what, progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
	if bar == nil {
		return func(int, int) {}, func() {}
	}
	return func(done, total int) {
		if bar.GetMax() != total {
			bar.ChangeMax(total)
		}
		_ = bar.Set(done)
	}, func() { _ = bar.Finish() }
}

// Progress returns a function that shows how far a computation is, on a terminal; elsewhere it shows nothing. After done nothing is
// shown any more, even if the computation goes on.
func Progress(s Streams, what string) (report func(format string, args ...any), done func()) {
	bar := bar(s, what, progressbar.OptionSpinnerType(14))
	if bar == nil {
		return func(string, ...any) {}, func() {}
	}
	var over atomic.Bool
	return func(format string, args ...any) {
		if !over.Load() {
			bar.Describe(what + ": " + fmt.Sprintf(format, args...))
			_ = bar.Add(1)
		}
	}, func() { over.Store(true); _ = bar.Finish() }
}
