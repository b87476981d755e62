//go:build !js

package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// typesetter turns the part of Markdown that the documents use into HTML: headings, paragraphs, lists, tables, code in fences or indented, links,
// pictures, emphasis, code spans, escapes and comments of a line. Whatever else Markdown would see in a text is an error, so that nothing is typeset
// otherwise than it is meant. Underscores are letters: the documents use them in formulas alone.
type typesetter struct {
	href     func(target string) (string, error) // the address of what a link or a picture names
	ask      func(command string) string         // the address of the page that asks a command's question, "" where none does
	b        strings.Builder
	headings []heading
	slugs    map[string]int
}

// heading is a heading of a document, and where the HTML that belongs to it begins.
type heading struct {
	level    int
	id, text string
	begin    int
}

type sourceLine struct {
	number int
	text   string
}

// typeset returns the HTML of a text.
func (t *typesetter) typeset(text string) (string, error) {
	t.slugs = map[string]int{}
	var lines []sourceLine
	for i, l := range strings.Split(text, "\n") {
		lines = append(lines, sourceLine{i + 1, l})
	}
	err := t.blocks(lines)
	return t.b.String(), err
}

func (l sourceLine) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %w", l.number, fmt.Errorf(format, args...))
}

var (
	comment    = regexp.MustCompile(`^<!--.*-->$`)
	headline   = regexp.MustCompile(`^(#{1,6}) (\S.*)$`)
	item       = regexp.MustCompile(`^(-|\d+\.) `)
	delimiters = regexp.MustCompile(`^\|( *-+ *\|)+$`)
	// What begins a block that is not known here, or a line of a paragraph that Markdown would take for one.
	unknown  = regexp.MustCompile("^([>|#\t ]|[=-]+$|[*+] |\\d+[.)] |```|~~~|\\*\\*\\*|---)|[ \t]$")
	sentence = regexp.MustCompile(`[.:]$`) // after its end a list may begin
)

func (t *typesetter) blocks(lines []sourceLine) (err error) {
	for len(lines) > 0 && err == nil {
		text := lines[0].text
		switch {
		case text == "" || comment.MatchString(text):
			lines = lines[1:]
		case strings.HasPrefix(text, "```"):
			lines, err = t.fence(lines)
		case strings.HasPrefix(text, "    "):
			lines = t.indented(lines)
		case headline.MatchString(text):
			err, lines = t.heading(lines[0]), lines[1:]
		case strings.HasPrefix(text, "|"):
			lines, err = t.table(lines)
		case item.MatchString(text):
			lines, err = t.list(lines)
		default:
			lines, err = t.paragraph(lines)
		}
	}
	return err
}

func (t *typesetter) fence(lines []sourceLine) ([]sourceLine, error) {
	if !regexp.MustCompile("^```[a-z ]*$").MatchString(lines[0].text) {
		return nil, lines[0].fail("a fence that is not known")
	}
	for i, l := range lines[1:] {
		if l.text == "```" {
			t.code(lines[1 : 1+i])
			return lines[i+2:], nil
		}
	}
	return nil, lines[0].fail("the fence does not end")
}

func (t *typesetter) indented(lines []sourceLine) []sourceLine {
	var code []sourceLine
	end := 0
	for i, l := range lines {
		text, ok := strings.CutPrefix(l.text, "    ")
		if !ok && strings.TrimSpace(l.text) != "" {
			break
		}
		if code = append(code, sourceLine{l.number, text}); ok {
			end = i + 1
		}
	}
	t.code(code[:end])
	return lines[end:]
}

// printed are a prompt, a command, and a comment.
var printed = regexp.MustCompile(`^(\$ )?(optratio .*?)( *| +# .*)$`)

// code writes a block of code. Commands whose question a page asks lead there.
func (t *typesetter) code(lines []sourceLine) {
	t.b.WriteString(`<pre tabindex="0"><code>`)
	for _, l := range lines {
		if m := printed.FindStringSubmatch(l.text); m != nil {
			t.b.WriteString(html.EscapeString(m[1]) + t.asked(m[2], html.EscapeString(m[2])) + html.EscapeString(m[3]))
		} else {
			t.b.WriteString(html.EscapeString(l.text))
		}
		t.b.WriteString("\n")
	}
	t.b.WriteString("</code></pre>\n")
}

// asked makes a link of a command's HTML where a page asks its question.
func (t *typesetter) asked(command, shown string) string {
	if to := t.ask(command); to != "" {
		return fmt.Sprintf(`<a class="ask" title="ask this in the page" href="%s">%s</a>`, html.EscapeString(to), shown)
	}
	return shown
}

