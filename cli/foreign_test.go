package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	markdown "github.com/yuin/goldmark/text"
)

// hostile has what terminals, build servers, Markdown and HTML take for more than text. It may stand in a file's name.
const hostile = "::error::a\n::set-output name=x::b\r\n## h\n\x1b[31mred\u202e\u2028\u0085<b>&amp;|`c`|[d](http:e)![f](g) ##[error] @org*team www.evil.example %0A ]]> \t::warning::z"

// annotation is a command of GitHub Actions that optratio writes itself.
var annotation = regexp.MustCompile(`^::(error|warning|notice) title=[^:,]*::`)

// unseen is what no text of ours holds.
func unseen(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\u200b' // which keeps names of users apart in Markdown
}

// checkText asserts that a text is so many lines, in which nothing is hidden and none is a command of a build server that we did not write.
func checkText(t *testing.T, text string, lines int) {
	assert.False(t, strings.ContainsFunc(text, unseen), "%q", text)
	assert.Equal(t, lines, strings.Count(text, "\n"), text)
	for line := range strings.Lines(text) {
		if !annotation.MatchString(line) {
			assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##["), line)
		}
	}
}

// checkMarkdown asserts that a text has no links, pictures, code or HTML, and names nobody.
func checkMarkdown(t *testing.T, source string) {
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(markdown.NewReader([]byte(source)))
	headings := 0
	require.NoError(t, ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Link, *ast.AutoLink, *ast.Image, *ast.RawHTML, *ast.HTMLBlock, *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock:
			t.Errorf("%s in %s", n.Kind(), source)
		case *ast.Heading:
			if entering {
				headings++
			}
		}
		return ast.WalkContinue, nil
	}))
	assert.Equal(t, 1, headings, source)
	assert.NotRegexp(t, `@[a-z]`, source)
}

