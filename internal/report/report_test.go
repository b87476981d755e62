package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// TestPageOfApproximatePrivacy: (ε,δ)-DP is the claim where it alone was asked for.
func TestPageOfApproximatePrivacy(t *testing.T) {
	page := render(t, `{"schema":"optratio.verify/1","mechanism":"mine","domain":"d","claimed_eps":{"lower":"0.5","upper":"0.5","exact":"1/2"},"properties":[{"name":"approximate-dp","verdict":"violated",
"checked":8,"tight_delta":{"lower":"0.25","upper":"0.25","exact":"1/4"},"target":{"lower":"0.125","upper":"0.125","exact":"1/8"},
"witness":{"scores":[0,0,0],"neighbor":[0,-2,-2],"candidates":[1,2],"p":{"lower":"0.5","upper":"0.5","exact":"1/2"},"p_neighbor":{"lower":"0.25","upper":"0.25","exact":"1/4"}}}]}`, Context{Notes: []string{"It was drawn from a file."}})
	wellFormed(t, page)
	for _, part := range []string{
		"No: it is not (ε,δ)-DP at ε = 0.5 and δ = 0.125", "The smallest δ that holds there at ε = 0.5 is 0.25.",
		"On scores (0, 0, 0) one of the candidates 1, 2 has probability 1/2, on scores (0, −2, −2) 1/4.", "tight δ 0.25", "It was drawn from a file.",
	} {
		assert.Contains(t, page, part)
	}
}

const audited = `{"schema":"optratio.audit/1","mechanism":"mine <script>alert(1)</script>","domain":"5 vectors and their linf neighbors; and a side set of 3 vectors","claimed_eps":{"lower":"0.5","upper":"0.5","exact":"1/2"},
"tight_eps":{"lower":"0.69314718055994","upper":"0.69314718055995","exact":null},"questions":5,"findings":[{"event":"error","detail":"NaN","scores":[0,"1/3"],"times":1234}],
"properties":[{"name":"dp","verdict":"violated","checked":8,"tight_eps":{"lower":"0.69314718055994","upper":"0.69314718055995","exact":null},
"witness":{"scores":[0,-2],"neighbor":[0,-4],"candidate":1,"p":{"lower":"0.2","upper":"0.2","exact":"1/5"},"p_neighbor":{"lower":"0.1","upper":"0.1","exact":"1/10"},
"pmf":[{"lower":"0.8","upper":"0.8","exact":"4/5"},{"lower":"0.2","upper":"0.2","exact":"1/5"}],
"neighbor_pmf":[{"lower":"0.9","upper":"0.9","exact":"9/10"},{"lower":"0.1","upper":"0.1","exact":"1/10"}]}},
{"name":"symmetry","verdict":"undecided","checked":0,"reason":"nothing to check","witness":null}],"witness":null}`

func render(t *testing.T, document string, c Context) string {
	p, err := New([]byte(document), c)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	return b.String()
}

// wellFormed parses a page as XML, which its few void elements are closed for.
func wellFormed(t *testing.T, page string) {
	closed := regexp.MustCompile(`<(meta [^>]*)>`).ReplaceAllString(strings.TrimPrefix(page, "<!DOCTYPE html>"), "<$1/>")
	d := xml.NewDecoder(strings.NewReader(closed))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			require.NoError(t, err)
		}
	}
}

// TestPageStandsAlone looks for anything that a browser would load or run.
func TestPageStandsAlone(t *testing.T) {
	page := render(t, audited, Context{Command: "optratio audit --eps 0.5 'a<b'", Certificate: []byte("certificate"), CertificateName: "a.cert"})
	wellFormed(t, page)
	for _, bad := range []string{"<script", "http:", "https:", "src=", "url(", "@import", "<link", "<iframe"} {
		assert.NotContains(t, page, bad)
	}
	assert.Contains(t, page, "mine &lt;script&gt;alert(1)&lt;/script&gt;")
	assert.Contains(t, page, "a&lt;b")
	// printf certificate | sha256sum, printf certificate | base64
	assert.Contains(t, page, "03d66dd08835c1ca3f128cceacd1f31ac94163096b20f445ae84285bc0832d72")
	assert.Contains(t, page, `data:text/plain;base64,Y2VydGlmaWNhdGU=`)
}

// TestVerdictComesFirst reads the page of a violation as its reader would.
func TestVerdictComesFirst(t *testing.T) {
	page := render(t, audited, Context{})
	verdict := strings.Index(page, "No: it is not 0.5-DP")
	require.Positive(t, verdict)
	assert.Less(t, verdict, strings.Index(page, "<svg"))
	assert.Contains(t, page, "On scores (0, −2) it picks candidate 1 with probability 1/5. One person&#39;s data can change the scores to (0, −4), and there the probability is 1/10. That is 2 times less; ε-DP allows at most e<sup>ε</sup> times, here 1.64872.")
	assert.Contains(t, page, "every score is at most the sensitivity higher or lower")
	assert.Contains(t, page, "on which implementations often fail")
	assert.NotContains(t, page, "monotonic neighbors")
	assert.Contains(t, page, "candidate 1, score −2 → −4 – violated")
	assert.Contains(t, page, "1\u202f234 times: NaN")
	assert.NotContains(t, page, "candidate 0, score 0 → 0 – violated")
	assert.Contains(t, page, `class="verdict bad"`)
}

