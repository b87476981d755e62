//go:build browser

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/front"
)

// TestBrowserSiteWithoutScript: every page has an answer, and the first one a failed audit drawn, in a browser that runs no scripts.
func TestBrowserSiteWithoutScript(t *testing.T) {
	ctx, at, _ := siteServed(t)
	require.NoError(t, chromedp.Run(ctx, emulation.SetScriptExecutionDisabled(true)))
	var text string
	for _, v := range (&front.Site{Static: true}).Views() {
		view := v.Name
		require.NoError(t, chromedp.Run(ctx, open(at+front.File(view)), chromedp.Text("main", &text, chromedp.ByQuery)), view)
		want := map[string]string{"": "No: it is not 0.5-DP", "javascript": "No: it is not 1-DP", "audit": "No: it is not 0.5-DP", "choose": "Recommended: gem-runner", "rate": "pf has 1.00858… times the least", "pmf": "pf: expected error", "optimum": "The least mean loss that is possible is", "evaluate": "The exponential mechanism's expected error", "check": "Yes: every claim in it follows"}[view]
		assert.Contains(t, text, want, view)
	}
	require.NoError(t, chromedp.Run(ctx, open(at+"index.html"), chromedp.WaitVisible("figure svg .bad", chromedp.ByQuery), chromedp.Text("body", &text, chromedp.ByQuery)))
	for _, want := range []string{"optratio", "Audit mine", "Choose", "Rate", "optratio " + Version} {
		assert.Contains(t, text, want)
	}
}

// TestBrowserSiteDrag: while a slider is dragged, answers come all the time, and the last one is that of where it is left.
func TestBrowserSiteDrag(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var word, eps string
	var answers int
	const drag = `(async () => {
		const s = document.querySelector("[aria-label='Privacy, ε, slider']");
		const before = performance.getEntriesByName("answer").length;
		for (let i = 0; i < 200; i++) { s.value = 0.3 + 0.05 * (i % 20); s.dispatchEvent(new Event("input", { bubbles: true })); await new Promise((r) => setTimeout(r, 10)); }
		window.while = performance.getEntriesByName("answer").length - before;
	})()`
	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=3&k=3&eps=0.5"), answerShown(&word), chromedp.Evaluate(drag, nil), chromedp.Poll("window.while !== undefined", nil), chromedp.Evaluate("window.while", &answers),
		chromedp.Poll(`document.querySelector("#head h2").textContent.includes("ε = 1.25")`, nil), answerShown(&word), chromedp.Value("#eps", &eps, chromedp.ByQuery)))
	t.Logf("%d answers in the two seconds of a drag", answers)
	assert.GreaterOrEqual(t, answers, 12)
	assert.Equal(t, "1.25", eps)
	assert.Equal(t, "pf is optimal: no such mechanism has a smaller mean expected error", word)
	assert.Empty(t, *errors)
}

// stateIs waits until the state says this.
func stateIs(text string) chromedp.Action {
	return chromedp.Poll(fmt.Sprintf(`document.getElementById("state").textContent.startsWith(%q)`, text), nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(time.Minute))
}

// input tells the page that a field has changed.
func input(id, text string) chromedp.Action {
	return chromedp.Tasks{typed(id, text), chromedp.Evaluate(fmt.Sprintf("document.getElementById(%q).dispatchEvent(new Event('input', {bubbles: true}))", id), nil)}
}

