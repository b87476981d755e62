//go:build !js

package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/mechanisms"
)

var (
	//go:embed search.js
	searchScript []byte
	//go:embed documents.css
	documentStyle string
)

// article is a page of the site that is made of a file or a folder of the repository.
type article struct {
	source   string // its name in the repository
	markup   string
	headings []heading // of a file in Markdown
}

func (d *article) title() string {
	if len(d.headings) > 0 {
		return d.headings[0].text
	}
	return d.source
}

// library makes pages of the README and all that it leads to.
type library struct {
	root  string // of the repository
	front *front.Site
	pages []*article
	files map[string]bool   // pictures
	coq   map[string]string // what coqdoc makes of a file, by the file
}

// page is the file of a source's page: beside the source, so that links lead as far as they did.
func (l *library) page(source string) string {
	if name, ok := strings.CutSuffix(source, ".md"); ok {
		return name + ".html"
	}
	if info, err := os.Stat(filepath.Join(l.root, source)); err == nil && info.IsDir() {
		return source + "/index.html"
	}
	return source + ".html"
}

// up leads from a page's folder to that of the site.
func up(page string) string { return strings.Repeat("../", strings.Count(page, "/")) }

// read makes the pages; making one may add others. The document that has its folder's name begins its group.
func (l *library) read() error {
	var err error
	if l.coq, err = coqdoc(l.root); err != nil {
		return err
	}
	l.add("README.md")
	for i := 0; i < len(l.pages); i++ {
		if err := l.make(l.pages[i]); err != nil {
			return fmt.Errorf("%s: %w", l.pages[i].source, err)
		}
	}
	first := func(a *article) int {
		return job.Choose(strings.TrimSuffix(path.Base(a.source), ".md") == path.Base(path.Dir(a.source)), 0, 1)
	}
	slices.SortStableFunc(l.pages, func(a, b *article) int { return first(a) - first(b) })
	return nil
}

func (l *library) add(source string) {
	if !slices.ContainsFunc(l.pages, func(d *article) bool { return d.source == source }) {
		l.pages = append(l.pages, &article{source: source})
	}
}

// make makes a page: of a folder that lists its files that are texts, of a document, or of any other text.
func (l *library) make(d *article) error {
	if entries, err := os.ReadDir(filepath.Join(l.root, d.source)); err == nil {
		d.markup = "<h1>" + html.EscapeString(d.source) + "</h1>\n<ul>\n"
		for _, e := range entries {
			if _, err := l.text(d.source + "/" + e.Name()); err != nil || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			to, err := l.href(d.source, e.Name())
			if err != nil {
				return err
			}
			d.markup += fmt.Sprintf("<li><a href=\"%s\">%s</a></li>\n", html.EscapeString(to), html.EscapeString(e.Name()))
		}
		d.markup += "</ul>\n"
		return nil
	}
	if markup, ok := l.coq[d.source]; ok {
		for source := range l.coq { // to which it may link
			l.add(source)
		}
		d.markup = "<h1>" + html.EscapeString(d.source) + "</h1>\n" + markup
		return nil
	}
	text, err := l.text(d.source)
	if err != nil || path.Ext(d.source) != ".md" {
		d.markup = "<h1>" + html.EscapeString(d.source) + "</h1>\n<pre tabindex=\"0\"><code>" + html.EscapeString(text) + "</code></pre>\n"
		return err
	}
	t := &typesetter{
		href: func(target string) (string, error) { return l.href(path.Dir(d.source), target) },
		ask:  func(command string) string { return l.ask(path.Dir(d.source), command) },
	}
	d.markup, err = t.typeset(text)
	if d.headings = t.headings; err == nil && (len(t.headings) == 0 || t.headings[0].level != 1 || t.headings[0].begin > 0) {
		err = errors.New("it does not begin with a title")
	}
	if l.page(d.source) == front.Mechanisms {
		d.markup = anchored(d.markup)
	}
	return err
}

