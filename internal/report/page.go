package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html/template"
	"io"
	"strconv"
	"strings"

	"optratio/internal/escape"
)

// Page is what a page says, in the order in which it says it.
type Page struct {
	Title       string // the question
	Tone        string // good, bad or open
	Word        string // the verdict in a few words
	Sentences   []string
	Sections    []Section
	Certificate *Certificate
	Document    string // JSON, as the job printed it
}

// Section is a part of a page; what is empty is left out.
type Section struct {
	Title    string
	Text     []string
	Figure   *Figure
	Table    *Table
	Items    []string
	Commands []string
	HTML     template.HTML // before all else, as it is
}

// Figure is a picture, whose text alternative is in the SVG itself and whose numbers are a table.
type Figure struct {
	SVG     template.HTML
	Caption string
	Table   *Table
}

// Table is a table of text.
type Table struct {
	Head []string
	Rows [][]string
}

// Certificate is a certificate inside the page.
type Certificate struct {
	Name   string
	Text   string
	SHA256 string
	Bytes  int
	Data   template.URL // empty where it is too large for a page
}

// Context is what a page says beside the answer of the job itself.
type Context struct {
	Command         string   // the command line that gives the same answer; empty where it is not known
	Certificate     []byte   // nil for none
	CertificateName string   // its file
	Curve           *Curve   // nil for none
	Notes           []string // on how the page was made, for its head
}

// largest certificate that is put into a page, in bytes.
const maxCertificate = 5_000_000

var (
	//go:embed page.css
	style string
	//go:embed page.html
	layout string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"css":  func() template.CSS { return template.CSS(style) },
		"line": escape.Line,
		"body": func(p *Page) template.HTML { return template.HTML(p.body()) },
	}).Parse(layout))
)

// Write writes the page.
func (p *Page) Write(w io.Writer) error { return page.Execute(w, p) }

// Typeset escapes a text and sets the powers e^ε and e^-ε in it as such.
func Typeset(text string) template.HTML {
	return template.HTML(strings.NewReplacer("e^-ε", "e<sup>−ε</sup>", "e^ε", "e<sup>ε</sup>").Replace(escape.HTML(text)))
}

// Style is the style sheet of a page.
func Style() string { return style }

// New makes the page of a job's JSON document.
func New(printed []byte, c Context) (*Page, error) {
	kind, err := KindOf(printed)
	if err != nil {
		return nil, err
	}
	p, err := makers[kind](printed, c)
	if err != nil {
		return nil, err
	}
	p.Sentences = append(p.Sentences, c.Notes...)
	if c.Command != "" {
		p.Sections = append(p.Sections, Section{Title: "Do it again", Text: []string{"This command gives the same answer; --json prints the document below."}, Commands: []string{c.Command}})
	}
	if c.Certificate != nil {
		sum := sha256.Sum256(c.Certificate)
		p.Certificate = &Certificate{
			Name: c.CertificateName, SHA256: hex.EncodeToString(sum[:]), Bytes: len(c.Certificate),
			Text: "The certificate holds the numbers that prove the bounds above. The command optratio check " + c.CertificateName + " verifies them with code that shares nothing with the solvers.",
		}
		if len(c.Certificate) <= maxCertificate {
			p.Certificate.Data = template.URL("data:text/plain;base64," + base64.StdEncoding.EncodeToString(c.Certificate))
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bytes.TrimSpace(printed), "", "  "); err != nil {
		return nil, err
	}
	p.Document = pretty.String()
	return p, nil
}

// grouped writes a count with thin spaces between its thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// AddCommands adds a section of command lines that print the same numbers.
func (p *Page) AddCommands(lines ...string) {
	p.Sections = append(p.Sections, Section{Title: "Do it again", Text: []string{"These commands print the same numbers:"}, Commands: lines})
}
