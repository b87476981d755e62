package front

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/number"
)

// TestCourse: an undecided answer is narrowed by the next step, with more time, and the curve comes last.
func TestCourse(t *testing.T) {
	found := &document.Ratio{N: 3, K: 2, AtEpsilon: document.At("1", ""), Step: "2delta", Loss: "square", Prior: "uniform", Objective: "paper"}
	var asked []string
	s := &Site{Run: func(_ context.Context, j Job) (*job.Answer, error) {
		asked = append(asked, strings.Join(job.CommandLine(j.Question), " ")+" in "+j.Limit.String())
		a := &job.Answer{Documents: []document.Document{found}}
		if len(asked) == 1 {
			a.Undecided = "not yet"
		}
		return a, nil
	}}
	c := s.Begin("rate", url.Values{"n": {"3"}, "k": {"2"}, "eps": {"1"}, "loss": {"square"}})
	require.NoError(t, c.Err)
	steps := 1
	limits := []time.Duration{c.Limit()}
	for ; c.Next(t.Context()); steps++ {
		require.Less(t, steps, 5)
		limits = append(limits, c.Limit())
	}
	assert.Equal(t, []time.Duration{26 * time.Second, 25 * time.Second, curveLimit}, limits)
	assert.Equal(t, 3, steps)
	line := "ratio -n 3 -k 2 --eps 1 --loss square in "
	assert.Equal(t, []string{line + "1s", line + "5s"}, asked)
	_, rest := c.Parts()
	assert.Contains(t, rest, "optratio ratio -n 3 -k 2 --eps 1 --loss square</code>")

	s.Run = func(context.Context, Job) (*job.Answer, error) { return nil, number.InputError("<no>") }
	c = s.Begin("pmf", nil)
	assert.False(t, c.Next(t.Context()))
	assert.True(t, job.IsInput(c.Err))
	head, _ := c.Parts()
	assert.Contains(t, head, "&lt;no&gt;")
	full := errors.New("full")
	s.Run = func(context.Context, Job) (*job.Answer, error) { return nil, full }
	c = s.Begin("pmf", nil)
	c.Whole(t.Context())
	assert.ErrorIs(t, c.Err, full)
	assert.False(t, job.IsInput(c.Err))
}

// TestViews: a server has no view in which it would run a function, and fields that are wrong are named, be it by the form or by the question.
func TestViews(t *testing.T) {
	server, static := &Site{}, &Site{Static: true, Run: func(ctx context.Context, j Job) (*job.Answer, error) {
		return j.Do(ctx, 1<<30, func(string, ...any) {})
	}}
	assert.True(t, job.IsInput(server.Begin("javascript", nil).Err))
	assert.NoError(t, static.Begin("javascript", nil).Err)
	assert.True(t, job.IsInput(static.Begin("nowhere", nil).Err))
	for view, query := range map[string]string{"rate": "loss=cubic", "pmf": "scores=1,x", "choose": "sensitivities=a", "optimum": "preset=count:61", "audit": "neighbors=perhaps", "javascript": "n=7", "evaluate": "task=/etc/passwd"} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		c := static.Begin(view, values)
		c.Next(t.Context())
		err = c.Err
		require.True(t, job.IsInput(err), view)
		name, _, _ := strings.Cut(query, "=")
		assert.Regexp(t, "^"+name+":? ", err.Error(), view)
		assert.Equal(t, name, fieldOf(err))
		var page strings.Builder
		require.NoError(t, c.WritePage(&page))
		assert.Regexp(t, `aria-invalid="true" aria-describedby="`+name+`-wrong"`, page.String())
		assert.Regexp(t, `<span class="wrong" id="`+name+`-wrong">`, page.String())
	}
	// Nothing in a field is an error there, not the standard.
	for view, query := range map[string]string{"rate": "eps=", "choose": "scores=", "optimum": "delta=", "pmf": "mechanism=", "javascript": "n="} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSuffix(query, "="), fieldOf(static.Begin(view, values).Err), query)
	}
	assert.NoError(t, static.Begin("rate", url.Values{"prior": {""}}).Err)
	assert.ErrorContains(t, static.Begin("rate", url.Values{"eps": {"0,7"}}).Err, "write a decimal with a point, such as 0.7")
}

// TestFieldsFillQuestions: what a form says is what is asked, however a number is written.
func TestFieldsFillQuestions(t *testing.T) {
	var asked []string
	s := &Site{Run: func(_ context.Context, j Job) (*job.Answer, error) {
		asked = append(asked, strings.Join(job.CommandLine(j.Question), " "))
		return nil, number.InputError("no answer")
	}}
	for _, c := range [][3]string{
		{"rate", "n=3&k=2&eps=1e-6", "ratio -n 3 -k 2 --eps 1e-6"},
		{"rate", "eps=.5&mechanism=pf&mechanism=krr&mechanism=", "ratio -n 4 -k 4 --eps .5 --mechanism pf,krr"},
		{"rate", "eps=3/2&of=exp-eps&prior=geometric:0.5&loss=tail:1&worst=true", "ratio -n 4 -k 4 --exp-eps 3/2 --loss tail:1 --worst --prior geometric:0.5"},
		{"rate", "eps=1.5&of=exp-eps", "ratio -n 4 -k 4 --exp-eps 1.5"},
		{"choose", "scores=3, 2,−1&sensitivities=1&mechanism=pf", "recommend --scores=3,2,-1 --sensitivities=1 --mechanism pf --eps 1"},
		{"audit", "neighbors=shifted", "audit --pmf-file table.jsonl --eps 0.5 --neighbors shifted"},
		{"evaluate", "task=median&eps=2", "evaluate --task median --histogram counts.csv --eps 2"},
		{"optimum", "preset=grid:2x3&delta=1e-6&worst=true&rate=x", "optimum --preset grid:2x3 --eps 0.5 --delta 1e-6 --worst --rate table.csv"},
		{"optimum", "", "optimum problem.json --eps 0.5"},
	} {
		values, err := url.ParseQuery(c[1])
		require.NoError(t, err)
		s.Begin(c[0], values).Next(t.Context())
		assert.Equal(t, c[2], asked[len(asked)-1])
	}
}

// TestFrame: the function under audit has a frame of its own, whose policy allows its script alone; only the page that has the frame allows it, and
// no page allows frames that are led elsewhere.
func TestFrame(t *testing.T) {
	static := &Site{Static: true}
	for _, v := range static.Views() {
		view := v.Name
		var b strings.Builder
		require.NoError(t, static.Begin(view, nil).WritePage(&b))
		page := html.UnescapeString(b.String())
		policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1]
		assert.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
		assert.NotContains(t, policy, "frame-src")
		assert.NotContains(t, policy, "child-src")
		assert.NotContains(t, strings.Split(policy, "worker-src")[0], "blob:")
		own := view == "javascript"
		assert.Equal(t, own, strings.Contains(policy, "worker-src 'self' blob:"), policy)
		assert.Equal(t, own, strings.Contains(policy, (*sheet)(nil).Hash()), policy)
		assert.Equal(t, own, strings.Contains(page, (*sheet)(nil).Frame()))
	}
	inside := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch((*sheet)(nil).Frame())[1]
	sum := sha256.Sum256([]byte(inside))
	assert.Contains(t, (*sheet)(nil).Frame(), "default-src 'none'; script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"' 'wasm-unsafe-eval'; worker-src blob:;")
}
