package front

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"

	"optratio/internal/report"
)

var (
	//go:embed views
	layouts embed.FS
	// Script has what the forms do in a browser.
	//
	//go:embed app.js
	Script []byte
	//go:embed app.css
	style string
	//go:embed frame.js
	frameScript string

	templates = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(template.FuncMap{"typeset": report.Typeset}).ParseFS(layouts, "views/*.html"))
	})
)

// Style is the style sheet of the pages.
func Style() string { return report.Style() + style }

// Pages of the static site's documents: where they begin, and what says what the mechanisms are, in which each has an anchor.
const (
	Documents  = "README.html"
	Mechanisms = "docs/explanation/mechanisms.html"
)

// Anchor is where that page speaks of a mechanism.
func Anchor(mechanism string) string { return "mechanism-" + mechanism }

// sheet is what a page shows.
type sheet struct {
	*Site
	*form
	View       string
	Label      string
	When       string
	Root       string       // the address of the site's folder, as the page says it
	Page       *report.Page // of the answer, whose parts these are
	Head, Rest template.HTML
	Main       template.HTML
	Document   Document
}

// To is the address of a view.
func (s *sheet) To(view string) string { return s.Root + s.href(view, "") }

// Posts says whether the form is too long for an address.
func (s *sheet) Posts() bool { return s.When != "typed" }

// WritePage writes the whole page.
func (c *Course) WritePage(w io.Writer) error {
	c.form.err = c.Err
	s := &sheet{Site: c.site, form: c.form, View: c.view.Name, Label: c.view.Label, When: c.view.when, Page: c.page}
	head, rest := c.Parts()
	s.Head, s.Rest = template.HTML(head), template.HTML(rest)
	return s.write(w, File(c.view.Name))
}

// Document is a page of the static site that has a text in place of a form.
type Document struct {
	Title  string
	Root   string // how it refers to the site's folder
	Text   template.HTML
	Groups []Group // the contents of all documents
}

// Group is a part of the contents; Link is one of its documents, with the parts of it where it is the one that is shown.
type (
	Group struct {
		Name  string
		Links []Link
	}
	Link struct {
		To, Text string
		Current  bool
		Parts    []Link
	}
)

// WriteDocument writes the page of a document.
func (s *Site) WriteDocument(w io.Writer, d Document) error {
	return (&sheet{Site: s, Document: d, Root: d.Root, Label: d.Title, View: Documents}).write(w, "document.html")
}

// write lays a page out, around what the template of this name makes.
func (s *sheet) write(w io.Writer, name string) error {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, name, s); err != nil {
		return err
	}
	s.Main = template.HTML(b.String())
	return templates().ExecuteTemplate(w, "layout.html", s)
}

// Hash is how a policy allows the script of the frame, which stands in it, and no other.
func (*sheet) Hash() string {
	sum := sha256.Sum256([]byte(frameScript))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Frame is the document in which page.js has a function in JavaScript run. It inherits the policy of the page, and its own takes the rest away.
func (s *sheet) Frame() string {
	return `<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ` + s.Hash() +
		` 'wasm-unsafe-eval'; worker-src blob:; form-action 'none'; base-uri 'none'"><script>` + frameScript + `</script>`
}
