package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// published are programs with faults that others reported, written anew from the reports: what they answer to a question.
var published = map[string]func(q publishedQuestion) any{
	"gaussian": gaussian, "mean": mean, "quantile": quantile, "noisy max": noisyMax(1), "noisy min": noisyMax(-1), "geometric": geometric(false), "geometric anew": geometric(false), "rounded Laplace": geometric(true),
}

// publishedQuestion is a line that they are asked.
type publishedQuestion struct {
	Scores  []float64
	Input   json.RawMessage
	Epsilon float64
	Samples int
	rng     *rand.Rand
}

// count is an input that is a number.
func (q publishedQuestion) count() (x float64) {
	_ = json.Unmarshal(q.Input, &x)
	return x
}

// servePublished answers questions as a published program does, with samples of its own.
func servePublished(kind string, answer func(publishedQuestion) any) {
	seed := sha256.Sum256([]byte(kind))
	out, rng := json.NewEncoder(os.Stdout), rand.New(rand.NewChaCha8(seed))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		q := publishedQuestion{rng: rng}
		_ = json.Unmarshal(in.Bytes(), &q)
		_ = out.Encode(answer(q))
	}
}

// noisyMax takes the greatest score with Gumbel noise, or with sign -1 the least one, and states the probabilities.
func noisyMax(sign float64) func(publishedQuestion) any {
	return func(q publishedQuestion) any {
		p, sum := make([]float64, len(q.Scores)), 0.0
		best := -math.MaxFloat64
		for _, s := range q.Scores {
			best = max(best, sign*s)
		}
		for r, s := range q.Scores {
			p[r] = math.Exp(q.Epsilon * (sign*s - best) / 2)
			sum += p[r]
		}
		for r := range p {
			p[r] /= sum
		}
		return map[string]any{"pmf": p}
	}
}

// mean adds Laplace noise to the mean of numbers from 0 to 1, as if their number n were known: of scale 1/nε. It states the probabilities of intervals.
func mean(q publishedQuestion) any {
	var rows []float64
	_ = json.Unmarshal(q.Input, &rows)
	sum := 0.0
	for _, x := range rows {
		sum += x
	}
	below := func(x float64) float64 { // ahead of the mean, by the nearer tail
		return math.Exp(-math.Abs(x)*float64(len(rows))*q.Epsilon) / 2
	}
	p := map[string]float64{}
	const first, last = -20, 40 // tenths
	for i := first; i <= last; i++ {
		low, high := float64(i)/10-sum/float64(len(rows)), float64(i+1)/10-sum/float64(len(rows))
		switch {
		case i == first:
			p[fmt.Sprint(i)] = below(high)
		case i == last:
			p[fmt.Sprint(i)] = below(low)
		case low >= 0:
			p[fmt.Sprint(i)] = below(low) - below(high)
		case high <= 0:
			p[fmt.Sprint(i)] = below(high) - below(low)
		default:
			p[fmt.Sprint(i)] = 1 - below(low) - below(high)
		}
	}
	return map[string]any{"pmf": p}
}

// quantile takes the median of numbers from 0 to 1 by the exponential mechanism: an interval between two of them, by its length times exp(-ε|rank - n/2|/2), and states the probabilities
// of tenths.
func quantile(q publishedQuestion) any {
	var rows []float64
	_ = json.Unmarshal(q.Input, &rows)
	rows = append(append([]float64{0}, slices.Sorted(slices.Values(rows))...), 1)
	var p [10]float64
	sum := 0.0
	for i := range len(rows) - 1 {
		for tenth := range p {
			length := min(rows[i+1], float64(tenth+1)/10) - max(rows[i], float64(tenth)/10)
			w := max(0, length) * math.Exp(-q.Epsilon*math.Abs(float64(i)-float64(len(rows)-2)/2)/2)
			p[tenth], sum = p[tenth]+w, sum+w
		}
	}
	named := map[string]float64{}
	for i := range p {
		if p[i] /= sum; math.IsNaN(p[i]) {
			return map[string]any{"error": "probabilities contain NaN"}
		}
		named[fmt.Sprint(i)] = p[i]
	}
	return map[string]any{"pmf": named}
}

// geometric adds two-sided geometric noise to a count, or Laplace noise that is rounded then.
func geometric(laplace bool) func(publishedQuestion) any {
	return func(q publishedQuestion) any {
		values := make([]float64, q.Samples)
		for i := range values {
			a, b := q.rng.ExpFloat64()/q.Epsilon, q.rng.ExpFloat64()/q.Epsilon
			if laplace {
				values[i] = q.count() + math.Round(a-b)
			} else {
				values[i] = q.count() + math.Floor(a) - math.Floor(b)
			}
		}
		return map[string]any{"values": values}
	}
}

