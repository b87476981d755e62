package escape

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"html"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"plain, ε ≤ 1: “a” é 日本": "plain, ε ≤ 1: “a” é 日本",
		"a\nb\r\tc":              `a\nb\r\tc`,
		"\x1b[31mred\x7f\u0085":  `\x1b[31mred\x7f\u0085`,
		"\u202eevil\u2066\u200b\u2028\u2029\ufeff\U000e0041": `\u202eevil\u2066\u200b\u2028\u2029\ufeff\U000e0041`,
		"\xff\xc3":                        `\xff\xc3`,
		"\ufffd":                          "\ufffd",
		"::error::x":                      `\::error::x`,
		"  ::error::x":                    `  \::error::x`,
		"x ##[error]y ${z##*:} ###vso[a]": `x #\#[error]y ${z##*:} ##\#vso[a]`,
	} {
		assert.Equal(t, want, Line(in), "%q", in)
	}
	assert.Equal(t, "a\n\tb\\r\\x1b", Text("a\n\tb\r\x1b"))
	assert.Equal(t, `"a\u202e\n"`, Quoted("a\u202e\n"))
	assert.Equal(t, `"`+strings.Repeat("é", 40)+"…"+strings.Repeat("x", 20)+`"`, Quoted(strings.Repeat("é", 60)+strings.Repeat("x", 30)))
}

func TestShell(t *testing.T) {
	for word, want := range map[string]string{"a/b.csv": "a/b.csv", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", `a\n`: `'a\n'`, "it's\n\\\x1b": `$'it\'s\n\\\x1b'`} {
		assert.Equal(t, want, Shell(word))
		if out, err := exec.Command("bash", "-c", "printf %s "+Shell(word)).Output(); err == nil {
			assert.Equal(t, word, string(out))
		}
	}
}

// commands is what GitHub's runner takes for a command: two colons at the begin of a line, or ##[ anywhere in it.
func commands(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "::") || regexp.MustCompile(`##[a-zA-Z]*\[`).MatchString(line)
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList))

// kinds returns the kinds of the nodes of a Markdown text, neighbors of one kind once, and its HTML.
func kinds(t *testing.T, source string) (names []string, page string) {
	doc := markdown.Parser().Parse(text.NewReader([]byte(source)))
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if name := n.Kind().String(); entering && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
		return ast.WalkContinue, nil
	}))
	var b bytes.Buffer
	require.NoError(t, markdown.Renderer().Render(&b, []byte(source), doc))
	return names, b.String()
}

// FuzzEscapes: in every format a text is one line in which nothing is hidden, is no command, and shows what Line shows.
func FuzzEscapes(f *testing.F) {
	for _, s := range []string{
		"", " ", "a  b ", "plain", "\n::set-output name=x::pwned\n::error file=a.go,line=1::boo\x1b[31mRED<script>alert(1)</script>|`x`|[a](javascript:1)<img src=x>&amp;%0A ]]>\r\n## H1\u202e\u0085\u2028",
		"![x](https://evil.example/p.png) [click](https://evil.example) @org/team www.evil.example a@b.example #12 :x: ~~no~~ $1$ [^1] [ ] ***", "1. one", "12) two", "- a", "+ b", "* c", "> q", "# h", "    code", "```", "---", "===", "<a>",
		"a\\", "\\|", "a|b", "##vso[task.x]y", ":", "::", "::a", " ::a", "&#64;", "\xff", "\u200b", "http://a", "ftp://x.y mailto:a@b.c xmpp:a@b.c/d", "WWW.x.y", "- [x] done", ": b", "[a]: http://b", "_a_ __b__",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := Line(s)
		for name, got := range map[string]string{"line": line, "html": HTML(s), "markdown": Markdown(s), "message": Message(s), "property": Property(s), "quoted": Quoted(s)} {
			require.True(t, utf8.ValidString(got), name)
			require.False(t, strings.ContainsFunc(got, hidden), "%s: %q", name, got)
			require.False(t, strings.ContainsFunc(got, unicode.IsControl), "%s: %q", name, got)
			if name == "line" || name == "markdown" {
				require.False(t, commands(got), "%s: %q", name, got)
			}
		}
		require.Equal(t, line, Line(line))
		require.Equal(t, line, Line(html.UnescapeString(HTML(s))))
		require.Equal(t, line, strings.ReplaceAll(Message(s), "%25", "%"))
		require.Equal(t, line, strings.NewReplacer("%25", "%", "%3A", ":", "%2C", ",").Replace(Property(s)))
		require.NotContains(t, strings.ReplaceAll(Property(s), "%3A", ""), ":")

		var x bytes.Buffer
		require.NoError(t, xml.EscapeText(&x, []byte(line)))
		if !strings.Contains(s, "\ufffd") && !strings.ContainsFunc(s, func(r rune) bool { return r&0xfffe == 0xfffe }) {
			require.NotContains(t, x.String(), "\ufffd", "XML holds all of a line")
		}

		document, err := json.Marshal(map[string]string{"a": s})
		require.NoError(t, err)
		var before, after any
		require.NoError(t, json.Unmarshal(document, &before))
		escaped := JSON(string(document))
		require.NoError(t, json.Unmarshal([]byte(escaped), &after), escaped)
		require.Equal(t, before, after)
		require.False(t, strings.ContainsFunc(escaped, hidden) || commands(escaped), escaped)

		if strings.TrimSpace(line) == "" {
			return // Markdown has no paragraph without a letter
		}
		want := strings.NewReplacer(`"`, "&quot;", "<", "&lt;", ">", "&gt;", "&", "&amp;").Replace(line)
		for _, place := range [][3]string{{"", "Paragraph", ""}, {"### ", "Heading", ""}, {"- ", "List ListItem TextBlock", ""}, {"| a |\n|---|\n| ", "", " |\n"}} {
			source := place[0] + Markdown(s) + place[2]
			names, page := kinds(t, source)
			if place[1] != "" {
				require.Equal(t, "Document "+place[1]+" Text", strings.Join(names, " "), "%q", source)
			} else {
				require.Equal(t, "Document Table TableHeader TableCell Text TableRow TableCell Text", strings.Join(names, " "), "%q", source)
			}
			require.Contains(t, strings.ReplaceAll(page, "\u200b", ""), ">"+want+"<", "%q", source)
		}
	})
}
