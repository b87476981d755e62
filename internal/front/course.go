package front

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"time"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/report"
	"optratio/number"
)

// Site is what shows the pages: a server, or static files with the engine beside them.
type Site struct {
	Static bool // pages are files, what the forms say is in the fragment of their addresses, and functions in JavaScript can be audited
	// Run does a job.
	Run func(ctx context.Context, j Job) (*job.Answer, error)
}

// Job is a question, the texts of the files that it names, and how long it may take.
type Job struct {
	Question job.Question
	Files    map[string]string
	Limit    time.Duration
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
		MaxMemory: memory,
	}, j.Question)
}

// question is what a view makes of the fields of its form.
type question struct {
	shown
	jobs   []Job
	draw   func([]document.Document) *report.Page            // nil: the page of the one document
	limits []time.Duration                                   // what a short one leaves undecided a longer one narrows; nil: one of standardLimit
	curve  func(document.Document, report.Ask) *report.Curve // how the same for other ε is found, which follows; nil: not
	curves time.Duration                                     // how long each of its questions may take
	hidden bool                                              // the command line is not shown: nobody can type it
}

const (
	standardLimit = 20 * time.Second
	curveLimit    = 60 * time.Second
)

// Course answers a question in steps, each answer better than the one before.
type Course struct {
	site    *Site
	q       question
	stage   int
	answers []document.Document
	page    *report.Page
	Err     error // what went wrong: a number.InputError where the question is at fault
}

// Begin reads the form of a view. An error in it is that of the course.
func (s *Site) Begin(view string, values url.Values) *Course {
	c := &Course{site: s}
	for _, v := range views {
		if v.name == view && (s.Static || !v.static) {
			f := &form{values: values}
			c.q = v.ask(s, f)
			c.q.View, c.Err = v.name, f.err
			c.q.limits = append(c.q.limits, standardLimit)[:max(1, len(c.q.limits))]
			return c
		}
	}
	c.Err = number.InputError(fmt.Sprintf("there is no view %q", view))
	return c
}

// Next finds a first or a better answer, and reports whether there may be a better one still.
func (c *Course) Next(ctx context.Context) (more bool) {
	switch {
	case c.Err != nil:
		return false
	case c.stage >= len(c.q.limits):
		c.drawCurve(ctx)
		return false
	}
	limit := c.q.limits[c.stage]
	c.stage++
	decided := true
	var answers []document.Document
	for _, j := range c.q.jobs {
		j.Limit = limit
		a, err := c.site.Run(ctx, j)
		if err != nil {
			c.Err = err
			return false
		}
		decided = decided && a.Undecided == ""
		answers = append(answers, a.Documents...)
	}
	c.answers = answers
	c.page = c.drawn(nil)
	if decided {
		c.stage = len(c.q.limits)
	}
	return c.stage < len(c.q.limits) || c.q.curve != nil
}

// Whole finds the first answer and everything that belongs to it.
func (c *Course) Whole(ctx context.Context) {
	if c.Next(ctx); c.Err == nil && c.q.curve != nil {
		c.drawCurve(ctx)
	}
}

// Working says what the next step is.
func (c *Course) Working() string {
	if c.stage < len(c.q.limits) {
		return "working, for up to " + c.q.limits[c.stage].String()
	}
	return "the same for other ε"
}

// Limit is how long the steps that are left may take together, by the limits of their jobs.
func (c *Course) Limit() (sum time.Duration) {
	if c.stage >= len(c.q.limits) {
		return curveLimit
	}
	for _, limit := range c.q.limits[c.stage:] {
		sum += limit
	}
	return sum * time.Duration(max(1, len(c.q.jobs)))
}

func (c *Course) drawCurve(ctx context.Context) {
	p := c.drawn(func(q job.Question) []document.Document {
		a, err := c.site.Run(ctx, Job{Question: q, Limit: c.q.curves})
		if err != nil || a.Violated != "" || a.Undecided != "" {
			return nil
		}
		return a.Documents
	})
	if ctx.Err() == nil {
		c.page = p
	}
}

// drawn draws the page of the answers, with the curve over ε where ask is not nil.
func (c *Course) drawn(ask report.Ask) *report.Page {
	var lines []string
	for _, j := range c.q.jobs {
		lines = append(lines, job.CommandText(j.Question))
	}
	if c.q.draw != nil {
		p := c.q.draw(c.answers)
		if len(lines) > 0 {
			p.AddCommands(lines...)
		}
		return p
	}
	at := report.Context{Command: lines[0]}
	if c.q.hidden {
		at.Command = ""
	}
	if ask != nil {
		at.Curve = c.q.curve(c.answers[0], ask)
	}
	return report.New(c.answers[0], at)
}

var (
	//go:embed view.html
	layout string
	// Script has what the forms do in a browser.
	//
	//go:embed app.js
	Script []byte
	//go:embed app.css
	style string

	view = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("view").Funcs(template.FuncMap{"typeset": report.Typeset, "hash": frameHash}).Parse(layout))
	})
)

// Style is the style sheet of the pages.
func Style() string { return report.Style() + style }

// WriteAnswer writes the answer so far, or what went wrong, as a part of a page. It executes no template: see report.Page.WriteBody.
func (c *Course) WriteAnswer(w io.Writer) error {
	switch {
	case c.Err != nil:
		_, err := fmt.Fprintf(w, "<p class=\"verdict bad\" role=\"alert\">%s</p>\n", report.Typeset(c.Err.Error()))
		return err
	case c.page == nil:
		return nil
	}
	return c.page.WriteBody(w)
}

// WritePage writes the whole page.
func (c *Course) WritePage(w io.Writer) error {
	v := c.q.shown
	var b strings.Builder
	if err := c.WriteAnswer(&b); err != nil {
		return err
	}
	v.Answer = template.HTML(b.String())
	v.Path = c.site.href(c.q.View, "")
	return c.site.write(w, v)
}

// WriteDocument writes a page of the static site that has a text in place of a form; root is how it refers to the site's folder.
func (s *Site) WriteDocument(w io.Writer, title, root string, text template.HTML) error {
	return s.write(w, shown{Title: title, Root: root, Document: text, View: Documents})
}

// Documents is where the documents of the static site begin, from its folder.
const Documents = "README.html"

func (s *Site) write(w io.Writer, v shown) error {
	v.Static = s.Static
	for _, k := range views {
		if s.Static || !k.static {
			v.Views = append(v.Views, viewLink{v.Root + s.href(k.name, ""), k.label, k.name == v.View})
		}
	}
	if s.Static {
		v.Views = append(v.Views, viewLink{v.Root + Documents, "Documents", v.View == Documents})
	} else {
		v.Root = "/"
	}
	return view().Execute(w, v)
}

// Views are the names of all views, in the order of their links.
func (s *Site) Views() (names []string) {
	for _, v := range views {
		if s.Static || !v.static {
			names = append(names, v.name)
		}
	}
	return names
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

// File is the file of a view in the static site.
func File(view string) string {
	if view == "" {
		view = "index"
	}
	return view + ".html"
}

// Posts says whether the form of a view is too long for an address.
func (s *Site) Posts(view string) bool { return s.Begin(view, nil).q.Post }