// TestBrowserSiteForm: a long question can be stopped; e^ε has a switch; numbers are taken as they are written; what is wrong is said at its field, and last.
func TestBrowserSiteForm(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var word, text string
	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=12&k=9&eps=0.2"), chromedp.WaitVisible("#stop", chromedp.ByQuery), chromedp.Click("#stop", chromedp.ByQuery), chromedp.WaitNotVisible("#stop", chromedp.ByQuery), chromedp.Text("#state", &text, chromedp.ByQuery)))
	assert.Contains(t, text, "stopped")

	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=3&k=2&eps=0.5"), answerShown(&word),
		chromedp.SetValue("[name=of]", "exp-eps", chromedp.ByQuery), chromedp.Evaluate(`for (const e of ["change", "input"]) document.querySelector("[name=of]").dispatchEvent(new Event(e, {bubbles: true}))`, nil),
		chromedp.Poll(`document.querySelector("#answer").textContent.includes("--exp-eps 1.649")`, nil), answerShown(&word), chromedp.Value("#eps", &text, chromedp.ByQuery)))
	assert.Equal(t, "1.649", text)
	for _, eps := range []string{"1e-6", ".5"} {
		require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=2&k=2&eps="+eps), answerShown(&word), chromedp.Text("#answer", &text, chromedp.ByQuery)))
		assert.Contains(t, text, "optratio ratio -n 2 -k 2 --eps "+eps)
		require.NoError(t, chromedp.Run(ctx, open(at+"optimum.html#preset=count:1&eps=1&delta="+eps), answerShown(&word), chromedp.Text("#answer", &text, chromedp.ByQuery)))
		assert.Contains(t, text, "--delta "+eps)
	}

	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=3&k=2&eps=0.5"), answerShown(&word), input("eps", ""), stateIs("error: eps: nothing is given; give for instance 0.5"), chromedp.Text("#eps-wrong", &text, chromedp.ByQuery)))
	assert.Contains(t, text, "nothing is given")
	var invalid bool
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(`document.querySelector("#eps[aria-invalid]") !== null`, &invalid), chromedp.Sleep(time.Second), stateIs("error: "),
		input("eps", "0,7"), stateIs("error: eps: 0,7 has a comma"), input("eps", "0.7"), stateIs("done"), chromedp.WaitNotPresent("#eps-wrong", chromedp.ByQuery)))
	assert.True(t, invalid)
	assert.Empty(t, *errors)
}

// TestBrowserSiteFiles: a long file stays a file, of which the first lines are shown; one that is dropped anywhere is taken; what is not text is refused.
func TestBrowserSiteFiles(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var lines strings.Builder
	for i := range 12000 {
		fmt.Fprintf(&lines, "bin %d,%d\n", i, i%7)
	}
	long, broken := filepath.Join(t.TempDir(), "long.csv"), filepath.Join(t.TempDir(), "broken.csv")
	require.NoError(t, os.WriteFile(long, []byte(lines.String()+strings.Repeat("bin,0\n", 12000)), 0o644))
	require.NoError(t, os.WriteFile(broken, []byte("1\n\xff\n"), 0o644))
	var text, word, address string
	require.NoError(t, chromedp.Run(ctx, open(at+"evaluate.html"), chromedp.SetUploadFiles("input[type=file]", []string{long}, chromedp.ByQuery), stateIs("done; too long for a link"),
		chromedp.Text("#head h2", &word, chromedp.ByQuery), chromedp.Value("#histogram", &text, chromedp.ByQuery)))
	assert.Contains(t, word, "24000 bins")
	assert.Less(t, len(text), 1000)
	require.NoError(t, chromedp.Run(ctx, chromedp.Text(".file", &text, chromedp.ByQuery), chromedp.Click(".file button", chromedp.ByQuery), typed("histogram", "5\n1\n"), chromedp.Click("form button:not(.second)", chromedp.ByQuery),
		chromedp.Poll(`document.querySelector("#head h2")?.textContent.includes("2 bins with")`, nil, chromedp.WithPollingInterval(50*time.Millisecond)),
		chromedp.SetUploadFiles("input[type=file]", []string{broken}, chromedp.ByQuery), stateIs("error: broken.csv is not text in UTF-8")))
	assert.Contains(t, text, "long.csv, 0.2 MB: its first lines are shown")

	const drop = `(() => { const d = new DataTransfer(); d.items.add(new File(["0,0,1/2,1/2\n1,0,9/10,1/10\n"], "t.csv")); document.querySelector("h1").dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: d })); })()`
	require.NoError(t, chromedp.Run(ctx, open(at+"audit.html"), chromedp.Evaluate(drop, nil), chromedp.Poll(`document.querySelector("#head").textContent.includes("9/10")`, nil), answerShown(&word),
		open(at+"pmf.html"), chromedp.Evaluate(drop, nil), stateIs("error: this page takes no files"), chromedp.Location(&address)))
	assert.Contains(t, address, "pmf.html")
	assert.Empty(t, *errors)
}

