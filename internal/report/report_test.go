package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/internal/heterogeneous"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify"
)

func num(text string) number.Number { return number.Exact(rat(text)) }

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func rats(texts ...string) (out []*big.Rat) {
	for _, text := range texts {
		out = append(out, rat(text))
	}
	return out
}

func nums(texts ...string) (out []number.Number) {
	for _, text := range texts {
		out = append(out, num(text))
	}
	return out
}

// reported is a report with these properties on a mechanism that claims ε = 1/2.
func reported(properties ...verify.Result) *audit.Report {
	return &audit.Report{Report: verify.Report{Mechanism: "mine", Domain: "d", Claimed: num("1/2"), Properties: properties}}
}

// TestPageOfApproximatePrivacy: (ε,δ)-DP is the claim where it alone was asked for.
func TestPageOfApproximatePrivacy(t *testing.T) {
	page := render(t, reported(verify.Result{
		Name: verify.ApproximateDP, Verdict: verify.Violated, Checked: 8, TightDelta: num("1/4"), Target: num("1/8"),
		Witness: &verify.Witness{Scores: rats("0", "0", "0"), Neighbor: rats("0", "-2", "-2"), Candidates: []int{1, 2}, P: num("1/2"), PNeighbor: num("1/4")},
	}), Context{})
	wellFormed(t, page)
	for _, part := range []string{
		"No: it is not (ε,δ)-DP at ε = 0.5 and δ = 0.125", "<p>Tight δ 0.25, wanted at most 0.125; claimed: ε = 0.5.</p>",
		"approximate-dp fails: scores (0, 0, 0) and (0, -2, -2), candidates 1, 2 together: 0.5 and 0.25", "<td>(ε,δ)-DP</td>",
	} {
		assert.Contains(t, page, part)
	}
}

// audited is the report of a violation.
func audited() *audit.Report {
	log2 := number.Bounds(rat("0.69314718055994"), rat("0.69314718055995"))
	r := reported(verify.Result{Name: verify.DP, Verdict: verify.Violated, Checked: 8, TightEps: log2, Witness: &verify.Witness{
		Scores: rats("0", "-2"), Neighbor: rats("0", "-4"), Candidate: new(1), P: num("1/5"), PNeighbor: num("1/10"), PMFs: [2][]number.Number{nums("4/5", "1/5"), nums("9/10", "1/10")},
	}}, verify.Result{Name: verify.Symmetry, Verdict: verify.Undecided, Reason: "nothing to check"})
	r.Mechanism, r.Domain = "mine <script>alert(1)</script>", "5 vectors and their linf neighbors; and a side set of 3 vectors"
	r.TightEps, r.Questions, r.Findings = log2, 5, []audit.Finding{{Event: "error", Detail: "NaN", Scores: rats("0", "1/3"), Times: 1234}}
	return r
}

func said(d document.Document, c Context) *Page {
	return New(&job.Answer{Documents: []document.Document{d}}, c)
}

func render(t *testing.T, d document.Document, c Context) string {
	var b bytes.Buffer
	require.NoError(t, said(d, c).Write(&b))
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
	page := render(t, audited(), Context{Command: "optratio audit --eps 0.5 'a<b'", Certificate: []byte("certificate"), CertificateName: "a.cert"})
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
	page := render(t, audited(), Context{})
	verdict := strings.Index(page, "No: it is not 0.5-DP")
	require.Positive(t, verdict)
	assert.Less(t, verdict, strings.Index(page, "<svg"))
	assert.Contains(t, page, "On scores (0, −2) it picks candidate 1 with probability 1/5. One person&#39;s data can change the scores to (0, −4), and there the probability is 1/10. That is 2 times less; ε-DP allows at most e<sup>ε</sup> times, here 1.64872.")
	assert.NotContains(t, page, "monotonic neighbors")
	assert.Contains(t, page, "candidate 1, score −2 → −4 – violated")
	assert.Contains(t, page, "NaN (the first of 1234 of this kind)")
	assert.NotContains(t, page, "candidate 0, score 0 → 0 – violated")
	assert.Contains(t, page, `class="verdict bad"`)
}

// TestHeadlines gives every combination of verdicts that a page has words for.
func TestHeadlines(t *testing.T) {
	is := func(name verify.Property, verdict verify.Verdict) verify.Result {
		return verify.Result{Name: name, Verdict: verdict}
	}
	dp, symmetry, independence := verify.DP, verify.Symmetry, audit.Independence
	for _, c := range []struct {
		properties []verify.Result
		sampled    bool
		tone, word string
	}{
		{[]verify.Result{is(dp, "proved")}, false, "good", "Yes: it is 0.5-DP on what was examined"},
		{[]verify.Result{is(dp, "proved"), is(symmetry, "violated")}, false, "bad", "It is 0.5-DP here; violated: symmetry"},
		{[]verify.Result{is(dp, "proved"), is(symmetry, "undecided")}, false, "open", "It is 0.5-DP here; undecided: symmetry"},
		{[]verify.Result{is(dp, "undecided")}, false, "open", "Undecided: ε-DP"},
		{[]verify.Result{is(symmetry, "proved")}, false, "good", "Everything that was asked holds on what was examined"},
		{[]verify.Result{is(symmetry, "violated")}, false, "bad", "Fails: symmetry"},
		{nil, false, "open", "Undecided: "},
		{[]verify.Result{is(dp, "undecided")}, true, "open", "Samples did not refute that it is 0.5-DP, which proves nothing"},
		{[]verify.Result{is(dp, "violated")}, true, "bad", "No: it is not 0.5-DP"},
		{[]verify.Result{is(dp, "undecided"), is(independence, "violated")}, true, "bad", "Its samples are not independent, so nothing is concluded about ε"},
	} {
		r := reported(c.properties...)
		if c.sampled {
			r.Confidence = rat("0.95")
		}
		p := said(r, Context{})
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
		curves: []curve{{"pf", []float64{0.1, 1}, []float64{1, 2}}, {"em", []float64{0.1, 1}, []float64{2, 1}}},
		low:    1, level: mark{1.5, "claimed"}, marks: []mark{{0.5, "this job"}, {0.51, "pf is optimal from here on"}},
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
	assert.Contains(t, render(t, audited(), Context{}), "between e<sup>−ε</sup> and e<sup>ε</sup> times the upper one.")
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

// A page of candidates with unequal sensitivities says what is best, and what is not private.
func TestPageOfHeterogeneous(t *testing.T) {
	page := render(t, &document.Heterogeneous{
		Sensitivities: nums("1", "2"), Grid: "0:4", AtEpsilon: document.At("", "2"), Objective: "mean", Loss: "error", Vectors: 25, Neighbors: 111, Optimum: num("2/5"), Recommended: "pf-pair",
		Mechanisms: []heterogeneous.Rating{
			{Name: "pf-pair", Loss: num("1/2"), Ratio: num("5/4"), DP: verify.Proved, TightEps: num("0.69")},
			{Name: "rnmh", Loss: num("1/4"), Ratio: num("5/8"), DP: verify.Violated, TightEps: num("2"), Witness: &verify.Witness{Scores: rats("0", "1"), Neighbor: rats("1", "1"), Candidate: new(0), P: num("1/2"), PNeighbor: num("1/8")}},
		},
	}, Context{})
	wellFormed(t, page)
	for _, part := range []string{"sensitivities 1, 2, scores 0:4, e<sup>ε</sup> = 2", "The least mean expected error that is possible on the grid is 2/5", "has to be public: pf-pair", "rnmh is not ε-DP there", "25 score vectors, 111 pairs of neighbors"} {
		assert.Contains(t, page, part)
	}
}