func (t *typesetter) heading(l sourceLine) error {
	m := headline.FindStringSubmatch(l.text)
	inside, err := t.inline(m[2])
	if err != nil {
		return l.fail("%w", err)
	}
	h := heading{level: len(m[1]), text: plainText(inside), begin: t.b.Len()}
	h.id = slug(h.text)
	if n := t.slugs[h.id]; n > 0 {
		h.id = fmt.Sprintf("%s-%d", h.id, n)
	}
	t.slugs[slug(h.text)]++
	t.headings = append(t.headings, h)
	fmt.Fprintf(&t.b, "<h%d id=\"%s\">%s</h%d>\n", h.level, h.id, inside, h.level)
	return nil
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
func plainText(markup string) string {
	var b strings.Builder
	inside := false
	for _, r := range markup {
		switch {
		case r == '<':
			inside = true
		case r == '>':
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return html.UnescapeString(b.String())
}

func (t *typesetter) table(lines []sourceLine) ([]sourceLine, error) {
	if len(lines) < 2 || !delimiters.MatchString(lines[1].text) {
		return nil, lines[0].fail("a table without a line of dashes below its head")
	}
	columns := strings.Count(lines[1].text, "|") - 1
	t.b.WriteString("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n<table>\n<thead>")
	for i, l := range lines {
		if !strings.HasPrefix(l.text, "|") {
			t.b.WriteString("</tbody>\n</table>\n</div>\n")
			return lines[i:], nil
		}
		if i == 1 {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(l.text, `\|`, "\x00"), "|")
		if len(cells) != columns+2 || cells[columns+1] != "" {
			return nil, l.fail("a row of a table has %d cells, its head %d", len(cells)-2, columns)
		}
		tag := map[bool]string{true: `th scope="col"`, false: "td"}[i == 0]
		t.b.WriteString("<tr>")
		for _, c := range cells[1 : columns+1] {
			inside, err := t.inline(strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|"))
			if err != nil {
				return nil, l.fail("%w", err)
			}
			fmt.Fprintf(&t.b, "<%s>%s</%s>", tag, inside, tag[:2])
		}
		t.b.WriteString("</tr>\n")
		if i == 0 {
			t.b.WriteString("</thead>\n<tbody>\n")
		}
	}
	return nil, lines[len(lines)-1].fail("the text ends in a table, without a line end")
}

func (t *typesetter) list(lines []sourceLine) ([]sourceLine, error) {
	ordered := !strings.HasPrefix(lines[0].text, "-")
	tag := map[bool]string{true: "ol", false: "ul"}[ordered]
	var items [][]sourceLine
	loose, indent := false, 0
	end := len(lines)
	for i, l := range lines {
		marker := item.FindString(l.text)
		loose = loose || i > 0 && lines[i-1].text == "" && (marker != "" || strings.HasPrefix(l.text, strings.Repeat(" ", indent)))
		if marker != "" && (marker == "- ") == !ordered {
			if ordered && marker != fmt.Sprintf("%d. ", len(items)+1) {
				return nil, l.fail("item %d of a list has another number", len(items)+1)
			}
			indent = len(marker)
			items = append(items, []sourceLine{{l.number, l.text[indent:]}})
			continue
		}
		rest, inside := strings.CutPrefix(l.text, strings.Repeat(" ", indent))
		if !inside && l.text != "" {
			if end = i; lines[i-1].text != "" && !comment.MatchString(l.text) {
				return nil, l.fail("a line that follows an item of a list neither belongs to it nor is apart")
			}
			break
		}
		items[len(items)-1] = append(items[len(items)-1], sourceLine{l.number, rest})
	}
	t.b.WriteString("<" + tag + ">\n")
	for _, inside := range items {
		t.b.WriteString("<li>")
		begin := t.b.Len()
		if err := t.blocks(inside); err != nil {
			return nil, err
		}
		if markup := t.b.String(); !loose { // its first paragraph is the item itself
			t.b.Reset()
			t.b.WriteString(markup[:begin] + strings.Replace(strings.Replace(markup[begin:], "<p>", "", 1), "</p>\n", "", 1))
		}
		t.b.WriteString("</li>\n")
	}
	t.b.WriteString("</" + tag + ">\n")
	return lines[end:], nil
}

func (t *typesetter) paragraph(lines []sourceLine) ([]sourceLine, error) {
	var text []string
	end := len(lines)
	for i, l := range lines {
		listed := strings.HasPrefix(l.text, "- ")
		if l.text == "" || comment.MatchString(l.text) || listed && sentence.MatchString(lines[i-1].text) {
			end = i
			break
		}
		if listed || unknown.MatchString(l.text) {
			return nil, l.fail("Markdown would see more than a line of a paragraph in %q", l.text)
		}
		text = append(text, l.text)
	}
	inside, err := t.inline(strings.Join(text, "\n"))
	if err != nil {
		return nil, lines[0].fail("%w", err)
	}
	t.b.WriteString("<p>" + inside + "</p>\n")
	return lines[end:], nil
}

var (
	foreign = regexp.MustCompile(`^(</?[A-Za-z][A-Za-z0-9-]*(\s[^<>]*)?/?>|<!|<\?|<[A-Za-z][A-Za-z0-9+.-]+:|<[^\s<>@]+@)`)
	entity  = regexp.MustCompile(`^&(#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);`)
	address = regexp.MustCompile(`^https?://[^\s<>()]*[^\s<>().,;:!?"']`)
)

// inline returns the HTML of a paragraph's text.
func (t *typesetter) inline(text string) (string, error) {
	var b strings.Builder
	var open []string // emphasis that has not ended
	for before := ' '; text != ""; {
		var piece string
		r, took := utf8.DecodeRuneInString(text) // of text
		err := error(nil)
		switch {
		case r == '\\':
			piece, took, err = escaped(text)
		case r == '`':
			piece, took, err = t.codeSpan(text)
		case strings.HasPrefix(text, "!["):
			piece, took, err = t.picture(text)
		case r == '[':
			piece, took, err = t.link(text)
		case r == '*':
			piece, took, open, err = emphasis(text, before, open)
		case r == '<' && foreign.MatchString(text), r == '&' && entity.MatchString(text), strings.HasPrefix(text, "~~"):
			err = fmt.Errorf("more than text to Markdown: %.40q", text)
		case r == 'h' && address.MatchString(text):
			to := address.FindString(text)
			piece, took = fmt.Sprintf(`<a href="%[1]s">%[1]s</a>`, html.EscapeString(to)), len(to)
		default:
			piece = html.EscapeString(text[:took])
		}
		if err != nil {
			return "", err
		}
		b.WriteString(piece)
		before, _ = utf8.DecodeLastRuneInString(text[:took])
		text = text[took:]
	}
	if len(open) > 0 {
		return "", fmt.Errorf("<%s> does not end", open[0])
	}
	return b.String(), nil
}

// escaped is the HTML of a backslash at the beginning of a text and of what it escapes, which takes so many bytes.
func escaped(text string) (piece string, took int, err error) {
	switch next := text[1:min(2, len(text))]; next {
	case "*", "|":
		return next, 2, nil
	case " ", "\n":
		return "\\", 1, nil
	default:
		return "", 0, fmt.Errorf("a backslash before %q", next)
	}
}

// codeSpan is the HTML of a code span at the beginning of a text, which takes so many bytes.
func (t *typesetter) codeSpan(text string) (piece string, took int, err error) {
	mark := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	code, _, ok := strings.Cut(text[len(mark):], mark)
	if !ok || mark != "`" {
		return "", 0, fmt.Errorf("a code span that is not known, or does not end: %.40q", text)
	}
	code = strings.ReplaceAll(code, "\n", " ")
	return t.asked(code, "<code>"+html.EscapeString(code)+"</code>"), len(code) + 2, nil
}

// picture is the HTML of a picture at the beginning of a text, which takes so many bytes.
func (t *typesetter) picture(text string) (piece string, took int, err error) {
	name, target, n := linked(text[1:])
	if n == 0 {
		return "", 0, fmt.Errorf("a picture without an address: %.40q", text[1:])
	}
	to, err := t.href(target)
	return fmt.Sprintf(`<img src="%s" alt="%s">`, html.EscapeString(to), html.EscapeString(name)), 1 + n, err
}

// link is the HTML of a link, or of a mere bracket, at the beginning of a text, which takes so many bytes.
func (t *typesetter) link(text string) (piece string, took int, err error) {
	name, target, n := linked(text)
	if n == 0 {
		return "[", 1, nil
	}
	inside, err := t.inline(name)
	if err != nil {
		return "", 0, err
	}
	to, err := t.href(target)
	return fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(to), inside), n, err
}

// emphasis is the HTML of stars at the beginning of a text, which take so many bytes, after a character and where open has not ended.
func emphasis(text string, before rune, open []string) (piece string, took int, left []string, err error) {
	mark, tag := "*", "em"
	if strings.HasPrefix(text, "**") {
		mark, tag = "**", "strong"
	}
	after, _ := utf8.DecodeRuneInString(text[len(mark):] + " ")
	begins := !unicode.IsSpace(after) && (!isMark(after) || unicode.IsSpace(before) || isMark(before))
	ends := !unicode.IsSpace(before) && (!isMark(before) || unicode.IsSpace(after) || isMark(after))
	switch {
	case after == '*':
		return "", 0, nil, fmt.Errorf("three stars: %.40q", text)
	case ends && len(open) > 0 && open[len(open)-1] == tag:
		return "</" + tag + ">", len(mark), open[:len(open)-1], nil
	case begins:
		return "<" + tag + ">", len(mark), append(open, tag), nil
	case ends && len(open) > 0:
		return "", 0, nil, fmt.Errorf("emphasis ends that did not begin: %.40q", text)
	}
	return mark, len(mark), open, nil
}

// isMark reports whether a character is punctuation or a symbol.
func isMark(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// linked reads a link, [name](target), of n bytes at the beginning of a text; n is 0 where there is none.
func linked(text string) (name, target string, n int) {
	depth, code := 0, false
	for i, r := range text {
		switch {
		case r == '`':
			code = !code
		case code:
		case r == '[':
			depth++
		case r == ']':
			if depth--; depth == 0 {
				rest, ok := strings.CutPrefix(text[i+1:], "(")
				if target, _, ended := strings.Cut(rest, ")"); ok && ended && !strings.ContainsAny(target, " \n(<\"") && target != "" {
					return text[1:i], target, i + len("](") + len(target) + len(")")
				}
				return "", "", 0
			}
		}
	}
	return "", "", 0
}