// plainer makes coqdoc's markup a fifth as long: names of the libraries and of what is bound nearby are not marked, links lead to the site's pages, and headings are below the title.
var plainer = []struct {
	marked *regexp.Regexp
	plain  string
}{
	{regexp.MustCompile(`<a [^>]*><span class="id" title="(?:binder|variable|section)">([^<]*)</span></a>`), "$1"},
	{regexp.MustCompile(`<span class="id" title="keyword">([^<]*)</span>`), "<b>$1</b>"},
	{regexp.MustCompile(`<span class="id" title="[^"]*">([^<]*)</span>`), "$1"},
	{regexp.MustCompile(` class="idref"|<a id="lab\d+"></a>`), ""},
	{regexp.MustCompile(`<(/?)h1( class="section")?>`), "<${1}h2>"},
}

// coqdoc typesets the proofs, nil where it is not installed. Names are linked where make proofs left what they refer to.
func coqdoc(root string) (map[string]string, error) {
	if _, err := exec.LookPath("coqdoc"); err != nil {
		return nil, nil
	}
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	names, err := filepath.Glob(filepath.Join(root, "proofs", "*.v"))
	if err != nil {
		return nil, err
	}
	args := []string{"--html", "--body-only", "--short", "--no-externals", "--utf8", "-Q", ".", "Optratio", "-d", folder}
	for _, name := range names {
		args = append(args, filepath.Base(name))
	}
	var out []byte
	for _, more := range [][]string{nil, {"--no-glob"}} { // without links where make proofs was interrupted
		run := exec.Command("coqdoc", append(more, args...)...)
		run.Dir = filepath.Join(root, "proofs")
		if out, err = run.CombinedOutput(); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("coqdoc: %w\n%s", err, out)
	}
	made, there := map[string]string{}, map[string]bool{}
	for _, name := range names {
		markup, err := os.ReadFile(filepath.Join(folder, "Optratio."+strings.TrimSuffix(filepath.Base(name), ".v")+".html"))
		if err != nil {
			return nil, err
		}
		text := string(markup)
		for _, p := range plainer {
			text = p.marked.ReplaceAllString(text, p.plain)
		}
		made["proofs/"+filepath.Base(name)] = text
		for _, m := range regexp.MustCompile(`<a id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			there[strings.TrimSuffix(filepath.Base(name), ".v")+"#"+m[1]] = true
		}
	}
	link := regexp.MustCompile(`<a href="Optratio\.(\w+)\.html(#[^"]*)">([^<]*)</a>`)
	for name, text := range made {
		made[name] = link.ReplaceAllStringFunc(text, func(a string) string {
			m := link.FindStringSubmatch(a)
			if !there[m[1]+m[2]] { // what is bound nearby, and all where a file was changed after make proofs
				return m[3]
			}
			return fmt.Sprintf(`<a href="%s.v.html%s">%s</a>`, m[1], m[2], m[3])
		})
	}
	return made, nil
}

// anchored gives each mechanism an anchor: where a heading, a paragraph, an item or a row begins with its name or has it first, and else at the beginning.
func anchored(markup string) string {
	for _, name := range mechanisms.Names() {
		code, id := "<code>"+regexp.QuoteMeta(name)+"</code>", ` id="`+front.Anchor(name)+`"`
		at := regexp.MustCompile("<h[2-6][^>]*>[^\n]*" + code + "|<(p|li|td)>(<strong>)?" + code + "|<strong>[^\n<]*" + code).FindStringIndex(markup)
		if at == nil {
			markup = "<span" + id + "></span>" + markup
			continue
		}
		at[0] = at[1] - len("<code>"+name+"</code>")
		markup = markup[:at[0]] + "<code" + id + markup[at[0]+len("<code"):]
	}
	return markup
}

func (l *library) text(source string) (string, error) {
	text, err := os.ReadFile(filepath.Join(l.root, source))
	if err == nil && !utf8.Valid(text) {
		err = errors.New("it is not text")
	}
	return string(text), err
}

