//go:build browser

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/document"
	"optratio/internal/front"
)

// builtSite is the folder of the static site, built once.
var builtSite = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "site")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("../scripts/site", folder).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return folder, nil
})

// siteServed serves the static site by a plain file server, in a folder below its root, and opens a browser that may ask for nothing else.
func siteServed(t *testing.T) (ctx context.Context, at string, errors *[]string) {
	folder, err := builtSite()
	require.NoError(t, err)
	server := httptest.NewServer(http.StripPrefix("/some/where/", http.FileServer(http.Dir(folder))))
	t.Cleanup(server.Close)
	at = server.URL + "/some/where/"
	ctx, errors = browser(t)
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok && !strings.HasPrefix(e.Request.URL, at) && !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "blob:"+server.URL) {
			*errors = append(*errors, "a request beyond the folder: "+e.Request.URL)
		}
	})
	require.NoError(t, chromedp.Run(ctx, network.Enable()))
	return ctx, at, errors
}

// answerShown waits until a page has an answer for good.
func answerShown(text *string) chromedp.Action {
	return chromedp.Tasks{
		chromedp.Poll(`document.querySelector("#head .word, #head [role=alert]") && /^(done|error)/.test(document.getElementById("state").textContent)`, nil, chromedp.WithPollingTimeout(2*time.Minute)),
		chromedp.Text("#head .word, #head [role=alert]", text, chromedp.ByQuery),
	}
}

// visits counts, so that every address is new: another fragment alone would keep the page.
var visits atomic.Int64

// open opens an address anew.
func open(address string) chromedp.Action {
	path, fragment, _ := strings.Cut(address, "#")
	return chromedp.Navigate(fmt.Sprintf("%s?visit=%d#%s", path, visits.Add(1), fragment))
}

