//go:build browser

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/document"
)

// browser starts a headless Chromium and records what it logs as an error.
func browser(t *testing.T) (ctx context.Context, errors *[]string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("force-prefers-reduced-motion", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(allocator)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(stop)
	errors = new([]string)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			*errors = append(*errors, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				*errors = append(*errors, fmt.Sprint(e.Args))
			}
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError {
				*errors = append(*errors, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	require.NoError(t, chromedp.Run(ctx, cdplog.Enable(), runtime.Enable()))
	return ctx, errors
}

// shot keeps a picture of the whole page in BROWSER_SHOTS, where that is set.
func shot(t *testing.T, ctx context.Context, name string) {
	folder := os.Getenv("BROWSER_SHOTS")
	if folder == "" {
		return
	}
	var png []byte
	require.NoError(t, chromedp.Run(ctx, chromedp.FullScreenshot(&png, 100)))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644))
}

// fits asserts that nothing of the page is wider than the window, and that no table has to be scrolled.
func fits(t *testing.T, ctx context.Context, name string) {
	var wide, window, beyond int
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(`Math.max(0, ...[...document.querySelectorAll(".wide")].map(e => e.scrollWidth - e.clientWidth))`, &beyond)))
	assert.Zero(t, beyond, "%s: how far a table reaches beyond its place", name)
	require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate("document.documentElement.scrollWidth", &wide), chromedp.Evaluate("innerWidth", &window)))
	assert.LessOrEqual(t, wide, window, name)
}

var widths = []int64{360, 1200}

// TestBrowserViews opens every view of the server and every kind of report at two widths.
func TestBrowserViews(t *testing.T) {
	at := served(t)
	folder := t.TempDir()
	files := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer files.Close()
	pages := map[string]string{
		"explorer": at + "/rate?n=4&k=3&eps=0.5", "landing": at, "pmf": at + "/pmf?scores=0,-1,-3&eps=1", "audit": at + "/audit", "evaluate": at + "/evaluate", "choose": at + "/choose", "optimum": at + "/optimum", "check": at + "/check", "error": at + "/pmf?scores=0,x",
	}
	table, err := filepath.Abs("../testdata/em.jsonl")
	require.NoError(t, err)
	for name, line := range map[string]string{
		"report-ratio": "ratio -n 4 -k 3 --eps 0.5", "report-verify": "verify --mechanism rnm-laplace -n 3 -k 2 --eps 1",
		"report-audit": "audit --pmf-file " + table + " --neighbors shifted --exp-eps 3/2", "report-stopping": "stopping -n 10 --eps 0.5 --lp",
	} {
		path := filepath.Join(folder, name+".html")
		code, _, errs := quietly(append(strings.Fields(line), "--html", path)...)
		require.Less(t, code, 2, errs)
		pages[name] = files.URL + "/" + name + ".html"
	}
	ctx, errors := browser(t)
	for name, address := range pages {
		for _, width := range widths {
			*errors = nil
			require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(address), chromedp.WaitVisible("h1", chromedp.ByQuery)))
			fits(t, ctx, name)
			shot(t, ctx, fmt.Sprintf("%s-%d", name, width))
			if name == "error" {
				require.Len(t, *errors, 1, "the status 400 itself")
				continue
			}
			assert.Empty(t, *errors, name)
		}
	}
}

// word is the headline of the answer on the page.
const word = "#head .word"

