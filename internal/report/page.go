package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/internal/recommend"
	"optratio/verify"
)

// Page is an answer for people. What it says is said once: WriteText writes it for a terminal, Write and Parts for a browser.
type Page struct {
	Title     string // the question
	Tone      string // good, bad or open
	Word      string // the verdict in a few words, which only a browser shows
	Blocks    []Block
	untitled  bool // a terminal shows no title
	paragraph func(mechanism string) string
}

// Block is a part of an answer; what is empty is left out. In a browser a title begins a section, and what has no title belongs to what is before it; in a terminal
// an empty line is before every block that is not joined.
type Block struct {
	Title    string
	Lines    []string
	Figure   func() *Figure // is drawn where it is shown
	Table    *Table
	Items    []string
	Commands []string
	raw      string // HTML
	in       medium
	joined   bool
}

// medium says where a block is shown.
type medium int

const (
	everywhere medium = iota
	terminal
	browser
)

// Figure is a picture, for a browser, whose text alternative is in the SVG itself and whose numbers are a table.
type Figure struct {
	SVG     template.HTML
	Caption string
	Table   *Table
}

// Table is a table of texts and numbers. Before the row at Apart, where Says is not empty, there is a line that says what the rows from there on are.
type Table struct {
	Head     []string
	Rows     [][]any
	Apart    int
	Says     string
	headless bool // in a terminal
}

// Context is what a page says beside the answer of the job itself.
type Context struct {
	Terminal        bool         // there is no browser: what it alone would show need not be found
	Question        job.Question // that was asked; nil where it is not known
	Command         string       // the command line that gives the same answer; empty where it is not known
	Optimal         string       // the file that an optimal mechanism is written to, "" for none
	Certificate     []byte       // nil for none
	CertificateName string       // its file
	Curve           *Curve       // nil for none
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

// Style is the style sheet of a page.
func Style() string { return style }

// New says the answer to a question.
func New(a *job.Answer, c Context) *Page {
	if len(a.Documents) == 0 {
		return &Page{untitled: true}
	}
	var p *Page
	switch d := a.Documents[0].(type) {
	case *document.Ratio:
		p = ofRatio(d, c)
		if a.List {
			p = ofRatios(documents[*document.Ratio](a), c)
		}
	case *document.Rho:
		p = ofRho(d)
	case *document.Threshold:
		p = ofThreshold(d)
	case *verify.Report, *audit.Report:
		p = ofVerdicts(VerdictsOf(a, c.Question), c)
	case *document.Calibration:
		p = ofCalibration(d, c)
	case *document.Compose:
		p = ofCompose(d)
	case *document.Stopping:
		p = ofStopping(d)
	case *document.Heterogeneous:
		p = ofHeterogeneous(d)
	case *document.Evaluate:
		p = ofEvaluate(documents[*document.Evaluate](a))
	case *document.PMF:
		p = ofPMF(documents[*document.PMF](a), c)
	case *document.TopK:
		p = ofTopK(d)
	case *recommend.Recommendation:
		p = ofRecommend(d, c)
	case *document.Optimum:
		p = ofOptimum(d, c)
	case *document.Check:
		p = ofCheck(d)
	default:
		panic(fmt.Sprintf("nobody says %T", d))
	}
	if c.Terminal {
		return p
	}
	p.paragraph = c.Paragraph
	p.again(c.Command)
	if c.Certificate != nil {
		p.add(enclosed(c))
	}
	var pretty bytes.Buffer
	_ = json.Indent(&pretty, document.Encode(a.Documents[0]), "", "  ") // which is JSON
	p.add(Block{Title: "The whole answer", in: browser, raw: fmt.Sprintf("<details><summary>The JSON document that this page was made from</summary>\n<pre>%s</pre>\n</details>", html.EscapeString(escape.JSON(pretty.String())))})
	return p
}

// Picture is the first one of the page, nil for none.
func (p *Page) Picture() *Figure {
	for _, b := range p.Blocks {
		if b.Figure != nil {
			return b.Figure()
		}
	}
	return nil
}

// Lead is what the page says first, beside its word.
func (p *Page) Lead() string { return strings.Join(p.Blocks[0].Lines, " ") }

// enclosed is the section with the certificate, which is inside unless it is too large for a page.
func enclosed(c Context) Block {
	name, inside := escape.HTML(c.CertificateName), ""
	if len(c.Certificate) <= maxCertificate {
		inside = fmt.Sprintf(` <a download="%s" href="data:text/plain;base64,%s">%s, which is inside this page</a>`, name, base64.StdEncoding.EncodeToString(c.Certificate), name)
	}
	return Block{
		Title: "Certificate", in: browser,
		Lines: []string{"The certificate holds the numbers that prove the bounds above. The command optratio check " + c.CertificateName + " verifies them with code that shares nothing with the solvers."},
		raw:   fmt.Sprintf("<p>SHA-256 <code>%x</code>, %d bytes.%s</p>", sha256.Sum256(c.Certificate), len(c.Certificate), inside),
	}
}

// documents are those of an answer, which are all of one kind.
func documents[D document.Document](a *job.Answer) (all []D) {
	for _, d := range a.Documents {
		all = append(all, d.(D))
	}
	return all
}

func (p *Page) add(b ...Block) { p.Blocks = append(p.Blocks, b...) }

// say adds a line to what is before it.
func (p *Page) say(format string, args ...any) {
	p.add(Block{Lines: []string{fmt.Sprintf(format, args...)}, joined: true})
}

// conclude says the verdict: a terminal shows it as a line.
func (p *Page) conclude(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	p.Word = capital(line)
	p.add(Block{Lines: []string{line}, joined: true, in: terminal})
}

// begin adds a line after an empty one.
func (p *Page) begin(format string, args ...any) {
	p.add(Block{Lines: []string{fmt.Sprintf(format, args...)}})
}

// aside adds a line that only a browser shows.
func (p *Page) aside(format string, args ...any) {
	p.add(Block{Lines: []string{fmt.Sprintf(format, args...)}, in: browser})
}

// ended says in a browser that a job ended early and why, if why is not "". Where a terminal is, a command says so in its error.
func (p *Page) ended(why string) {
	if why != "" {
		p.Tone = "open"
		p.aside("The job ended early: %s. What is stated is certified all the same.", why)
	}
}

// assumed is the section of a page that says what an answer rests on.
func assumed(items ...string) Block {
	return Block{Title: "What is proved, and what is assumed", Items: items, in: browser}
}

// again is the section of the command line that gives the same answer, if one is known.
func (p *Page) again(command string) {
	if command != "" {
		p.add(Block{Title: "Do it again", Lines: []string{"This command gives the same answer; --json prints it as a document."}, Commands: []string{command}, in: browser})
	}
}