// TestForeignText: whatever labels, file names, command lines and messages of programs hold, what leaves the command has as many lines as with plain
// ones, and none of them says or does something else.
func TestForeignText(t *testing.T) {
	quoted, err := json.Marshal(hostile)
	require.NoError(t, err)
	inside := strings.Trim(string(quoted), `"`) // of a JSON string
	said := strings.NewReplacer(`\`, `\\`, `'`, `'\''`, `%`, `%%`).Replace(inside)
	files := map[string]string{
		"table":   `{"input":"NAME","pmf":{"NAME":"3/5","b":"2/5"}}` + "\n" + `{"input":"c","pmf":{"NAME":"1/5","b":"4/5"}}` + "\n",
		"inputs":  `"NAME"` + "\n" + `"c"` + "\n",
		"pairs":   "0,1\n",
		"vectors": "0,0\n1,0\n",
		"counts":  "3\n2\n",
		"problem": `{"inputs":["NAME","c"],"outputs":["NAME","d"],"pairs":[["NAME","c"]],"loss":[["0","1"],["1","0"]]}`,
	}
	const sampler = `: 'NAME'; while read -r q; do s=${q##*:}; s=${s%?}; printf '{"counts":{"SAID":%d,"b":%d}}\n' $((s/2)) $((s-s/2)); done`
	for name, c := range map[string]struct {
		args    []string
		formats []string
		code    int
	}{
		"table":      {[]string{"audit", "--pmf-file", "table", "--inputs", "inputs", "--neighbors", "pairs", "--outcomes", "labels", "--eps", "0.1"}, []string{"text", "github", "markdown", "json", "html"}, 1},
		"command":    {[]string{"audit", "--pmf-exec", `: 'NAME'; while read -r q; do echo '{"pmf":["1/2","1/2"]}'; done`, "--eps", "0.1", "-n", "2", "-k", "1", "--property", "dp"}, []string{"text", "github", "markdown", "json", "html"}, 0},
		"error":      {[]string{"audit", "--pmf-exec", `while read -r q; do printf '{"error":"SAID"}\n'; done`, "--eps", "0.1", "-n", "2", "-k", "1"}, []string{"text", "github", "markdown", "json", "html"}, 1},
		"stderr":     {[]string{"audit", "--pmf-exec", `while read -r q; do case $q in *'[-1,0]'*) printf 'SAID\n' >&2; exit 3;; esac; echo '{"pmf":["1/2","1/2"]}'; done`, "--eps", "0.1", "-n", "2", "-k", "1", "--property", "dp"}, []string{"text", "github", "markdown", "json", "html"}, -1},
		"sampler":    {[]string{"audit", "--sample-exec", sampler, "--inputs", "inputs", "--neighbors", "pairs", "--outcomes", "labels", "--eps", "0.1", "--budget", "2000"}, []string{"text", "github", "markdown", "json", "html"}, -1},
		"domain":     {[]string{"verify", "--mechanism", "pf", "--domain", "vectors", "--eps", "1"}, []string{"text", "json"}, 0},
		"calibrate":  {[]string{"calibrate", "--mechanism", "pf", "--domain", "vectors", "--eps", "1"}, []string{"text", "json"}, 0},
		"optimum":    {[]string{"optimum", "problem", "--eps", "1", "--optimal", "NAME.csv"}, []string{"text", "json"}, 0},
		"sweep":      {[]string{"sweep", "-n", "2", "-k", "1", "--eps", "1", "-o", "NAME.csv"}, []string{"text", "json"}, 0},
		"subject":    {[]string{"ratio", "-n", "2", "-k", "1", "--eps", "1", "--pmf-exec", `: 'NAME'; while read -r q; do echo '{"pmf":["1/2","1/2"]}'; done`}, []string{"text", "json", "html"}, 0},
		"prior":      {[]string{"ratio", "-n", "2", "-k", "1", "--eps", "1", "--prior", "product:counts"}, []string{"text", "json"}, 0},
		"no program": {[]string{"audit", "--pmf-exec", `printf 'SAID\n' >&2; exit 3`, "--eps", "0.1"}, []string{"text"}, 2},
		"no file":    {[]string{"evaluate", "--task", "mode", "--histogram", "NAME.none", "--eps", "1"}, []string{"text"}, 2},
		"no problem": {[]string{"optimum", "inputs", "--eps", "1"}, []string{"text"}, 2},
		"no proof":   {[]string{"check", "problem"}, []string{"text"}, 2},
		"flag":       {[]string{"audit", "--NAME"}, []string{"text"}, 2},
		"argument":   {[]string{"NAME"}, []string{"text"}, 2},
	} {
		for _, format := range c.formats {
			t.Run(name+" "+format, func(t *testing.T) {
				lines := map[string]int{}
				for _, as := range []string{"plain", hostile} {
					t.Chdir(t.TempDir())
					in, inSaid := "plain", "plain"
					if as == hostile {
						in, inSaid = inside, said
					}
					t.Setenv(summaryVariable, "summary")
					args := append([]string{}, c.args...)
					for i, a := range args {
						for file, content := range files {
							if _, own, ok := strings.Cut(":"+a, ":"+file); ok && own == "" || a == file {
								args[i] = strings.TrimSuffix(a, file) + as + file
								require.NoError(t, os.WriteFile(as+file, []byte(strings.ReplaceAll(content, "NAME", in)), 0o644))
							}
						}
						args[i] = strings.NewReplacer("NAME", as, "SAID", inSaid).Replace(args[i])
					}
					switch format {
					case "json":
						args = append(args, "--json")
					case "html":
						args = append(args, "--html", as+".html")
					case "github", "markdown":
						args = append(args, "--format", format, "--junit", "junit")
					}
					var out, errs bytes.Buffer
					code := Run(context.Background(), args, strings.NewReader(""), &out, &errs)
					if c.code >= 0 {
						require.Equal(t, c.code, code, errs.String())
					}
					if as == "plain" {
						lines["out"], lines["err"] = strings.Count(out.String(), "\n"), strings.Count(errs.String(), "\n")
						continue
					}
					checkText(t, out.String(), lines["out"])
					checkText(t, errs.String(), lines["err"])
					switch format {
					case "json":
						require.True(t, json.Valid(out.Bytes()))
					case "markdown":
						checkMarkdown(t, out.String())
					case "github":
						summary, err := os.ReadFile("summary")
						require.NoError(t, err)
						checkMarkdown(t, string(summary))
						assert.False(t, strings.ContainsFunc(string(summary), unseen))
					case "html":
						page, err := os.ReadFile(filepath.Join(".", as+".html"))
						require.NoError(t, err)
						assert.False(t, strings.ContainsFunc(string(page), func(r rune) bool { return r != '\t' && unseen(r) }))
						assert.NotContains(t, string(page), "<b>")
					}
					if junit, err := os.ReadFile("junit"); err == nil {
						require.NoError(t, xml.Unmarshal(junit, new(junitSuites)))
						assert.False(t, strings.ContainsFunc(string(junit), unseen))
						assert.NotRegexp(t, "&#x[^A]|\ufffd", string(junit))
					}
				}
			})
		}
	}
}
