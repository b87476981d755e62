package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/recommend"
	"optratio/verify"
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
	paragraph   func(mechanism string) string
}

// Section is a part of a page; what is empty is left out.
type Section struct {
	Title    string
	Text     []string
	Figure   *Figure
	Table    *Table
	Items    []string
	Commands []string
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
	Command         string // the command line that gives the same answer; empty where it is not known
	Certificate     []byte // nil for none
	CertificateName string // its file
	Curve           *Curve // nil for none
	// Paragraph is the address of what is said of a mechanism, "" where nothing is; nil for no such links.
	Paragraph func(mechanism string) string
}

// largest certificate that is put into a page, in bytes.
const maxCertificate = 5_000_000

var (
	//go:embed page.css
	style string
	//go:embed page.html
	layout string
)

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	head, rest := p.Parts(1)
	_, err := fmt.Fprintf(w, layout, escape.HTML(p.Word), escape.HTML(p.Title), style, head+rest)
	return err
}

// Typeset escapes a text and sets the powers e^ε and e^-ε in it as such.
func Typeset(text string) template.HTML {
	return template.HTML(strings.NewReplacer("e^-ε", "e<sup>−ε</sup>", "e^ε", "e<sup>ε</sup>").Replace(escape.HTML(text)))
}

// Style is the style sheet of a page.
func Style() string { return style }

// New makes the page of a job's document.
func New(d document.Document, c Context) *Page {
	var p *Page
	switch d := d.(type) {
	case *document.Ratio:
		p = ofRatio((*ratio)(d), c)
	case *document.Rho:
		p = ofConcentrated(d)
	case *verify.Report:
		p = ofVerdicts(&audit.Report{Report: *d}, c)
	case *audit.Report:
		p = ofVerdicts(d, c)
	case *document.Stopping:
		p = ofStopping((*rules)(d))
	case *document.Heterogeneous:
		p = ofHeterogeneous(d)
	case *document.Evaluate:
		p = ofEvaluate(d)
	case *recommend.Recommendation:
		p = ofRecommend(d, c)
	case *document.Optimum:
		p = ofOptimum(d)
	case *document.Check:
		p = ofCheck(d)
	default:
		panic(fmt.Sprintf("there is no page of %T", d))
	}
	p.paragraph = c.Paragraph
	p.again(c.Command)
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
	_ = json.Indent(&pretty, document.Encode(d), "", "  ") // which is JSON
	p.Document = pretty.String()
	return p
}

// say adds a sentence.
func (p *Page) say(format string, args ...any) {
	p.Sentences = append(p.Sentences, fmt.Sprintf(format, args...))
}

// ended says that a job ended early and why, if why is not "".
func (p *Page) ended(why string) {
	if why != "" {
		p.Tone = "open"
		p.say("The job ended early: %s. What is stated is certified all the same.", why)
	}
}

// assumed is the section of what an answer rests on.
func assumed(items ...string) Section {
	return Section{Title: "What is proved, and what is assumed", Items: items}
}

// grouped writes a count with thin spaces between its thousands.
func grouped(n int64) string { return decimal.Grouped(n, "\u202f") }

// again is the section of the command line that gives the same answer, if one is known.
func (p *Page) again(command string) {
	if command != "" {
		p.Sections = append(p.Sections, Section{Title: "Do it again", Text: []string{"This command gives the same answer; --json prints it as a document."}, Commands: []string{command}})
	}
}