// TestBrowserKeyboard uses the explorer with the keyboard alone, and compares its numbers with the command's.
func TestBrowserKeyboard(t *testing.T) {
	at := served(t)
	ctx, errors := browser(t)
	var text string
	// The first stops of the Tab key are the link to the page, five links and More, three buttons of the answer, and the field n.
	require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(1400, 900), chromedp.Navigate(at+"/rate?n=3&k=2&eps=0.3"), chromedp.WaitVisible(word, chromedp.ByQuery),
		chromedp.KeyEvent(strings.Repeat(kb.Tab, 10)), chromedp.Evaluate("document.activeElement.id", &text)))
	require.Equal(t, "n", text)
	shot(t, ctx, "keyboard")
	require.NoError(t, chromedp.Run(ctx,
		chromedp.KeyEvent(kb.Tab), // the slider beside it
		chromedp.KeyEvent(kb.ArrowRight),
		chromedp.Poll(`document.querySelector("#head h2").textContent.includes("n = 4") && document.getElementById("state").textContent === "done"`, nil),
		chromedp.Text(word, &text, chromedp.ByQuery), chromedp.Poll(`location.search.includes("n=4&k=2&eps=0.3")`, nil)))
	_, out, _ := quietly(strings.Fields("ratio -n 4 -k 2 --eps 0.3 --json")...)
	var doc document.Ratio
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	assert.Equal(t, "pf has "+doc.Mechanisms[0].Ratio.Format(6)+" times the least mean expected error possible", text)
	var cells string
	require.NoError(t, chromedp.Run(ctx, chromedp.Text("#answer table", &cells, chromedp.ByQuery)))
	for _, m := range doc.Mechanisms {
		assert.Contains(t, cells, m.Error.String())
		assert.Contains(t, cells, m.Ratio.String())
	}
	assert.Empty(t, *errors)

	// A table is pasted and audited.
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(at+"/audit"), typed("pmf-file", "0,0,1/2,1/2\n1,0,9/10,1/10\n"), chromedp.Focus("#pmf-file", chromedp.ByQuery),
		chromedp.KeyEvent(strings.Repeat(kb.Tab, 6)), chromedp.KeyEvent(kb.Enter), chromedp.Poll(`document.querySelector("#head").textContent.includes("9/10")`, nil), chromedp.Text(word, &text, chromedp.ByQuery)))
	assert.Equal(t, "No: it is not 0.5-DP", text)
	shot(t, ctx, "audited")
	assert.Empty(t, *errors)

	// A problem is solved, and the table that it is compared with is drawn beside the answer, at both widths.
	for _, width := range widths {
		require.NoError(t, chromedp.Run(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(at+"/optimum"), chromedp.WaitVisible("#preset", chromedp.ByQuery),
			chromedp.SendKeys("#preset", "count:1", chromedp.ByQuery),
			chromedp.SendKeys("#rate", "0,0,3/4\n0,1,1/4\n1,0,1/4\n1,1,3/4\n", chromedp.ByQuery), chromedp.SetValue("[name=of]", "exp-eps", chromedp.ByQuery), chromedp.SetValue("#eps", "4", chromedp.ByQuery),
			chromedp.Focus("#rate", chromedp.ByQuery), chromedp.KeyEvent(strings.Repeat(kb.Tab, 2)), chromedp.KeyEvent(kb.Enter), chromedp.Poll(`document.querySelector("#head .word").textContent.includes("Your")`, nil), chromedp.Text(word, &text, chromedp.ByQuery)))
		assert.Equal(t, "Your mechanism has 5/4 times the least loss that is possible", text)
		fits(t, ctx, "solved")
		shot(t, ctx, fmt.Sprintf("solved-%d", width))
	}
	assert.Empty(t, *errors)

	// A score is dragged by its slider.
	require.NoError(t, chromedp.Run(ctx, chromedp.Navigate(at+"/pmf?scores=0,-1"), chromedp.WaitVisible(`[aria-label="score of candidate 1"]`, chromedp.ByQuery),
		chromedp.Focus(`[aria-label="score of candidate 1"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight),
		chromedp.Poll(`location.search.includes("scores=0%2C-0.5") && document.getElementById("state").textContent === "done"`, nil)))
	assert.Empty(t, *errors)
}

// TestBrowserWithoutScript sends the form as a browser without scripts does.
func TestBrowserWithoutScript(t *testing.T) {
	at := served(t)
	code, page := get(t, at+"/pmf?scores=0%2C-2&eps=1&mechanism=pf&mechanism=em")
	assert.Equal(t, 200, code)
	assert.Contains(t, page, "candidate 1, score -2")
}