// gaussian adds normal noise of scale √(2 ln(1.25/δ))/ε to a count, at δ = 1e-5, and states the probabilities of intervals.
func gaussian(q publishedQuestion) any {
	sigma := math.Sqrt(2*math.Log(1.25e5)) / q.Epsilon
	count := q.count()
	below := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	p := map[string]float64{}
	for i := -200; i <= 200; i++ {
		low, high := float64(i)/20-count/sigma, float64(i+1)/20-count/sigma
		switch {
		case i == -200:
			p[fmt.Sprint(i)] = below(high)
		case i == 200:
			p[fmt.Sprint(i)] = below(-low)
		case low > 0: // the right tail, without cancellation
			p[fmt.Sprint(i)] = below(-low) - below(-high)
		default:
			p[fmt.Sprint(i)] = below(high) - below(low)
		}
	}
	return map[string]any{"pmf": p}
}

// ask runs a command, with what is on its standard input.
func ask(t *testing.T, stdin string, args ...string) (out, problems string, code int) {
	t.Helper()
	var o, p bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(stdin), &o, &p)
	return o.String(), p.String(), code
}

// fileOf writes a text to a file.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestSeveralEpsilons: the classical scale of Gaussian noise is private up to ε = 1 and not at 10 (opendp/smartnoise-sdk, issue 462, "Gaussian formula looks wrong
// when epsilon>1"): one run tells. Φ(1/2σ - 10σ) - e^10 Φ(-1/2σ - 10σ) = 2.27e-5.
func TestSeveralEpsilons(t *testing.T) {
	junit := filepath.Join(t.TempDir(), "verdicts.xml")
	args := []string{"audit", "--pmf-exec", subjectCommand("gaussian"), "--inputs", fileOf(t, "0\n1\n"), "--neighbors", fileOf(t, "0,1\n"), "--outcomes", "labels", "--delta", "1e-5"}
	out, problems, code := ask(t, "", append(args, "--eps", "0.5,1,10", "--json", "--junit", junit)...)
	require.Equal(t, command.Violated, code, problems)
	var docs []struct {
		Claimed    struct{ Exact string } `json:"claimed_eps"`
		Properties []struct {
			Name, Verdict string
			TightDelta    struct{ Lower string } `json:"tight_delta"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &docs))
	require.Len(t, docs, 3)
	for i, want := range []string{"1/2 proved", "1 proved", "10 violated"} {
		assert.Equal(t, "approximate-dp", docs[i].Properties[0].Name)
		assert.Equal(t, want, docs[i].Claimed.Exact+" "+docs[i].Properties[0].Verdict)
	}
	assert.True(t, strings.HasPrefix(docs[2].Properties[0].TightDelta.Lower, "0.000022"), out)
	text, err := os.ReadFile(junit)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(text), "<testsuite "))
	assert.Equal(t, 1, strings.Count(string(text), "<failure"))

	out, _, code = ask(t, "", append(args, "--eps", "0.5,1")...)
	assert.Equal(t, command.Done, code)
	assert.Contains(t, out, "ε = 0.5\n")
	assert.Contains(t, out, "ε = 1\n")
	for what, more := range map[string][]string{"--cert: a certificate is about one ε": {"--cert", filepath.Join(t.TempDir(), "c")}, "--html: a page is about one ε": {"--html", filepath.Join(t.TempDir(), "p")}} {
		_, problems, code = ask(t, "", append(append(args, "--eps", "0.5,1"), more...)...)
		assert.Equal(t, command.Usage, code)
		assert.Contains(t, problems, what)
	}
	// Verdicts on samples share what is left to chance: 5 % of two are 2.5 % each.
	out, problems, code = ask(t, "", "audit", "--sample-exec", `while read -r q; do s=${q##*:}; s=${s%?}; echo "{\"counts\":[$s,0]}"; done`, "--eps", "1,2", "-n", "2", "-k", "1", "--budget", "2000")
	assert.Equal(t, command.Done, code, problems)
	assert.Equal(t, 2, strings.Count(out, "with confidence 0.975"))
}

// sameVerdict is the verdict on the property same, with its witness.
type sameVerdict struct {
	Name, Verdict, Reason string
	Checked               int
	Witness               struct {
		Scores    []int
		Input     *int
		Candidate any
		P         struct{ Lower, Estimate string }
		PExpected struct{ Lower, Estimate string } `json:"p_expected"`
	}
}

// sameAs audits a program beside a reference.
func sameAs(t *testing.T, args ...string) (same *sameVerdict, code int) {
	t.Helper()
	out, problems, code := ask(t, "", append([]string{"audit", "--eps", "1", "--json"}, args...)...)
	var doc struct{ Properties []sameVerdict }
	require.NoError(t, json.Unmarshal([]byte(out), &doc), problems)
	for _, p := range doc.Properties {
		if p.Name == "same" {
			same = &p
		}
	}
	require.NotNil(t, same, out)
	return same, code
}

// TestTheWrongEndOfNoisyMax: report noisy max with Gumbel noise returned the least one (opendp/opendp, issue 2912, "make_report_noisy_max_gumbel returns the noisy min"), which is as private as the
// greatest, and useless.
func TestTheWrongEndOfNoisyMax(t *testing.T) {
	args := []string{"-n", "3", "-k", "1", "--property", "dp,same", "--pmf-exec"}
	same, code := sameAs(t, append(args, subjectCommand("noisy min"), "--against-exec", subjectCommand("noisy max"))...)
	assert.Equal(t, command.Violated, code)
	assert.Equal(t, "violated", same.Verdict)
	require.Len(t, same.Witness.Scores, 3)
	assert.NotEqual(t, same.Witness.P.Lower, same.Witness.PExpected.Lower)
	same, code = sameAs(t, append(args, subjectCommand("noisy max"), "--against-exec", subjectCommand("noisy max"))...)
	assert.Zero(t, code)
	assert.Equal(t, "proved", same.Verdict)
	assert.Equal(t, 21, same.Checked) // three candidates at seven score vectors
	// Of a reference whose answers change nothing is concluded.
	half, later := `while read -r q; do echo '{"pmf":["1/2","1/2"]}'; done`, `for i in 1 2 3; do read -r q; echo '{"pmf":["1/2","1/2"]}'; done; while read -r q; do echo '{"pmf":[1,0]}'; done`
	same, code = sameAs(t, "-n", "2", "-k", "1", "--no-side", "--pmf-exec", half, "--against-exec", later, "--property", "same")
	assert.Equal(t, command.Undecided, code)
	assert.Contains(t, same.Reason, "of the reference: different answers: ")
	_, problems, code := ask(t, "", append([]string{"audit", "--eps", "1", "-n", "2", "-k", "1", "--pmf-exec", subjectCommand("noisy max")}, "--against-exec", "exit 1")...)
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, problems, `"exit 1" ends before it is asked anything`)
}

// TestRoundedLaplace: rounded Laplace noise was taken for geometric noise (world-federation-of-advertisers/cardinality_estimation_evaluation_framework, pull request 97): at ε = 1 it leaves a
// count as it is with probability 1-e^{-1/2} = 0.393 in place of (e-1)/(e+1) = 0.462. Both are private.
func TestRoundedLaplace(t *testing.T) {
	args := []string{"--inputs", fileOf(t, "0\n1\n"), "--neighbors", fileOf(t, "0,1\n"), "--outcomes", "real", "--budget", "30000", "--property", "same", "--sample-exec"}
	same, code := sameAs(t, append(args, subjectCommand("rounded Laplace"), "--against-exec", subjectCommand("geometric"))...)
	assert.Equal(t, command.Violated, code)
	assert.Equal(t, "violated", same.Verdict)
	assert.Contains(t, same.Reason, "by a test of samples, p <= 0.05")
	require.NotNil(t, same.Witness.Input)
	same, code = sameAs(t, append(args, subjectCommand("geometric"), "--against-exec", subjectCommand("geometric anew"))...)
	assert.Zero(t, code)
	assert.Equal(t, "undecided", same.Verdict)
	assert.Contains(t, same.Reason, "would show")
}

// lines writes lines one by one, and then waits.
type lines struct {
	text []string
	wait <-chan struct{}
}

func (l *lines) Read(p []byte) (int, error) {
	if len(l.text) == 0 {
		<-l.wait
		return 0, io.EOF
	}
	n := copy(p, l.text[0]+"\n")
	l.text = l.text[1:]
	return n, nil
}

// TestInputsAsTheyCome: a mean whose noise is that for a known number of rows is private where a row is replaced, and not where one is added (opendp/smartnoise-core, issue 356, "Incorrect
// sensitivity calculations"). Both relations are looked at in one run, as lines come.
func TestInputsAsTheyCome(t *testing.T) {
	text := []string{
		`{"input":[0,1],"neighbors":{"add":[[0,1,1],[0,1,0]],"replace":[[1,1],[0,0]]}}`,
		`{"input":[1,1,1],"neighbors":{"replace":[[1,0,1],[0,1,1]]}}`,
		`{"input":[0,0,0],"neighbors":{"add":[[0,0,0,1]]}}`,
	}
	args := []string{"audit", "--pmf-exec", subjectCommand("mean"), "--inputs", "-", "--outcomes", "labels", "--property", "dp", "--json"}
	type document struct {
		Relation   string
		Claimed    struct{ Exact string } `json:"claimed_eps"`
		Domain     string
		Properties []struct {
			Verdict string
			Witness *struct {
				Input    []int
				Neighbor []int `json:"neighbor_input"`
			}
		}
	}
	out, problems, code := ask(t, strings.Join(text, "\n"), append(args, "--eps", "1,2")...)
	require.Equal(t, command.Violated, code, problems)
	var docs []document
	require.NoError(t, json.Unmarshal([]byte(out), &docs))
	require.Len(t, docs, 4)
	for i, want := range []string{"1 add violated", "1 replace proved", "2 add violated", "2 replace proved"} {
		assert.Equal(t, want, docs[i].Claimed.Exact+" "+docs[i].Relation+" "+docs[i].Properties[0].Verdict)
		assert.Equal(t, i%2 == 0, docs[i].Properties[0].Witness != nil)
	}
	assert.Contains(t, docs[0].Domain, "3 pairs related by add")
	assert.Contains(t, docs[1].Domain, "4 pairs related by replace")

	// A generator that goes on for ever is asked until the time is up, and what came is looked at.
	wait := make(chan struct{})
	defer close(wait)
	var o, p bytes.Buffer
	code = Run(t.Context(), append(args, "--eps", "1", "--time-limit", "3s"), &lines{text, wait}, &o, &p)
	require.Equal(t, command.Violated, code, p.String())
	require.NoError(t, json.Unmarshal(o.Bytes(), &docs))
	assert.Equal(t, "violated", docs[0].Properties[0].Verdict)
	assert.Equal(t, "proved", docs[1].Properties[0].Verdict, "of what came")

	// One relation without a name has one document.
	out, problems, code = ask(t, `{"input":[0,1],"neighbors":[[1,1]]}`, append(args, "--eps", "1")...)
	require.Zero(t, code, problems)
	var doc document
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	assert.Equal(t, "the 2 inputs of standard input, 1 pair", doc.Domain)
	for want, more := range map[string][]string{
		"the inputs were a stream": nil, "property asks for neither dp nor": {"--property", "same", "--against-exec", args[2]},
	} {
		_, problems, code = ask(t, `{"input":[0,1],"neighbors":[[1,1]]}`, slices.Concat(args, []string{"--eps", "1", "--cert", filepath.Join(t.TempDir(), "c")}, more)...)
		require.Zero(t, code, problems)
		assert.Contains(t, problems, "no certificate: "+want)
	}
	out, _, code = ask(t, strings.Join(text, "\n"), slices.DeleteFunc(append(args, "--eps", "1,2"), func(s string) bool { return s == "--json" })...)
	assert.Equal(t, command.Violated, code)
	assert.Regexp(t, `(?s)related by add, ε = 1\n.*related by replace, ε = 1\n.*related by add, ε = 2\n.*related by replace, ε = 2\n`, out)

	for wrong, want := range map[string]string{
		"":                "--inputs -: there are no lines",
		text[0] + "\n[1]": "standard input:2: not a JSON object; give {\"input\":VALUE",
		`{"input":1}`:     "standard input:1: \"{\\\"input\\\":1}\"; give {",
		text[0] + "\n{\"input\":1,\"neighbors\":[1]}":            `standard input:2: the neighbors are related by ""`,
		text[0] + "\n{\"input\":1,\"neighbors\":{\"swap\":[1]}}": `standard input:2: the neighbors are related by "swap"`,
		`{"input":1,"neighbors":3}`:                              "standard input:1: the neighbors \"3\"; give {",
		`{"input":1,"neighbors":[{"a":1,"a":2}]}`:                "standard input:1: ",
	} {
		_, problems, code := ask(t, wrong, append(args, "--eps", "1")...)
		assert.Equal(t, command.Usage, code, wrong)
		assert.Contains(t, problems, want)
		assert.Equal(t, 1, strings.Count(problems, "\n"), problems)
	}
	for what, more := range map[string][]string{
		"leave --neighbors out": {"--neighbors", "remove-row"}, "--html: a page": {"--html", filepath.Join(t.TempDir(), "p")}, "about one relation": {"--cert", filepath.Join(t.TempDir(), "c")},
	} {
		_, problems, code := ask(t, strings.Join(text, "\n"), append(append(args, "--eps", "1"), more...)...)
		assert.Equal(t, command.Usage, code)
		assert.Contains(t, problems, what)
	}
}

// TestLargerDatasets: the weights of an exponential mechanism for quantiles underflow where a thousand rows are equal, and it fails (opendp/smartnoise-sdk, issue 572; IBM/differential-privacy-library,
// issue 107). Of datasets with five rows nothing shows it; the side set finds the number of rows where it begins, at which the failure is an outcome that tells a row.
func TestLargerDatasets(t *testing.T) {
	args := []string{"audit", "--pmf-exec", subjectCommand("quantile"), "--inputs", fileOf(t, "[0,0.25,0.5,0.75,1]\n"), "--outcomes", "labels", "--eps", "2", "--property", "dp", "--json"}
	type document struct {
		Domain     string
		Properties []struct {
			Verdict string
			Witness *struct {
				Input     []float64
				Neighbor  []float64 `json:"neighbor_input"`
				Candidate string
			}
		}
	}
	audit := func(more ...string) (doc document, code int) {
		out, problems, code := ask(t, "", append(args, more...)...)
		require.NoError(t, json.Unmarshal([]byte(out), &doc), problems)
		return doc, code
	}
	doc, code := audit("--neighbors", "remove-row")
	assert.Equal(t, command.Violated, code)
	assert.Contains(t, doc.Domain, "; and a side set of ")
	require.Equal(t, "violated", doc.Properties[0].Verdict)
	w := doc.Properties[0].Witness
	assert.Equal(t, "error", w.Candidate)
	// e^{-n/2} is 0 in double precision, times 1/10, from n = 1486 on, or a little later.
	assert.InDelta(t, 1487, len(w.Input), 6)
	assert.InDelta(t, len(w.Input), len(w.Neighbor), 1)

	doc, code = audit("--neighbors", "remove-row", "--no-side")
	assert.Zero(t, code)
	assert.NotContains(t, doc.Domain, "side set")
	// Where rows are replaced their number may be fixed, and those numbers count where there is an answer.
	doc, code = audit("--neighbors", "replace-row")
	assert.Zero(t, code)
	assert.Contains(t, doc.Domain, "; and a side set of ")
	// A program for five rows alone is asked about no others.
	five := `while read -r q; do case $q in *\[*,*,*,*,*,*,*,*) echo '{"error":"too many"}';; *) echo '{"pmf":{"a":1}}';; esac; done`
	out, problems, code := ask(t, "", "audit", "--pmf-exec", five, "--inputs", fileOf(t, "[1,2,3]\n"), "--neighbors", "replace-row", "--outcomes", "labels", "--eps", "1", "--property", "dp")
	assert.Zero(t, code, problems)
	assert.NotContains(t, out, "finding")
	// A sampler has no side set, and says so; with --no-side nobody expects one.
	const sampler = `while read -r q; do s=${q##*:}; s=${s%?}; printf '{"counts":{"a":%d,"b":%d}}\n' $((s/2)) $((s-s/2)); done`
	for _, flags := range [][]string{nil, {"--no-side"}} {
		out, problems, code = ask(t, "", append([]string{"audit", "--sample-exec", sampler, "--inputs", fileOf(t, "[1,2,3]\n"), "--neighbors", "remove-row", "--outcomes", "labels", "--eps", "1", "--budget", "4000", "--property", "dp"}, flags...)...)
		assert.Equal(t, command.Violated, code, problems) // of independence: the same counts every time
		assert.Equal(t, flags == nil, strings.Contains(out, "no side set, whose pairs would share the samples"), out+problems)
	}
}

// TestGalleryOfDivergences: what the gallery shows of autodp's divergences is what the command says.
func TestGalleryOfDivergences(t *testing.T) {
	page, err := os.ReadFile("../docs/explanation/gallery.md")
	require.NoError(t, err)
	line := regexp.MustCompile(`\$ optratio (verify --mechanism em --domain real .*)\n`).FindSubmatch(page)
	require.NotNil(t, line)
	code, out, errs := quietly(append(strings.Fields(string(line[1])), "--digits", "6")...)
	require.Equal(t, command.Violated, code, errs)
	said := strings.Split(out, "\n")
	for _, verdict := range said[1:3] {
		assert.Contains(t, string(page), "\n    "+strings.TrimSpace(verdict)+"\n")
	}
}
