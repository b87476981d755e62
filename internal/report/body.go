package report

import (
	"fmt"
	"html"
	"io"
	"strings"

	"optratio/internal/escape"
)

// WriteBody writes what the page says, without the head of a page, for one that has its own. It is no template: what executes templates keeps
// every method of every type in a program, a fifth of the engine that browsers load.
func (p *Page) WriteBody(w io.Writer) error {
	_, err := io.WriteString(w, p.body())
	return err
}

func (p *Page) body() string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add("<header class=\"answer\">\n<h1>%s</h1>\n<div class=\"verdict %s\">\n<p class=\"word\">%s</p>", Typeset(p.Title), escape.HTML(p.Tone), Typeset(p.Word))
	for _, s := range p.Sentences {
		add("<p>%s</p>", Typeset(s))
	}
	add("</div>\n</header>\n<main>")
	for i := range p.Sections {
		p.Sections[i].write(add)
	}
	if c := p.Certificate; c != nil {
		inside := ""
		if c.Data != "" {
			inside = fmt.Sprintf(` <a download="%s" href="%s">%s, which is inside this page</a>`, escape.HTML(c.Name), escape.HTML(string(c.Data)), escape.HTML(c.Name))
		}
		add("<section>\n<h2>Certificate</h2>\n<p>%s</p>\n<p>SHA-256 <code>%s</code>, %d bytes.%s</p>\n</section>", escape.HTML(c.Text), c.SHA256, c.Bytes, inside)
	}
	if p.Document != "" {
		add("<section>\n<h2>The whole answer</h2>\n<details><summary>The JSON document that this page was made from</summary>\n<pre>%s</pre>\n</details>\n</section>", html.EscapeString(escape.JSON(p.Document)))
	}
	add("</main>")
	return b.String()
}

func (s *Section) write(add func(string, ...any)) {
	add("<section>\n<h2>%s</h2>", escape.HTML(s.Title))
	if s.HTML != "" {
		add("%s", s.HTML)
	}
	if len(s.Commands) == 0 {
		for _, t := range s.Text {
			add("<p>%s</p>", Typeset(t))
		}
	}
	if f := s.Figure; f != nil {
		add("<figure>\n%s\n<figcaption>%s</figcaption>\n</figure>", f.SVG, Typeset(f.Caption))
		if f.Table != nil {
			add("<details><summary>The numbers of this picture</summary>")
			f.Table.write(add)
			add("</details>")
		}
	}
	if s.Table != nil {
		s.Table.write(add)
	}
	if len(s.Items) > 0 {
		add("<ul>")
		for _, t := range s.Items {
			add("<li>%s</li>", Typeset(t))
		}
		add("</ul>")
	}
	if len(s.Commands) > 0 {
		for _, t := range s.Text {
			add("<p class=\"note\">%s</p>", Typeset(t))
		}
	}
	for _, c := range s.Commands {
		add("<pre><code>%s</code></pre>", escape.HTML(c))
	}
	add("</section>")
}

func (t *Table) write(add func(string, ...any)) {
	add("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n<table>\n<thead><tr>%s</tr></thead>\n<tbody>", cells(t.Head, `th scope="col"`, "th"))
	for _, row := range t.Rows {
		add("<tr>%s</tr>", cells(row, "td", "td"))
	}
	add("</tbody>\n</table>\n</div>")
}

// cells writes the cells of a row; a verdict has a class of its own.
func cells(row []string, begin, end string) string {
	var b strings.Builder
	for _, c := range row {
		class := ""
		if end == "td" && (c == "proved" || c == "violated" || c == "undecided") {
			class = ` class="` + c + `"`
		}
		fmt.Fprintf(&b, "<%s%s>%s</%s>", begin, class, escape.HTML(c), end)
	}
	return b.String()
}
