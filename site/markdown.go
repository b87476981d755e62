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

// typesetter turns Markdown with tables into HTML.
type typesetter struct {
	href     func(target string) (string, error) // the address of what a link or a picture names
	ask      func(command string) string         // the address of the page that asks a command's question, "" where none does
	headings []heading
}

// heading is a heading of a document, and where its HTML begins.
type heading struct {
	level    int
	id, text string
	begin    int
}

var (
	// tables can be scrolled where they are wide.
	tables = strings.NewReplacer(
		"<table>", "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\">\n<table>", "</table>", "</table>\n</div>", "<th>", `<th scope="col">`)
	headline = regexp.MustCompile(`<h([1-6]) id="([^"]*)">((?s:.*?))</h[1-6]>`)
	tag      = regexp.MustCompile(`<[^>]*>`)
)

// typeset returns the HTML of a text. Headings have the anchors that they have on GitHub; a page has one title, and what stands beside it in the file stands
// below it here.
func (t *typesetter) typeset(markdown string) (string, error) {
	m := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Linkify), goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(t, 0))))
	source := []byte(markdown)
	document := m.Parser().Parse(text.NewReader(source))
	named, titles := map[string]int{}, 0
	err := ast.Walk(document, func(n ast.Node, entering bool) (_ ast.WalkStatus, err error) {
		var to string
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				to, err = t.href(string(n.Destination))
				n.Destination = []byte(to)
			}
		case *ast.Image:
			if entering {
				to, err = t.href(string(n.Destination))
				n.Destination = []byte(to)
			}
		case *ast.Heading:
			if !entering {
				break
			}
			id := slug(string(n.Lines().Value(source)))
			if named[id]++; named[id] > 1 {
				id = fmt.Sprintf("%s-%d", id, named[id]-1)
			}
			n.SetAttributeString("id", []byte(id))
			if n.Level == 1 {
				titles++
			}
		}
		return ast.WalkContinue, err
	})
	for n := document.FirstChild(); n != nil && titles > 1; n = n.NextSibling() {
		if h, is := n.(*ast.Heading); is && n != document.FirstChild() {
			h.Level++
		}
	}
	var b strings.Builder
	if err == nil {
		err = m.Renderer().Render(&b, source, document)
	}
	markup := tables.Replace(b.String())
	for _, at := range headline.FindAllStringSubmatchIndex(markup, -1) {
		level, _ := strconv.Atoi(markup[at[2]:at[3]])
		t.headings = append(t.headings, heading{level, markup[at[4]:at[5]], plainText(markup[at[6]:at[7]]), at[0]})
	}
	return markup, err
}

// RegisterFuncs implements renderer.NodeRenderer for code, in which commands whose question a page asks lead there. Comments are left out.
func (t *typesetter) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, t.code)
	r.Register(ast.KindFencedCodeBlock, t.code)
	r.Register(ast.KindHTMLBlock, func(_ util.BufWriter, source []byte, n ast.Node, _ bool) (ast.WalkStatus, error) {
		if text := n.Lines().Value(source); !strings.HasPrefix(string(text), "<!--") {
			return ast.WalkStop, fmt.Errorf("HTML: %.40q", text)
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindRawHTML, func(_ util.BufWriter, source []byte, n ast.Node, _ bool) (ast.WalkStatus, error) {
		return ast.WalkStop, fmt.Errorf("HTML: %.40q", n.(*ast.RawHTML).Segments.Value(source))
	})
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
var printed = regexp.MustCompile(`(?m)^(\$ )?(optratio .*?)( *| +# .*)$`)

func (t *typesetter) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (_ ast.WalkStatus, err error) {
	if entering {
		code := html.EscapeString(string(n.Lines().Value(source)))
		_, err = w.WriteString(`<pre tabindex="0"><code>` + printed.ReplaceAllStringFunc(code, func(line string) string {
			m := printed.FindStringSubmatch(line)
			return m[1] + t.asked(html.UnescapeString(m[2]), m[2]) + m[3]
		}) + "</code></pre>\n")
	}
	return ast.WalkContinue, err
}

// asked makes a link of a command's HTML where a page asks its question.
func (t *typesetter) asked(command, shown string) string {
	if to := t.ask(command); to != "" {
		return fmt.Sprintf(`<a class="ask" title="ask this in the page" href="%s">%s</a>`, html.EscapeString(to), shown)
	}
	return shown
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

// plainText is a piece of HTML without its tags.
func plainText(markup string) string { return html.UnescapeString(tag.ReplaceAllString(markup, "")) }