// TestBrowserSiteKeeps: the link, the page, the table and the certificate of an answer can be kept; the certificate is one that the command accepts.
func TestBrowserSiteKeeps(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var word, page, table, proof string
	saved := func(label string, text *string) chromedp.Action {
		return chromedp.Tasks{
			chromedp.Evaluate(`window.kept = undefined; URL.createObjectURL = (blob) => { blob.text().then((t) => { window.kept = t; }); return "#"; }`, nil),
			chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll(".tools *")].find((b) => b.textContent === %q).click()`, label), nil),
			chromedp.Poll("window.kept !== undefined", nil), chromedp.Evaluate("window.kept", text),
		}
	}
	require.NoError(t, chromedp.Run(ctx, open(at+"rate.html#n=3&k=3&eps=3/2&of=exp-eps"), answerShown(&word), saved("Download page", &page), saved("Download table", &table),
		chromedp.Click("[name=certificate]", chromedp.ByQuery), chromedp.WaitVisible(".tools a[download]", chromedp.ByQuery), chromedp.AttributeValue(".tools a[download]", "href", &proof, nil, chromedp.ByQuery)))
	assert.Contains(t, page, word)
	assert.Contains(t, page, "svg text {")
	assert.NotContains(t, page, "<script")
	assert.True(t, strings.HasPrefix(table, "mechanism,error (steps of 2Δ),ratio to the optimum,above it\npf (permute-and-flip),"), table)
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(fmt.Sprintf("atob(%q)", strings.TrimPrefix(proof, "data:text/plain;base64,")), &proof)))
	path := filepath.Join(t.TempDir(), "kept.cert")
	require.NoError(t, os.WriteFile(path, []byte(proof), 0o644))
	code, out, errs := quietly("check", path)
	assert.Zero(t, code, out+errs)
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.kept = text; }; window.kept = undefined; document.querySelector(".tools button").click()`, nil), chromedp.Poll("window.kept !== undefined", nil), chromedp.Evaluate("window.kept", &page)))
	assert.Contains(t, page, "rate.html#n=3&k=3&eps=3%2F2&of=exp-eps")
	assert.Empty(t, *errors)
}

// TestBrowserSiteBeside: at every width the answer begins above the form or beside it, and a mechanism's name leads to what is said of it.
func TestBrowserSiteBeside(t *testing.T) {
	ctx, at, errors := siteServed(t)
	var address string
	for _, view := range []string{"rate", "choose", "pmf", "audit", "javascript", "optimum", "evaluate", "check"} {
		for _, width := range []int64{360, 800, 1400} {
			var head, form float64
			require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), open(at+view+".html"), chromedp.WaitVisible("#head .word", chromedp.ByQuery),
				chromedp.Evaluate(`document.querySelector(".top").getBoundingClientRect().top`, &head), chromedp.Evaluate(`document.querySelector("form").getBoundingClientRect().top`, &form)))
			assert.LessOrEqual(t, head, form+1, "%s at %d", view, width)
			assert.Less(t, head, 450.0, "%s at %d", view, width)
		}
	}
	require.NoError(t, chromedp.Run(ctx, open(at+"choose.html"), chromedp.Click(`//td/a[text()="gem"]`, chromedp.BySearch), chromedp.WaitVisible("#mechanism-gem, article", chromedp.ByQuery), chromedp.Location(&address)))
	assert.Equal(t, at+"docs/explanation/mechanisms.html#mechanism-gem", address)
	assert.Empty(t, *errors)
}

// TestBrowserSiteAccessible: axe-core, whose script AXE names, finds nothing moderate or worse on any page, with its menu open and with an error.
func TestBrowserSiteAccessible(t *testing.T) {
	script, err := os.ReadFile(os.Getenv("AXE"))
	if err != nil {
		t.Skip("AXE names no axe.min.js; scripts/browser-test installs it")
	}
	ctx, at, _ := siteServed(t)
	pages := []string{"README.html", "docs/use/how-to.html", "docs/explanation/mechanisms.html", "docs/reference/certificate.html", "rate.html#eps=x"}
	for _, v := range (&front.Site{Static: true}).Views() {
		view := v.Name
		pages = append(pages, front.File(view))
	}
	for _, page := range pages {
		for _, width := range []int64{360, 1400} {
			var found []string
			require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), open(at+page), chromedp.Evaluate(`for (const d of document.querySelectorAll("details")) d.open = true`, nil), chromedp.Poll(`!location.hash || document.querySelector("#state").textContent.startsWith("error")`, nil),
				chromedp.Evaluate(string(script)+`; undefined`, nil),
				chromedp.Evaluate(`window.found = undefined; axe.run().then((r) => { window.found = r.violations.filter((v) => v.impact !== "minor").map((v) => v.impact + " " + v.id + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(" | ")); }); undefined`, nil),
				chromedp.Poll("window.found !== undefined", nil, chromedp.WithPollingTimeout(time.Minute)), chromedp.Evaluate("window.found", &found)))
			assert.Empty(t, found, "%s at %d", page, width)
		}
	}
}