// TestBrowserSite asks the static site and compares its numbers with the command's.
func TestBrowserSite(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var word, page, text string
	var took, painted float64
	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=4&k=4&eps=0.5"), answerShown(&word), chromedp.Text(".board", &page, chromedp.ByQuery),
		chromedp.Evaluate(`performance.getEntriesByName("answer")[0].startTime - performance.getEntriesByName("engine")[0].startTime`, &took),
		chromedp.Evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`, &painted)))
	assert.Equal(t, "pf has 1.00858… times the least mean expected error possible", word)
	assert.Contains(t, page, "1.00858032288…")
	assert.Contains(t, page, "optratio ratio -n 4 -k 4 --eps 0.5\n")
	assert.Contains(t, page, "pf is optimal from here on", "the curve over ε")
	t.Logf("the first paint came after %.0f ms, the first answer %.0f ms after the engine was there", painted, took)

	// The whole state is in a link, be it of a mechanism that the form does not list.
	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=3&k=2&eps=3/2&of=exp-eps&mechanism=geo&mechanism=geo-pair&loss=square&constraints=dp&step=delta"), answerShown(&word),
		chromedp.Text(".board", &page, chromedp.ByQuery), chromedp.Value("#loss", &text, chromedp.ByQuery)))
	assert.Equal(t, "square", text)
	line := "ratio -n 3 -k 2 --exp-eps 3/2 --mechanism geo,geo-pair --constraints dp --loss square --step delta"
	assert.Contains(t, page, "optratio "+line)
	_, out, _ := quietly(append(strings.Fields(line), "--json")...)
	var doc document.Ratio
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	for _, m := range doc.Mechanisms {
		assert.Contains(t, page, m.Error.String())
		assert.Contains(t, page, m.Ratio.String())
	}

	// A long job does not keep a newer question waiting, and the address says what is asked now.
	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=12&k=9&eps=0.2"), chromedp.Poll(`document.getElementById("state").textContent.startsWith("working")`, nil),
		chromedp.SetValue("#k", "1", chromedp.ByQuery), chromedp.Evaluate(`document.getElementById("k").dispatchEvent(new Event("input", {bubbles: true}))`, nil),
		chromedp.Poll(`(document.querySelector("#head h2") || {textContent: ""}).textContent.includes("k = 1 ")`, nil, chromedp.WithPollingTimeout(20*time.Second)),
		chromedp.Poll(`location.hash.startsWith("#n=12&k=1&eps=0.2")`, nil)))

	// What is wrong is said.
	require.NoError(t, chromedp.Run(ctx, open(at+"pmf.html#scores=0,x"), answerShown(&word)))
	assert.Equal(t, "scores: give decimals, comma-separated, such as 0,-1,-2.5", word)
	assert.Empty(t, *errors)
}

// typed puts a text into a field.
func typed(id, text string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf("document.getElementById(%q).value = %q", id, text), nil)
}

// TestBrowserSiteAudits audits a function that forgot a factor 2, one that did not, one that hangs and one that is none; and a table in CSV.
func TestBrowserSiteAudits(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var word, page, code string
	audit := func() {
		require.NoError(t, chromedp.Run(ctx, chromedp.Click("form button", chromedp.ByQuery), answerShown(&word), chromedp.Text(".board", &page, chromedp.ByQuery)))
	}
	require.NoError(t, chromedp.Run(ctx, open(at+"javascript.html"), chromedp.Value("#code", &code, chromedp.ByQuery)))
	audit()
	assert.Equal(t, "No: it is not 1-DP", word)
	assert.Contains(t, page, "On scores (0, 0) it picks candidate 0 with probability 0.5")
	assert.Contains(t, page, "Tight ε 2; claimed: 1.")
	shot(t, ctx, "site-javascript-refuted")

	require.NoError(t, chromedp.Run(ctx, typed("code", strings.Replace(code, "/ sensitivity", "/ (2 * sensitivity)", 1))))
	audit()
	assert.Equal(t, "Yes: it is 1-DP on what was examined", word)

	// What fails is shown and asked no more; what answers otherwise when it is asked again is told.
	for code, want := range map[string]string{
		"(scores) => { while (scores.length > 2); return [0.5, 0.5]; }": "it does not answer within 2 s",
		"(scores) => {":                        "SyntaxError",
		"(scores) => scores.sort().nonsense()": "code: at the scores [0 0 0], epsilon 1 and sensitivity 1: TypeError: scores.sort(...).nonsense is not a function",
		`(scores) => { importScripts("https://example.org/x.js"); return [1]; }`: "NetworkError", // the page's policy is that of its worker
	} {
		require.NoError(t, chromedp.Run(ctx, typed("code", code)))
		audit()
		assert.Contains(t, word, want)
		var state, field string
		require.NoError(t, chromedp.Run(ctx, chromedp.Text("#state", &state, chromedp.ByQuery), chromedp.Text("#code-wrong", &field, chromedp.ByQuery)))
		assert.Contains(t, state, "error: code: ")
		assert.Contains(t, field, want)
	}
	*errors = nil // the refused script is one
	require.NoError(t, chromedp.Run(ctx, typed("code", "(scores) => { const p = Math.random(); return [p, 1 - p, ...scores.slice(2).map(() => 0)]; }")))
	audit()
	assert.Contains(t, word, "not deterministic")
	assert.Contains(t, page, "asked twice, candidate 0 has probability")

	// A link to a function does not run it.
	require.NoError(t, chromedp.Run(ctx, open(at+"javascript.html#n=2&k=1&eps=1&code=x"), chromedp.Sleep(500*time.Millisecond), chromedp.Text("#state", &page, chromedp.ByQuery), chromedp.Value("#code", &code, chromedp.ByQuery)))
	assert.Equal(t, "x", code)
	assert.Equal(t, "not asked yet", page)

	require.NoError(t, chromedp.Run(ctx, open(at+"audit.html"), typed("pmf-file", "q0,q1,p0,p1\n0,0,1/2,1/2\n1,0,9/10,1/10\n")))
	audit()
	assert.Equal(t, "No: it is not 0.5-DP", word)
	require.NoError(t, chromedp.Run(ctx, chromedp.Text("body", &page, chromedp.ByQuery)))
	assert.Contains(t, page, "Nothing leaves this machine")
	assert.Empty(t, *errors)
}

// TestBrowserSiteChecks has a certificate of the command checked, whole and with a digit changed.
func TestBrowserSiteChecks(t *testing.T) {
	ctx, at, errors := siteServed(t)
	path := filepath.Join(t.TempDir(), "a.cert")
	code, _, errs := quietly(strings.Fields("ratio -n 3 -k 3 --exp-eps 3/2 --cert " + path)...)
	require.Zero(t, code, errs)
	var word string
	require.NoError(t, chromedp.Run(ctx, open(at+"check.html"), chromedp.SetUploadFiles("input[type=file]", []string{path}, chromedp.ByQuery), answerShown(&word)))
	assert.Equal(t, "Yes: every claim in it follows from the values that it holds", word)
	shot(t, ctx, "site-checked")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	wrong := filepath.Join(t.TempDir(), "b.cert")
	require.NoError(t, os.WriteFile(wrong, bytes.Replace(data, []byte("dual 2 1 0 0 1\n"), []byte("dual 2 1 0 0 2\n"), 1), 0o644))
	require.NoError(t, chromedp.Run(ctx, open(at+"check.html"), chromedp.SetUploadFiles("input[type=file]", []string{wrong}, chromedp.ByQuery), answerShown(&word)))
	assert.Contains(t, word, "No: ")
	assert.Empty(t, *errors)
}

// looks shows the page at three widths, in light and dark.
func looks(t *testing.T, ctx context.Context, name string, check func(name string)) {
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 800, 1400} {
			require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})))
			name := fmt.Sprintf("%s-%d-%s", name, width, scheme)
			check(name)
			shot(t, ctx, name)
		}
	}
	media := func(media string, width int64) chromedp.Action {
		return chromedp.Tasks{chromedp.EmulateViewport(width, 900), emulation.SetEmulatedMedia().WithMedia(media)}
	}
	require.NoError(t, chromedp.Run(ctx, media("print", 800)))
	shot(t, ctx, name+"-print")
	require.NoError(t, chromedp.Run(ctx, media("", 1400)))
}

// TestBrowserSiteLimit: a step that passes its limit is ended with its worker, the answer before it stays, and the next question is answered.
func TestBrowserSiteLimit(t *testing.T) {
	const workers = `window.all = []; window.questions = 0; window.Worker = class {
		constructor() { all.push(this); }
		terminate() { this.ended = true; }
		postMessage(m) {
			if (m.module) return;
			const n = ++questions, say = (event) => setTimeout(() => this.onmessage({ data: event }));
			say({ kind: "working", text: "working", value: 100 });
			if (n !== 2 && n !== 4) say({ kind: "answer", head: "<p class=word>answer " + n + "</p>", text: "", more: n === 1 }); // the others never end
		}
	};`
	ctx, at, errors := siteServed(t)
	ended := func(text *string) chromedp.Action {
		return chromedp.Tasks{chromedp.Poll(`document.getElementById("state").textContent.includes("time limit")`, nil), chromedp.Text("#head", text, chromedp.ByQuery)}
	}
	again := chromedp.Evaluate(`document.querySelector("form").requestSubmit()`, nil)
	var first, second, third string
	var over []bool
	require.NoError(t, chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(workers).Do(ctx)
		return err
	}), open(at+"rate.html"), again, ended(&first), again, answerShown(&second), again, ended(&third), chromedp.Evaluate(`all.map(w => !!w.ended)`, &over)))
	assert.Equal(t, "answer 1", first)
	assert.Equal(t, "answer 3", second)
	assert.Contains(t, third, "There is no answer within the time limit")
	assert.Equal(t, []bool{true, true, false}, over)
	assert.Empty(t, *errors)
}

// TestBrowserSiteLooks opens every page of the site at three widths, in light and dark, with an answer.
func TestBrowserSiteLooks(t *testing.T) {
	ctx, at, errors := siteServed(t)
	for _, v := range (&front.Site{Static: true}).Views() {
		view := v.Name
		var word string
		actions := chromedp.Tasks{chromedp.EmulateViewport(1400, 900), open(at + front.File(view))}
		if view != "" {
			actions = append(actions, chromedp.Click("form button", chromedp.ByQuery), answerShown(&word))
		}
		require.NoError(t, chromedp.Run(ctx, actions), view)
		looks(t, ctx, "site-"+strings.TrimSuffix(front.File(view), ".html"), func(name string) { fits(t, ctx, name) })
		var unnamed int
		require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(`[...document.querySelectorAll("input, select, textarea, button")].filter(e => !(e.labels && e.labels.length) && !e.getAttribute("aria-label") && !e.textContent.trim()).length`, &unnamed)))
		assert.Zero(t, unnamed, "%s: fields without a name for screen readers", view)
	}
	assert.Empty(t, *errors)
}

// TestBrowserSiteDocuments reads the documents: a printed command leads to its answer, the search finds titles first, and pages fit.
func TestBrowserSiteDocuments(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var word, text, address string
	require.NoError(t, chromedp.Run(ctx, open(at+"README.html"), chromedp.Click(`//a[text()="optratio -n 4 -k 4 --eps 0.5"]`, chromedp.BySearch), chromedp.WaitVisible("#head .word", chromedp.ByQuery), answerShown(&word),
		chromedp.Click(`//nav//a[text()="Documents"]`, chromedp.BySearch), chromedp.WaitVisible("#query", chromedp.ByQuery), chromedp.Location(&address)))
	assert.Equal(t, "pf has 1.00858… times the least mean expected error possible", word)
	assert.Equal(t, at+"README.html", address)

	// A search for words of a title and of texts; the slash leads to it, and its results to the part of the page.
	found := `[...document.querySelectorAll("#found li")]`
	require.NoError(t, chromedp.Run(ctx, chromedp.KeyEvent("/"), chromedp.Evaluate("document.activeElement.id", &word),
		typed("query", ""), chromedp.KeyEvent("sharp threshold"), chromedp.WaitVisible("#found li", chromedp.ByQuery),
		chromedp.Evaluate(found+`.map(e => e.querySelector("a").textContent).join("|")`, &text)))
	assert.Equal(t, "query", word)
	assert.True(t, strings.HasPrefix(text, "The sharp threshold, for every loss and prior|"), text)
	require.NoError(t, chromedp.Run(ctx, typed("query", ""), chromedp.SendKeys("#query", "GEM USES HALF", chromedp.ByQuery),
		chromedp.Poll(found+`[0].textContent.includes("uses half")`, nil), chromedp.Text("#found li p", &text, chromedp.ByQuery)))
	assert.Contains(t, text, "gem uses half the depth")
	shot(t, ctx, "site-search")
	require.NoError(t, chromedp.Run(ctx, chromedp.Click("#found li a", chromedp.ByQuery), chromedp.WaitVisible("#different-sensitivities", chromedp.ByQuery), chromedp.Location(&address)))
	assert.Equal(t, at+"research/docs/results.html#different-sensitivities", address)
	require.NoError(t, chromedp.Run(ctx, chromedp.SendKeys("#query", "zebra", chromedp.ByQuery), chromedp.WaitVisible("#found", chromedp.ByQuery),
		chromedp.Poll(`document.querySelector("#found p").textContent == "Nothing was found."`, nil), chromedp.KeyEvent(kb.Escape), chromedp.WaitVisible("article", chromedp.ByQuery)))

	// Words that stand in different parts of a page find it too, the part whose heading has one of them first.
	require.NoError(t, chromedp.Run(ctx, typed("query", ""), chromedp.SendKeys("#query", "python install", chromedp.ByQuery), chromedp.Poll(`document.querySelector("#found li")`, nil),
		chromedp.Evaluate(found+`.map(e => e.querySelector("a").textContent).slice(0, 3).join("|")`, &text)))
	assert.Contains(t, text, "Python")

	for _, page := range []string{"README", "research/docs/map", "docs/reference/certificate", "docs/reference/commands", "research/docs/figures"} {
		require.NoError(t, chromedp.Run(ctx, open(at+page+".html")))
		looks(t, ctx, "document-"+strings.ReplaceAll(page, "/", "-"), func(name string) { fits(t, ctx, name) }) // code may be scrolled in its place
	}
	assert.Empty(t, *errors)
}