// TestHeadlines gives every combination of verdicts that a page has words for.
func TestHeadlines(t *testing.T) {
	for _, c := range []struct{ properties, more, tone, word string }{
		{`{"name":"dp","verdict":"proved"}`, ``, "good", "Yes: it is 0.5-DP on what was examined"},
		{`{"name":"dp","verdict":"proved"},{"name":"symmetry","verdict":"violated"}`, ``, "bad", "It is 0.5-DP here; violated: symmetry"},
		{`{"name":"dp","verdict":"proved"},{"name":"symmetry","verdict":"undecided"}`, ``, "open", "It is 0.5-DP here; undecided: symmetry"},
		{`{"name":"dp","verdict":"undecided"}`, ``, "open", "Undecided: ε-DP"},
		{`{"name":"symmetry","verdict":"proved"}`, ``, "good", "Everything that was asked holds on what was examined"},
		{`{"name":"symmetry","verdict":"violated"}`, ``, "bad", "Fails: symmetry"},
		{``, ``, "open", "Undecided: "},
		{`{"name":"dp","verdict":"undecided"}`, `,"confidence":0.95`, "open", "Samples did not refute that it is 0.5-DP, which proves nothing"},
		{`{"name":"dp","verdict":"violated"}`, `,"confidence":0.95`, "bad", "No: it is not 0.5-DP"},
		{`{"name":"dp","verdict":"undecided"},{"name":"independence","verdict":"violated"}`, `,"confidence":0.95`, "bad", "Its samples are not independent, so nothing is concluded about ε"},
	} {
		p, err := New([]byte(`{"schema":"optratio.verify/1","mechanism":"m","domain":"d","claimed_eps":{"lower":"0.5","upper":"0.5","exact":"1/2"},"findings":[],"properties":[`+c.properties+`]`+c.more+`}`), Context{})
		require.NoError(t, err)
		assert.Equal(t, c.tone, p.Tone, c.properties)
		assert.Equal(t, c.word, p.Word, c.properties)
	}
}

// TestQuotient divides enclosures outwards, and refuses what may be 0.
func TestQuotient(t *testing.T) {
	parse := func(s string) (n number.Number) {
		require.NoError(t, n.UnmarshalJSON([]byte(s)))
		return n
	}
	got, ok := quotient(parse(`{"lower":"0.2","upper":"0.3","exact":null}`), parse(`{"lower":"0.1","upper":"0.4","exact":null}`))
	require.True(t, ok)
	low, _ := got.Lower()
	high, _ := got.Upper()
	assert.Equal(t, "1/2 3/1", low.String()+" "+high.String())
	_, ok = quotient(parse(`{"lower":"0.2","upper":"0.3","exact":null}`), parse(`{"lower":"0","upper":"0.4","exact":null}`))
	assert.False(t, ok)
	got, ok = quotient(parse(`{"estimate":"0.5","method":"2 of 4 samples"}`), parse(`{"estimate":"0.25","method":"1 of 4 samples"}`))
	assert.True(t, ok && !got.IsRigorous() && got.Float64() == 2)
}

// TestBarsEndWhereTheNumbersSay measures a picture.
func TestBarsEndWhereTheNumbersSay(t *testing.T) {
	svg := string(bars([]group{{heading: "a", bars: []bar{{class: "one", value: 0.5, number: "0.5", band: &[2]float64{0.25, 1}}}}, {heading: "b", bars: []bar{{class: "two", value: 0.1, number: "0.1"}}}}, "text"))
	full := barRight - barLeft
	assert.Contains(t, svg, `width="`+at(full*0.5)+`" height="10" class="one"`)
	assert.Contains(t, svg, `<rect x="`+at(barLeft+full*0.25)+`"`)
	assert.Contains(t, svg, `width="`+at(full*0.75)+`" height="14" class="band"`)
	assert.Contains(t, svg, `width="`+at(full*0.1)+`" height="10" class="two"`)
	assert.Contains(t, svg, `aria-label="text"`)
}

