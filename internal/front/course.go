package front

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/report"
	"optratio/mechanisms"
	"optratio/number"
)

// Site is what shows the pages: a server, or static files with the engine beside them.
type Site struct {
	Static          bool // pages are files, what the forms say is in the fragment of their addresses, and functions in JavaScript can be audited
	Version, Source string
	// Run does a job.
	Run func(ctx context.Context, j Job) (*job.Answer, error)
}

// Job is a question, the texts of the files that it names, whether its proof is wanted, and how long it may take.
type Job struct {
	Question    job.Question
	Files       map[string]string
	Certificate bool
	Limit       time.Duration
}

// Do answers the question, with so many bytes of memory; report is told how far it is.
func (j Job) Do(ctx context.Context, memory int64, report func(format string, args ...any)) (*job.Answer, error) {
	return job.Ask(ctx, &job.Host{
		Open: func(_ context.Context, name string) (io.ReadCloser, error) {
			text, ok := j.Files[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return io.NopCloser(strings.NewReader(text)), nil
		},
		Begin:     func(string, number.Epsilon) (func(string, ...any), error) { return report, nil },
		Note:      func(string) {},
		MaxMemory: memory, Certificate: j.Certificate,
	}, j.Question)
}

const (
	standardLimit = 20 * time.Second
	curveLimit    = 60 * time.Second
)

// Course answers a question in steps, each answer better than the one before.
type Course struct {
	site  *Site
	view  View
	form  *form
	asked job.Question
	stage int
	found *job.Answer
	page  *report.Page
	Err   error // what went wrong: a number.InputError where the question is at fault
}

// Begin reads the form of a view. An error in it is that of the course.
func (s *Site) Begin(name string, values url.Values) *Course {
	c := &Course{site: s, form: &form{values: values, says: map[string]string{}, files: map[string]string{}}}
	shown := s.Views()
	at := slices.IndexFunc(shown, func(v View) bool { return v.Name == name })
	if at < 0 {
		c.Err = number.InputError(fmt.Sprintf("there is no view %q", name))
		return c
	}
	c.view = shown[at]
	c.asked = c.view.asked(c.form)
	if c.view.limits == nil {
		c.view.limits = []time.Duration{standardLimit}
	}
	c.Err = c.form.err
	return c
}

// Next finds a first or a better answer, and reports whether there may be a better one still.
func (c *Course) Next(ctx context.Context) (more bool) {
	switch {
	case c.Err != nil:
		return false
	case c.stage >= len(c.view.limits):
		c.drawCurve(ctx)
		return false
	}
	limit := c.view.limits[c.stage]
	c.stage++
	found, err := c.site.Run(ctx, Job{c.asked, c.form.files, c.form.values.Get("certificate") != "", limit})
	if err != nil {
		if c.page == nil { // an answer stands
			c.Err = err
		}
		return false
	}
	c.found = found
	if c.page = c.drawn(ctx, nil); found.Undecided == "" {
		c.stage = len(c.view.limits)
	}
	return c.Err == nil && (c.stage < len(c.view.limits) || c.view.curves > 0)
}

// Whole finds the first answer and everything that belongs to it.
func (c *Course) Whole(ctx context.Context) {
	if c.Next(ctx); c.Err == nil && c.view.curves > 0 {
		c.drawCurve(ctx)
	}
}

// Event is what happens, as app.js is told it.
type Event struct {
	Kind   string `json:"kind"` // working or answer
	Head   string `json:"head"`
	Text   string `json:"text"`
	Value  int64  `json:"value"`  // of work: milliseconds that it may take, 0 where that was said
	More   bool   `json:"more"`   // a better answer may follow
	Failed bool   `json:"failed"` // it is an error
}

// Step tells what is done next and what is known then, and reports whether there may be a better answer still.
func (c *Course) Step(ctx context.Context, tell func(Event)) (more bool) {
	working := "the same for other ε"
	if c.stage < len(c.view.limits) {
		working = "working, for up to " + c.view.limits[c.stage].String()
	}
	tell(Event{Kind: "working", Text: working, Value: c.Limit().Milliseconds()})
	more = c.Next(ctx)
	head, text := c.Parts()
	tell(Event{Kind: "answer", Head: head, Text: text, More: more, Failed: c.Err != nil})
	return more
}

// Limit is how long the steps that are left may take together, by the limits of their jobs.
func (c *Course) Limit() (sum time.Duration) {
	if c.stage >= len(c.view.limits) {
		return curveLimit
	}
	for _, limit := range c.view.limits[c.stage:] {
		sum += limit
	}
	return sum
}

func (c *Course) drawCurve(ctx context.Context) {
	p := c.drawn(ctx, func(q job.Question) []document.Document {
		a, err := c.site.Run(ctx, Job{Question: q, Limit: c.view.curves})
		if err != nil || a.Violated != "" || a.Undecided != "" {
			return nil
		}
		return a.Documents
	})
	if ctx.Err() == nil {
		c.page = p
	}
}

// drawn draws the page of the answer, with the curve over ε where ask is not nil.
func (c *Course) drawn(ctx context.Context, ask report.Ask) *report.Page {
	at := report.Context{Question: c.asked, Command: job.CommandText(c.asked), CertificateName: cmp.Or(c.view.Name, "answer") + ".cert"}
	if c.view.hidden {
		at.Command = ""
	}
	if c.site.Static {
		at.Paragraph = func(name string) string {
			return job.Choose(slices.Contains(mechanisms.Names(), name), Mechanisms+"#"+Anchor(name), "")
		}
	}
	if ask != nil {
		at.Curve = report.CurveFor(c.found.Documents[0], c.asked, ask)
	}
	if wanted := c.form.values.Get("certificate") != ""; wanted && c.found.Certificate != nil {
		at.Certificate = c.certificate(ctx, at.CertificateName)
	}
	return report.New(c.found, at)
}

// certificate is the proof of the answer, which the checker has accepted.
func (c *Course) certificate(ctx context.Context, name string) []byte {
	var b bytes.Buffer
	if c.Err = c.found.Certificate(&b); c.Err != nil {
		return nil
	}
	q := job.New[job.Check]()
	q.File = name
	checked, err := c.site.Run(ctx, Job{Question: q, Files: map[string]string{name: b.String()}, Limit: standardLimit})
	if err == nil && checked.Violated+checked.Undecided != "" {
		err = errors.New("the certificate was not accepted by the checker: " + checked.Violated + checked.Undecided)
	}
	c.Err = err
	return b.Bytes()
}

// Parts are the answer so far, or what went wrong, as parts of a page: what is asked and found, and the rest. They execute no template: see report.Page.Parts.
func (c *Course) Parts() (head, rest string) {
	switch {
	case c.Err != nil:
		return fmt.Sprintf("<header class=\"answer\">\n<h2>No answer</h2>\n<p class=\"verdict bad\" role=\"alert\" data-field=\"%s\">%s</p>\n</header>\n", fieldOf(c.Err), report.Typeset(c.Err.Error())), ""
	case c.page == nil:
		return "", ""
	}
	return c.page.Parts(2)
}

// File is the file of a view in the static site.
func File(view string) string { return cmp.Or(view, "index") + ".html" }

// Views are the pages, in the order of their links. A server audits tables alone.
func (s *Site) Views() (shown []View) {
	for _, v := range views {
		if v.Name == "audit" && !s.Static {
			v.Label, v.More = "Audit", false
		}
		if s.Static || !v.static {
			shown = append(shown, v)
		}
	}
	return shown
}

// href is the address of a view, with what its form says.
func (s *Site) href(view, query string) string {
	path, mark := "/"+view, "?"
	if s.Static {
		path, mark = File(view), "#"
	}
	if query == "" {
		return path
	}
	return path + mark + query
}
