package front

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"optratio/internal/escape"
	"optratio/internal/report"
)

// Site is what shows the pages: a server, or static files with the engine beside them.
type Site struct {
	Mechanisms []string // that a form may name
	Static     bool     // pages are files, what the forms say is in the fragment of their addresses, and functions in JavaScript can be audited
	// Run does a job. Its error is about limits of the site, not about the job.
	Run func(ctx context.Context, j Job) (Answer, error)
}

// Job is a command line, without --json, and the texts of the files that it names.
type Job struct {
	Args  []string
	Files map[string]string
}

// Answer is what a job ended with, as the command does.
type Answer struct {
	Code     int    // the exit code
	Document []byte // JSON; empty where the job was refused
	Message  string // what went to standard error
}

// ErrInput is wrapped by errors about what was asked.
var ErrInput = errors.New("input")

// refused is what the job said, as an error about its input.
func (a Answer) refused() error {
	return fmt.Errorf("%w: %s", ErrInput, strings.TrimPrefix(a.Message, "optratio: "))
}

// question is what a view makes of the fields of its form.
type question struct {
	shown
	jobs   []Job
	draw   func(documents [][]byte) (*report.Page, error) // nil: the page of the one document
	limits []time.Duration                                // what a short one leaves undecided a longer one narrows; nil: one of standardLimit
	curve  curveFor                                       // how the same for other ε is found, which follows; nil: not
	hidden bool                                           // the command line is not shown: nobody can type it
}

// curveFor finds what an answer's page shows over ε; do runs a command line.
type curveFor func(document []byte, do func(args []string) ([]byte, bool)) *report.Curve

const (
	standardLimit = 20 * time.Second
	curveLimit    = 60 * time.Second
)

// Course answers a question in steps, each answer better than the one before.
type Course struct {
	site    *Site
	q       question
	stage   int
	answers []Answer
	page    *report.Page
	err     error
}

// Begin reads the form of a view. An error in it is that of the course.
func (s *Site) Begin(view string, values url.Values) *Course {
	c := &Course{site: s}
	for _, v := range views {
		if v.name == view && (s.Static || !v.static) {
			f := &form{values: values}
			c.q = v.ask(s, f)
			c.q.View, c.err = v.name, f.err
			c.q.limits = append(c.q.limits, standardLimit)[:max(1, len(c.q.limits))]
			return c
		}
	}
	c.err = fmt.Errorf("%w: there is no view %q", ErrInput, view)
	return c
}

// Err is what went wrong; it wraps ErrInput where the question is at fault.
func (c *Course) Err() error { return c.err }

// Fail makes an error that of the course.
func (c *Course) Fail(err error) { c.err = err }

// Next finds a first or a better answer, and reports whether there may be a better one still.
func (c *Course) Next(ctx context.Context) (more bool) {
	switch {
	case c.err != nil:
		return false
	case c.stage >= len(c.q.limits):
		c.drawCurve(ctx)
		return false
	}
	limit := c.q.limits[c.stage]
	c.stage++
	decided := true
	var answers []Answer
	for _, j := range c.q.jobs {
		a, err := c.site.Run(ctx, j.limited(limit))
		if err == nil && (a.Code == 2 || len(a.Document) == 0) {
			err = a.refused()
		}
		if err != nil {
			c.err = err
			return false
		}
		decided = decided && a.Code != 3
		answers = append(answers, a)
	}
	c.answers = answers
	if c.page, c.err = c.drawn(nil); c.err != nil {
		return false
	}
	if decided {
		c.stage = len(c.q.limits)
	}
	return c.stage < len(c.q.limits) || c.q.curve != nil
}

// Whole finds the first answer and everything that belongs to it.
func (c *Course) Whole(ctx context.Context) {
	if c.Next(ctx); c.err == nil && c.q.curve != nil {
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
	p, err := c.drawn(func(args []string) ([]byte, bool) {
		a, err := c.site.Run(ctx, Job{Args: args})
		return a.Document, err == nil && a.Code == 0
	})
	if err == nil && ctx.Err() == nil {
		c.page = p
	}
}

// drawn draws the page of the answers, with the curve over ε where do, which runs a command line, is not nil.
func (c *Course) drawn(do func(args []string) ([]byte, bool)) (p *report.Page, err error) {
	var lines []string
	var documents [][]byte
	for i, a := range c.answers {
		words := []string{"optratio"}
		for _, w := range c.q.jobs[i].Args {
			words = append(words, escape.Shell(w))
		}
		documents, lines = append(documents, a.Document), append(lines, strings.Join(words, " "))
	}
	if c.q.draw != nil {
		if p, err = c.q.draw(documents); err == nil && len(lines) > 0 {
			p.AddCommands(lines...)
		}
		return p, err
	}
	at := report.Context{Command: lines[0]}
	if c.q.hidden {
		at.Command = ""
	}
	if do != nil {
		at.Curve = c.q.curve(documents[0], do)
	}
	return report.New(documents[0], at)
}

// limited is the job with a limit of time.
func (j Job) limited(d time.Duration) Job {
	j.Args = append(slices.Clone(j.Args), "--time-limit", d.String())
	return j
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
	case c.err != nil:
		_, err := fmt.Fprintf(w, "<p class=\"verdict bad\" role=\"alert\">%s</p>\n", report.Typeset(c.err.Error()))
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
