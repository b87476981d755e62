//go:build !js

package main

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// typesetter turns Markdown with tables into HTML. What the documents do not use is an error, so that nothing is typeset otherwise than it is meant.
type typesetter struct {
	href     func(target string) (string, error) // the address of what a link or a picture names
	ask      func(command string) string         // the address of the page that asks a command's question, "" where none does
	headings []heading
}

// heading is a heading of a document, and where the HTML that belongs to it begins.
type heading struct {
	level    int
	id, text string
	begin    int
}

// tables can be scrolled where they are wide.
var tables = strings.NewReplacer(
	"<table>", "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n<table>", "</table>", "</table>\n</div>", "<th>", `<th scope="col">`)

// typeset returns the HTML of a text.
func (t *typesetter) typeset(markdown string) (string, error) {
	m := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Linkify), goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(t, 0))))
	source := []byte(markdown)
	document := m.Parser().Parse(text.NewReader(source))
	var comments []ast.Node
	err := ast.Walk(document, func(n ast.Node, entering bool) (_ ast.WalkStatus, err error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var to string
		switch n := n.(type) {
		case *ast.Link:
			to, err = t.href(string(n.Destination))
			n.Destination = []byte(to)
		case *ast.Image:
			to, err = t.href(string(n.Destination))
			n.Destination = []byte(to)
		case *ast.HTMLBlock:
			if n.HTMLBlockType != ast.HTMLBlockType2 { // a comment
				err = fmt.Errorf("HTML: %.40q", n.Lines().Value(source))
			}
			comments = append(comments, n)
		case *ast.RawHTML:
			err = fmt.Errorf("HTML: %.40q", n.Segments.Value(source))
		case *ast.Blockquote, *ast.ThematicBreak:
			err = fmt.Errorf("a %s, which no document has: %.40q", n.Kind(), source[n.Pos():])
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return "", err
	}
	for _, c := range comments {
		c.Parent().RemoveChild(c.Parent(), c)
	}
	var b strings.Builder
	if err := m.Renderer().Render(&b, source, document); err != nil {
		return "", err
	}
	return t.name(tables.Replace(b.String())), nil
}

// RegisterFuncs implements renderer.NodeRenderer for code, in which commands whose question a page asks lead there.
func (t *typesetter) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, t.code)
	r.Register(ast.KindFencedCodeBlock, t.code)
	r.Register(ast.KindCodeSpan, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var b strings.Builder
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			b.Write(c.(*ast.Text).Segment.Value(source))
		}
		code := strings.ReplaceAll(b.String(), "\n", " ")
		_, err := w.WriteString(t.asked(code, "<code>"+html.EscapeString(code)+"</code>"))
		return ast.WalkSkipChildren, err
	})
}

// printed are a prompt, a command, and a comment.
var printed = regexp.MustCompile(`^(\$ )?(optratio .*?)( *| +# .*)$`)

func (t *typesetter) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var b strings.Builder
	for line := range strings.Lines(string(n.Lines().Value(source))) {
		line = strings.TrimSuffix(line, "\n")
		if m := printed.FindStringSubmatch(line); m != nil {
			line = html.EscapeString(m[1]) + t.asked(m[2], html.EscapeString(m[2])) + html.EscapeString(m[3])
		} else {
			line = html.EscapeString(line)
		}
		b.WriteString(line + "\n")
	}
	_, err := w.WriteString(`<pre tabindex="0"><code>` + b.String() + "</code></pre>\n")
	return ast.WalkContinue, err
}

// asked makes a link of a command's HTML where a page asks its question.
func (t *typesetter) asked(command, shown string) string {
	if to := t.ask(command); to != "" {
		return fmt.Sprintf(`<a class="ask" title="ask this in the page" href="%s">%s</a>`, html.EscapeString(to), shown)
	}
	return shown
}

var headline = regexp.MustCompile(`<h([1-6])>((?s:.*?))</h[1-6]>`)

// name gives the headings the anchors that they have on GitHub.
func (t *typesetter) name(markup string) string {
	var b strings.Builder
	names, end := map[string]int{}, 0
	several := strings.Count(markup, "<h1>") > 1
	for _, m := range headline.FindAllStringSubmatchIndex(markup, -1) {
		b.WriteString(markup[end:m[0]])
		end = m[1]
		level, _ := strconv.Atoi(markup[m[2]:m[3]])
		if several && len(t.headings) > 0 { // a page has one title: what stands beside it in the file stands below it here
			level++
		}
		h := heading{level: level, text: plainText(markup[m[4]:m[5]]), begin: b.Len()}
		h.id = slug(h.text)
		if n := names[h.id]; n > 0 {
			h.id = fmt.Sprintf("%s-%d", h.id, n)
		}
		names[slug(h.text)]++
		t.headings = append(t.headings, h)
		fmt.Fprintf(&b, `<h%d id="%s">%s</h%d>`, level, h.id, markup[m[4]:m[5]], level)
	}
	return b.String() + markup[end:]
}

// slug is the anchor of a heading, as on GitHub.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

var tag = regexp.MustCompile(`<[^>]*>`)

// plainText is a piece of HTML without its tags.
func plainText(markup string) string { return html.UnescapeString(tag.ReplaceAllString(markup, "")) }
