//go:build !js

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/number"
)

// TestTypesetter: what the documents have of their own, and what is refused.
func TestTypesetter(t *testing.T) {
	typeset := func(text string) (string, error) {
		s := &typesetter{href: func(target string) (string, error) { return "to:" + target, nil }, ask: func(command string) string {
			return map[string]string{"optratio -n 4": "index.html#n=4"}[command]
		}}
		return s.typeset(text)
	}
	const asked = `<a class="ask" title="ask this in the page" href="index.html#n=4">`
	for text, want := range map[string]string{
		"# The *best* `p_a`, q'_s\n":                          "<h1 id=\"the-best-p_a-q_s\">The <em>best</em> <code>p_a</code>, q'_s</h1>\n",
		"## A\n## A\n":                                        "<h2 id=\"a\">A</h2>\n<h2 id=\"a-1\">A</h2>\n",
		"q* is 2 * 3, *so V'_n* <= \\*\n":                     "<p>q* is 2 * 3, <em>so V'_n</em> &lt;= *</p>\n",
		"[*a* `[x]`](b.md#c) and [0,1]\n":                     "<p><a href=\"to:b.md#c\"><em>a</em> <code>[x]</code></a> and [0,1]</p>\n",
		"![A, b](c.svg)\n":                                    "<p><img src=\"to:c.svg\" alt=\"A, b\"></p>\n",
		"see https://a.org/b, c\n":                            "<p>see <a href=\"https://a.org/b\">https://a.org/b</a>, c</p>\n",
		"`a\nb` `optratio -n 4`\n":                            "<p><code>a b</code> " + asked + "<code>optratio -n 4</code></a></p>\n",
		"```console\n$ optratio -n 4\n<\n```\n<!-- end -->\n": "<pre tabindex=\"0\"><code>$ " + asked + "optratio -n 4</a>\n&lt;\n</code></pre>\n",
		"    optratio -n 4   # why\n\n    b\n":                "<pre tabindex=\"0\"><code>" + asked + "optratio -n 4</a>   # why\n\nb\n</code></pre>\n",
		"| a |\n|---|\n| \\|x\\| |\n\n": "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\">\n<table>\n<thead>\n<tr>\n<th scope=\"col\">a</th>\n</tr>\n</thead>\n" +
			"<tbody>\n<tr>\n<td>|x|</td>\n</tr>\n</tbody>\n</table>\n</div>\n",
	} {
		got, err := typeset(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"a <b>c</b>", "<br/>", "<div>\na\n</div>", "<!-- a -->\n\n<p>"} {
		got, err := typeset(text)
		assert.Error(t, err, "%q: %s", text, got)
	}
}

// built are the site's files but for the engine.
func built(t *testing.T) (l *library, files map[string]string) {
	files = map[string]string{}
	l, err := pages("..", func(name string, data []byte) error {
		assert.NotContains(t, files, name, "written twice")
		files[name] = string(data)
		return nil
	})
	require.NoError(t, err)
	return l, files
}

// TestDocumentsAreWhole: the pages of documents have their sources' texts, in the same order and nothing else.
func TestDocumentsAreWhole(t *testing.T) {
	l, files := built(t)
	marks := regexp.MustCompile("(?m)^<!--.*-->$|^ *```.*$|\\]\\([^)]*\\)|^\\|[-| ]*$|^#+ |^ {0,3}- |^ {0,3}\\d+\\. ")
	kept := func(text string) []rune {
		var out []rune
		for _, r := range text {
			if !unicode.IsSpace(r) && !strings.ContainsRune("*`|[]!\\", r) {
				out = append(out, r)
			}
		}
		return out
	}
	documents := 0
	for _, d := range l.pages {
		if len(d.headings) == 0 {
			continue
		}
		documents++
		text, err := os.ReadFile("../" + d.source)
		require.NoError(t, err)
		_, page, _ := strings.Cut(files[l.page(d.source)], "<article")
		page, _, _ = strings.Cut(page, "</article>")
		page = regexp.MustCompile(`<img [^>]*alt="([^"]*)">`).ReplaceAllString("<article"+page, "$1")
		want, got := kept(marks.ReplaceAllString(string(text), "")), kept(plainText(page))
		for i := range min(len(want), len(got)) {
			if want[i] != got[i] {
				require.Equal(t, string(want[max(0, i-40):i+1]), string(got[max(0, i-40):i+1]), d.source)
			}
		}
		assert.Len(t, got, len(want), d.source)
	}
	assert.Greater(t, documents, 30)
	if _, err := exec.LookPath("coqdoc"); err == nil {
		assert.Contains(t, files["proofs/Statements.v.html"], "<h2>Where permute-and-flip is optimal</h2>")
		assert.NotContains(t, files["proofs/Statements.v.html"], `class="id"`)
	}
	all, err := filepath.Glob("../docs/*/*.md")
	require.NoError(t, err)
	for _, name := range all {
		assert.NotEmpty(t, files[strings.TrimSuffix(strings.TrimPrefix(name, "../"), ".md")+".html"], "no document leads to %s", name)
	}
}

// TestEveryLinkLeadsSomewhere: what the pages refer to is in the site's folder, anchors too, and every document in the contents.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	l, files := built(t)
	files["wasm_exec.js"] = "" // which scripts/site adds
	contents, links := map[string]bool{}, 0
	for name, page := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		assert.NotContains(t, page, `src="http`)
		for _, one := range []string{"<h1", "<main", "</h1>", "</main>"} {
			assert.Equal(t, 1, strings.Count(page, one), "%s: %s", name, one)
		}
		for _, m := range regexp.MustCompile(` (?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			to, err := url.Parse(html.UnescapeString(m[1]))
			require.NoError(t, err)
			if to.Scheme != "" {
				continue
			}
			links++
			file := name
			if to.Path != "" {
				file = path.Join(path.Dir(name), to.Path)
			}
			target, there := files[file]
			form := strings.Contains(target, "<form method")
			assert.True(t, there && (to.Fragment == "" || form || strings.Contains(target, ` id="`+to.Fragment+`"`)), "%s refers to %s", name, m[1])
			contents[file] = true
		}
	}
	for _, d := range l.pages {
		assert.True(t, contents[l.page(d.source)], d.source)
	}
	assert.Greater(t, links, 2000)
}

// TestQuestionsOfDocuments: what a command in a document leads to asks the same, and has the same answer.
func TestQuestionsOfDocuments(t *testing.T) {
	l, _ := built(t)
	t.Chdir("..")
	asked := map[string]string{} // by command
	for _, d := range l.pages {
		for _, m := range regexp.MustCompile(`class="ask" [^>]*href="(?:\.\./)*([^"]*)">(.*?)</a>`).FindAllStringSubmatch(d.markup, -1) {
			asked[plainText(m[2])] = html.UnescapeString(m[1])
		}
	}
	assert.Greater(t, len(asked), 10)
	for line, address := range asked {
		line = regexp.MustCompile(` --cert \S+`).ReplaceAllString(strings.TrimPrefix(line, "optratio "), "")
		if strings.Contains(line, "-k 15") || strings.Contains(line, "count:40") {
			continue // they take a quarter of a minute, and ask nothing that the others do not
		}
		t.Run(line, func(t *testing.T) {
			to, err := url.Parse(address)
			require.NoError(t, err)
			values, err := url.ParseQuery(to.EscapedFragment())
			require.NoError(t, err)
			var asked front.Job
			site := &front.Site{Static: true, Run: func(_ context.Context, j front.Job) (*job.Answer, error) {
				asked = j
				return nil, number.InputError("no answer")
			}}
			site.Begin(strings.TrimSuffix(strings.TrimSuffix(to.Path, ".html"), "index"), values).Next(t.Context())
			question, err := json.Marshal(asked.Question)
			require.NoError(t, err)
			question = bytes.ReplaceAll(question, []byte(`/1"`), []byte(`"`)) // a document has e^ε as it was given
			agrees(t, strings.Fields(line), written{Kind: job.CommandLine(asked.Question)[0], Question: question, Files: asked.Files}.answered(t.Context()))
		})
	}
	assert.Contains(t, asked, "optratio -n 4 -k 4 --eps 0.5")
	assert.NotContains(t, asked, "optratio ratio -n 20 -k 10 --eps 0.5 --method lumped")
}

// TestIndex: the search finds a theorem below its heading.
func TestIndex(t *testing.T) {
	_, files := built(t)
	var index []section
	require.NoError(t, json.Unmarshal([]byte(files["index.json"]), &index))
	assert.Greater(t, len(index), 150)
	for _, s := range index {
		if s.Page == "research/docs/universal.html" && strings.Contains(s.Text, "25/18") {
			assert.Equal(t, "Bounds for every n, every k and every ε at once", s.Title)
			assert.Contains(t, files[s.Page], fmt.Sprintf(`id="%s"`, s.ID))
			return
		}
	}
	assert.Fail(t, "not found")
}

// mostWords bounds the words of the documents for users; what is proved is in research/docs.
const mostWords = 12_000

func TestDocumentsAreShort(t *testing.T) {
	words := 0
	require.NoError(t, filepath.WalkDir("../docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			text, err := os.ReadFile(path)
			words += len(strings.Fields(string(text)))
			return err
		}
		return err
	}))
	assert.LessOrEqual(t, words, mostWords)
	assert.Greater(t, words, mostWords-2000)
}
