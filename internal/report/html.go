package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/verify"
)

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	head, rest := p.Parts(1)
	_, err := fmt.Fprintf(w, layout, plain(p.Word), plain(p.Title), style, head+rest)
	return err
}

// readable is how many digits of a number a sentence and a picture show.
const readable = 6

// plain escapes a text, with fewer digits of its numbers.
func plain(text string) string { return escape.HTML(decimal.Shorten(text, readable)) }

var power = regexp.MustCompile(`\b(e|2)\^(-?)(ε|[0-9]+(?:\.[0-9]+)?)`)

// raised sets the powers in HTML as such.
func raised(markup string) string {
	return power.ReplaceAllStringFunc(markup, func(p string) string {
		base, exponent, _ := strings.Cut(p, "^")
		return base + "<sup>" + strings.Replace(exponent, "-", "−", 1) + "</sup>"
	})
}

// Typeset escapes a text, with fewer digits of its numbers, and sets powers as such.
func Typeset(text string) template.HTML {
	return template.HTML(raised(strings.ReplaceAll(plain(text), "….", "…")))
}

var firstWord = regexp.MustCompile(`^[a-z][a-z]`)

// capital begins a line with a capital, unless it begins with a name or a symbol.
func capital(line string) string {
	word, _, _ := strings.Cut(line, " ")
	if _, err := mechanisms.Lookup(strings.Trim(word, ":,")); err == nil || long(verify.Property(word)) != "" {
		return line
	}
	return firstWord.ReplaceAllStringFunc(line, func(begin string) string { return strings.ToUpper(begin[:1]) + begin[1:] })
}

// sentence is a line as a page has it.
func sentence(line string) template.HTML {
	if !strings.HasSuffix(line, ":") && !strings.HasSuffix(line, ".") {
		line += "."
	}
	return Typeset(capital(line))
}

// Parts are what the page says, without the head of a document: the question with its verdict, and the sections below it. Titles begin at a level, 1 for
// h1. It is no template: what executes templates keeps every method of every type in a program, a fifth of the engine that browsers load.
func (p *Page) Parts(level int) (head, rest string) {
	w := writer{level: level, paragraph: p.paragraph}
	w.add("<header class=\"answer\">\n<h%d>%s</h%d>\n<div class=\"verdict %s\">\n<p class=\"word\">%s</p>", level, Typeset(p.Title), level, escape.HTML(p.Tone), Typeset(p.Word))
	blocks := slices.DeleteFunc(slices.Clone(p.Blocks), func(b Block) bool { return b.in == terminal })
	for len(blocks) > 0 && blocks[0].Title == "" {
		w.lines(blocks[0].Lines)
		blocks = blocks[1:]
	}
	w.add("</div>\n</header>")
	head = w.String()
	w.Reset()
	for i := range blocks {
		if w.block(&blocks[i]); i+1 == len(blocks) || blocks[i+1].Title != "" {
			w.add("</section>")
		}
	}
	return head, w.String()
}

// writer collects the HTML of sections.
type writer struct {
	strings.Builder
	level     int
	paragraph func(mechanism string) string
}

func (w *writer) add(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// title begins a section.
func (w *writer) title(text string) {
	w.add("<section>\n<h%d>%s</h%d>", w.level+1, escape.HTML(text), w.level+1)
}

func (w *writer) lines(lines []string) {
	for _, t := range lines {
		w.add("<p>%s</p>", sentence(t))
	}
}

func (w *writer) block(b *Block) {
	if b.Title != "" {
		w.title(b.Title)
	}
	w.lines(b.Lines)
	if b.Figure != nil {
		f := b.Figure()
		w.add("<figure>\n%s\n<figcaption>%s</figcaption>\n</figure>", f.SVG, Typeset(f.Caption))
		if f.Table != nil {
			w.add("<details><summary>The numbers of this picture</summary>")
			w.table(f.Table)
			w.add("</details>")
		}
	}
	if b.Table != nil {
		w.table(b.Table)
	}
	if len(b.Items) > 0 {
		w.add("<ul>")
		for _, t := range b.Items {
			w.add("<li>%s</li>", Typeset(t))
		}
		w.add("</ul>")
	}
	for _, c := range b.Commands {
		w.add("<pre><code>%s</code></pre>", escape.HTML(c))
	}
	w.WriteString(b.raw)
}

func (w *writer) table(t *Table) {
	rows := t.Texts(strings.Clone)
	broad := broad(rows)
	w.add("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\">\n<table%s>\n<thead><tr>", job.Choose(broad, ` class="broad"`, ""))
	for _, c := range t.Head {
		w.add("<th scope=\"col\">%s</th>", escape.HTML(c))
	}
	w.add("</tr></thead>\n<tbody>")
	for i, row := range rows[1:] {
		if i == t.Apart && t.Says != "" {
			w.add("<tr><td class=\"note\" colspan=\"%d\">%s</td></tr>", len(t.Head), escape.HTML(t.Says))
		}
		w.add("<tr>%s</tr>", w.cells(row, t.Head, broad))
	}
	w.add("</tbody>\n</table>\n</div>")
}

// broad reports whether a phone is too narrow for a table: the longest words of its columns have more than so many letters together.
func broad(rows [][]string) bool {
	const most = 42
	sum, longest := 0, make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			for _, word := range strings.FieldsFunc(c, func(r rune) bool { return r == ' ' || r == '-' }) {
				sum += max(0, utf8.RuneCountInString(word)-longest[i])
				longest[i] = max(longest[i], utf8.RuneCountInString(word))
			}
		}
	}
	return sum > most
}

// cells writes the cells of a row. A verdict has a class of its own, the name of a mechanism leads to what is said of it, and that of a property is its long one.
func (w *writer) cells(row, heads []string, broad bool) string {
	var b strings.Builder
	for i, head := range heads {
		c, attributes := "", ""
		if i < len(row) {
			c = row[i]
		}
		text := raised(escape.HTML(c))
		if c == "proved" || c == "violated" || c == "undecided" {
			attributes = ` class="` + c + `"`
		}
		if broad {
			attributes += ` data-head="` + escape.HTML(head) + `"`
		}
		switch head {
		case "property":
			text = escape.HTML(cmp.Or(long(verify.Property(c)), c))
		case "checked":
			text = strings.TrimSuffix(text, " checked")
		case "remark":
			text = string(Typeset(c))
		case "mechanism":
			if name, _, _ := strings.Cut(strings.ReplaceAll(c, " (", ","), ","); w.paragraph != nil && w.paragraph(name) != "" {
				text = fmt.Sprintf(`<a href="%s">%s</a>`, escape.HTML(w.paragraph(name)), text)
			}
		}
		fmt.Fprintf(&b, "<td%s>%s</td>", attributes, text)
	}
	return b.String()
}