// TestNamesAreBelowTheChart: no name is where lines are, and long legends have several rows within the width.
func TestNamesAreBelowTheChart(t *testing.T) {
	c := chart{
		curves: []curve{{class: "one", name: "pf", x: []float64{0.1, 1}, y: []float64{1, 2}}, {class: "two", name: "em", x: []float64{0.1, 1}, y: []float64{2, 1}}},
		low:    1, high: 2, level: 1.5, levelName: "claimed", marks: []mark{{0.5, "this job"}, {0.51, "pf is optimal from here on"}},
	}
	svg := c.svg("text")
	seen, last := 0, 0.0
	for _, m := range regexp.MustCompile(`<text x="([0-9.]+)" y="([0-9.]+)" class="" text-anchor="start">([^<]*)<`).FindAllStringSubmatch(string(svg), -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		assert.Greater(t, y, 230.0, m[3])
		assert.Less(t, x+6.5*float64(len(m[3])), chartWidth, m[3])
		seen, last = seen+1, y
	}
	assert.Equal(t, 5, seen)
	assert.Contains(t, svg, fmt.Sprintf(`viewBox="0 0 360 %g"`, last+8))
}

// TestPowersAreTypeset: in texts, with everything else escaped.
func TestPowersAreTypeset(t *testing.T) {
	assert.Equal(t, template.HTML("1 &lt; e<sup>ε</sup>, e<sup>−ε</sup>"), Typeset("1 < e^ε, e^-ε"))
	assert.Contains(t, render(t, audited, Context{}), "between e<sup>−ε</sup> and e<sup>ε</sup> times the upper one.")
}

func TestTicks(t *testing.T) {
	assert.Equal(t, []float64{0, 0.2, 0.4, 0.6, 0.8, 1, 1.2}, ticks(0, 1.2, 6))
	assert.Equal(t, []float64{1, 1.2, 1.4, 1.6}, ticks(1, 1.7, 5))
	assert.Equal(t, []float64{3}, ticks(3, 3, 5))
	assert.Equal(t, []float64{1000, 10000, 100000}, xTicks(900, 200000, true))
	for _, x := range ticks(0, 1, 5) {
		assert.False(t, math.Signbit(x), "no -0 on an axis")
	}
}

// TestOtherDocuments refuses what is no document of these jobs.
func TestOtherDocuments(t *testing.T) {
	for _, text := range []string{``, `[]`, `{}`, `{"mechanism":"pf","pmf":[]}`, `{"schema":"optratio.ratio/1","orbits":1,"objective":"paper","optimum":1,"mechanisms":"no"}`, `{"schema":"optratio.stopping/1","outcome":[],"success":"x","threshold":1}`,
		`{"schema":"optratio.ratio/2","n":1}`, `{"n":2,"k":1,"orbits":2,"objective":"paper","optimum":{},"mechanisms":[]}`} {
		_, err := New([]byte(text), Context{})
		assert.ErrorIs(t, err, ErrDocument, text)
	}
}

// TestContrast computes the contrast of every text colour against both backgrounds by WCAG 2.1's formula: at least 4.5, level AA.
func TestContrast(t *testing.T) {
	luminance := func(hex string) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			require.NoError(t, err)
			c := float64(v) / 255
			if c <= 0.04045 {
				sum += weight * c / 12.92
			} else {
				sum += weight * math.Pow((c+0.055)/1.055, 2.4)
			}
		}
		return sum
	}
	palettes := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(style, -1)
	require.Len(t, palettes, 2, "light and dark")
	for _, palette := range palettes {
		colours := map[string]string{}
		for _, c := range regexp.MustCompile(`--(\w+): #([0-9a-f]{6});`).FindAllStringSubmatch(palette[1], -1) {
			colours[c[1]] = c[2]
		}
		for _, text := range []string{"ink", "soft", "one", "two", "three", "bad", "good", "open"} {
			for _, ground := range []string{"paper", "panel"} {
				a, b := luminance(colours[text]), luminance(colours[ground])
				assert.GreaterOrEqual(t, (math.Max(a, b)+0.05)/(math.Min(a, b)+0.05), 4.5, "%s on %s", text, ground)
			}
		}
	}
}

// TestForeignDocuments: a verdict that is not known is no pass, and the document of a topk job is none of a ratio.
func TestForeignDocuments(t *testing.T) {
	for _, verdict := range []string{"", "Violated", "<b>proved"} {
		_, err := New([]byte(fmt.Sprintf(`{"schema":"optratio.verify/1","mechanism":"m","claimed_eps":{"lower":"1","upper":"1","exact":"1"},"properties":[{"name":"dp","verdict":%q}]}`, verdict)), Context{})
		require.ErrorIs(t, err, ErrDocument, verdict)
		require.ErrorContains(t, err, "is none of proved, violated and undecided")
	}
	_, err := KindOf([]byte(`{"schema":"optratio.topk/1","n":4,"k":2,"top":2,"orbits":10,"optimum":{},"mechanisms":[]}`))
	require.ErrorIs(t, err, ErrDocument)
	_, err = New([]byte(`{"schema":"optratio.optimum/1","inputs":2}`), Context{})
	require.ErrorIs(t, err, ErrDocument)
	require.ErrorContains(t, err, "0 and 0 names for 2 inputs and 0 outputs")
}