// href is the address of what a page in a folder names.
func (l *library) href(folder, target string) (string, error) {
	name, anchor, anchored := strings.Cut(target, "#")
	if name == "" || strings.Contains(target, "://") {
		return target, nil
	}
	source := path.Join(folder, name)
	if _, err := os.Stat(filepath.Join(l.root, source, "README.md")); err == nil {
		source += "/README.md"
	}
	if _, err := os.Stat(filepath.Join(l.root, source)); err != nil || strings.HasPrefix(source, "..") {
		return "", fmt.Errorf("%s leads nowhere", target)
	}
	to := source
	if ext := path.Ext(source); ext == ".svg" || ext == ".png" {
		l.files[source] = true
	} else {
		l.add(source)
		to = l.page(source)
	}
	to, err := filepath.Rel(folder, to)
	if to = filepath.ToSlash(to); anchored {
		to += "#" + anchor
	}
	return to, err
}

// ask is the address of the view that asks what a command asks, "" where none does.
func (l *library) ask(folder, command string) string {
	var words []string
	for i, part := range strings.Split(command, "'") { // in quotes or not
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	if words[0] != "optratio" {
		return ""
	}
	to := l.front.Link(words[1:], l.text)
	if to != "" {
		to = up(path.Join(folder, "x")) + to
	}
	return to
}

// groups are the parts of the contents, and where their documents are.
var groups = []struct{ folder, name string }{
	{".", "Overview"}, {"docs/use", "Use"}, {"docs/explanation", "Explanation"}, {"docs/reference", "Reference"}, {"docs/development", "Development"},
	{"research/docs", "Research"}, {"proofs", "Proofs"}, {"examples", "Examples"},
}

// contents lists all documents, and the parts of the one that is shown.
func (l *library) contents(shown *article) (all []front.Group) {
	for _, g := range groups {
		in := front.Group{Name: g.name}
		for _, d := range l.pages {
			if len(d.headings) == 0 || group(d) != g.folder {
				continue
			}
			link := front.Link{To: up(l.page(shown.source)) + l.page(d.source), Text: d.title(), Current: d == shown}
			for _, h := range d.headings[1:] {
				if h.level <= 2 && d == shown {
					link.Parts = append(link.Parts, front.Link{To: "#" + h.id, Text: h.text})
				}
			}
			in.Links = append(in.Links, link)
		}
		all = append(all, in)
	}
	return all
}

// group is the folder of the group of a document.
func group(d *article) string {
	for _, g := range groups {
		if folder := path.Dir(d.source); folder == g.folder || strings.HasPrefix(folder, g.folder+"/") {
			return g.folder
		}
	}
	return ""
}

// section is what the search looks through: a part of a page below one heading.
type section struct {
	Page, Title, ID, Heading, Text string
}

// index lists the sections of all documents.
func (l *library) index() (all []section) {
	for _, d := range l.pages {
		for i, h := range d.headings {
			end := len(d.markup)
			if i+1 < len(d.headings) {
				end = d.headings[i+1].begin
			}
			_, inside, _ := strings.Cut(d.markup[h.begin:end], "\n") // without the heading
			text := plainText(strings.ReplaceAll(inside, "</t", " </t"))
			all = append(all, section{l.page(d.source), d.title(), h.id, h.text, strings.Join(strings.Fields(text), " ")})
		}
	}
	return all
}

// write leaves the pages, their pictures and the index in a folder.
func (l *library) write(write func(name string, data []byte) error) error {
	for _, d := range l.pages {
		if len(d.headings) > 0 && group(d) == "" {
			return fmt.Errorf("%s: it belongs to no group of the contents", d.source)
		}
		var page bytes.Buffer
		document := front.Document{Title: d.title(), Root: up(l.page(d.source)), Text: template.HTML(d.markup), Groups: l.contents(d)}
		if err := l.front.WriteDocument(&page, document); err != nil {
			return err
		}
		if err := write(l.page(d.source), page.Bytes()); err != nil {
			return err
		}
	}
	for name := range l.files {
		data, err := os.ReadFile(filepath.Join(l.root, name))
		if err = errors.Join(err, write(name, data)); err != nil {
			return err
		}
	}
	index, err := json.Marshal(l.index())
	return errors.Join(err, write("index.json", index))
}
