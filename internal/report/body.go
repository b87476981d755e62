package report

import (
	"fmt"
	"html"
	"strings"

	"optratio/internal/escape"
)

// Parts are what the page says, without the head of a document: the question with its verdict, and the sections below it. Titles begin at a level, 1 for
// h1. It is no template: what executes templates keeps every method of every type in a program, a fifth of the engine that browsers load.
func (p *Page) Parts(level int) (head, rest string) {
	w := writer{level: level, paragraph: p.paragraph}
	w.add("<header class=\"answer\">\n<h%d>%s</h%d>\n<div class=\"verdict %s\">\n<p class=\"word\">%s</p>", level, Typeset(p.Title), level, escape.HTML(p.Tone), Typeset(p.Word))
	for _, s := range p.Sentences {
		w.add("<p>%s</p>", Typeset(s))
	}
	w.add("</div>\n</header>")
	head = w.String()
	w.Reset()
	for i := range p.Sections {
		w.section(&p.Sections[i])
	}
	if c := p.Certificate; c != nil {
		inside := ""
		if c.Data != "" {
			inside = fmt.Sprintf(` <a download="%s" href="%s">%s, which is inside this page</a>`, escape.HTML(c.Name), escape.HTML(string(c.Data)), escape.HTML(c.Name))
		}
		w.title("Certificate")
		w.add("<p>%s</p>\n<p>SHA-256 <code>%s</code>, %d bytes.%s</p>\n</section>", escape.HTML(c.Text), c.SHA256, c.Bytes, inside)
	}
	if p.Document != "" {
		w.title("The whole answer")
		w.add("<details><summary>The JSON document that this page was made from</summary>\n<pre>%s</pre>\n</details>\n</section>", html.EscapeString(escape.JSON(p.Document)))
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

func (w *writer) section(s *Section) {
	w.title(s.Title)
	if len(s.Commands) == 0 {
		for _, t := range s.Text {
			w.add("<p>%s</p>", Typeset(t))
		}
	}
	if f := s.Figure; f != nil {
		w.add("<figure>\n%s\n<figcaption>%s</figcaption>\n</figure>", f.SVG, Typeset(f.Caption))
		if f.Table != nil {
			w.add("<details><summary>The numbers of this picture</summary>")
			w.table(f.Table)
			w.add("</details>")
		}
	}
	if s.Table != nil {
		w.table(s.Table)
	}
	if len(s.Items) > 0 {
		w.add("<ul>")
		for _, t := range s.Items {
			w.add("<li>%s</li>", Typeset(t))
		}
		w.add("</ul>")
	}
	if len(s.Commands) > 0 {
		for _, t := range s.Text {
			w.add("<p class=\"note\">%s</p>", Typeset(t))
		}
	}
	for _, c := range s.Commands {
		w.add("<pre><code>%s</code></pre>", escape.HTML(c))
	}
	w.add("</section>")
}

func (w *writer) table(t *Table) {
	w.add("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\">\n<table>\n<thead><tr>")
	for _, c := range t.Head {
		w.add("<th scope=\"col\">%s</th>", escape.HTML(c))
	}
	w.add("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		w.add("<tr>%s</tr>", w.cells(row, t.Head[0] == "mechanism"))
	}
	w.add("</tbody>\n</table>\n</div>")
}

// cells writes the cells of a row; a verdict has a class of its own, and the name of a mechanism leads to what is said of it.
func (w *writer) cells(row []string, named bool) string {
	var b strings.Builder
	for i, c := range row {
		class, text := "", escape.HTML(c)
		if c == "proved" || c == "violated" || c == "undecided" {
			class = ` class="` + c + `"`
		}
		if name, _, _ := strings.Cut(c, ","); named && i == 0 && w.paragraph != nil {
			if to := w.paragraph(name); to != "" {
				text = fmt.Sprintf(`<a href="%s">%s</a>`, escape.HTML(to), text)
			}
		}
		fmt.Fprintf(&b, "<td%s>%s</td>", class, text)
	}
	return b.String()
}
