//go:build !js

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/cli"
	"optratio/internal/document"
	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/internal/recommend"
)

// reference are questions of every kind.
var reference = []string{
	`ratio {"n":4,"k":4,"eps":"0.5"}`, `ratio {"n":5,"k":3,"exp-eps":"3/2","mechanism":"pf,em,krr,uniform"}`, `ratio {"n":5,"k":5,"eps":"0.2"}`, `ratio {"n":60,"k":3,"eps":"0.5"}`, `ratio {"n":8,"k":3,"eps":"0.3"}`,
	`ratio {"n":4,"k":3,"eps":"0.5","constraints":"full"}`, `ratio {"n":4,"k":3,"exp-eps":"3/2","constraints":"dp"}`, `ratio {"n":3,"k":2,"eps":"0.4,0.8,1.2","mechanism":"pf"}`,
	`ratio {"n":3,"k":3,"eps":"1","step":"delta","constraints":"dp","mechanism":"pf,geo"}`, `ratio {"n":3,"k":3,"eps":"0.5","worst":true}`, `ratio {"n":3,"k":3,"eps":"0.5","prior":"geometric:0.5","loss":"square"}`,
	`ratio {"n":6,"k":4,"eps":"0.5","loss":"tail:2","objective":"box"}`, `threshold {"n":4,"k":4}`, `threshold {"n":3,"k":5,"constraints":"dp"}`,
	`pmf {"mechanism":"pf","scores":"0,-1,-3","eps":"1"}`, `pmf {"mechanism":"rnm-laplace","scores":"0,-0.5,-3","eps":"0.7"}`, `pmf {"mechanism":"em","scores":"0,-2,-4","exp-eps":"3/2"}`,
	`recommend {"scores":"8,6,5","sensitivities":"1,1,4","eps":"1"}`,
	`audit {"pmf-file":"table.jsonl","eps":"0.5"}`, `audit {"pmf-file":"table.jsonl","eps":"1","neighbors":"shifted"}`, `evaluate {"task":"mode","histogram":"counts.csv","eps":"0.5"}`, `evaluate {"task":"median","histogram":"counts.csv","exp-eps":"3/2"}`,
	`optimum {"File":"problem.json","exp-eps":"2","rate":"rate.csv"}`, `optimum {"preset":"count:2","exp-eps":"4","delta":"0.01","worst":true,"rate":"rate.csv"}`, `optimum {"File":"problem.json","eps":"0.5"}`, `check {"File":"valid.cert"}`, `check {"File":"invalid.cert"}`,
}

// written is a job, and what it was answered.
type written struct {
	Kind      string
	Question  json.RawMessage
	Files     map[string]string
	Documents []json.RawMessage
	Violated  string
	Undecided string
	Err       string
}

// question is the question, an error where it is of no kind that pages ask.
func (w written) question() (job.Question, error) {
	q := map[string]job.Question{
		"ratio": job.New[job.Ratio](), "threshold": job.New[job.Threshold](), "pmf": job.New[job.PMF](), "recommend": job.New[job.Recommend](), "audit": job.New[job.Audit](),
		"evaluate": job.New[job.Evaluate](), "optimum": job.New[job.Optimum](), "check": job.New[job.Check](),
	}[w.Kind]
	if q == nil {
		return nil, errors.New("no such kind of job")
	}
	return q, json.Unmarshal(w.Question, q)
}

// answered does the job.
func (w written) answered(ctx context.Context) written {
	q, err := w.question()
	var a *job.Answer
	if err == nil {
		a, err = run(ctx, front.Job{Question: q, Files: w.Files}, func(string, ...any) {})
	}
	if err != nil {
		return written{Err: err.Error()}
	}
	out := written{Violated: a.Violated, Undecided: a.Undecided}
	for _, d := range a.Documents {
		out.Documents = append(out.Documents, document.Encode(d))
	}
	return out
}

// command runs the command.
func command(t *testing.T, words ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = cli.Run(t.Context(), words, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// referenceJobs are the reference questions; their files are in the folder in which the test now is.
func referenceJobs(t *testing.T) (jobs []written) {
	rate, err := os.ReadFile("../testdata/optimum/table.csv")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	files := map[string]string{
		"table.jsonl":  "{\"scores\":[0,0],\"pmf\":[\"1/2\",0.5]}\n{\"scores\":[1,0],\"pmf\":[0.7,\"3/10\"]}\n{\"scores\":[2,0],\"pmf\":[0.9,0.1]}\n",
		"rate.csv":     string(rate),
		"counts.csv":   "bin,count\na,12\nb,7\nc,7\nd,3\ne,0\n",
		"problem.json": `{"inputs":["0","1","2"],"outputs":["0","1","2"],"pairs":[["0","1"],["1","2","3/2"]],"loss":"abs","prior":["1/4","1/2","1/4"]}`,
	}
	code, _, errs := command(t, strings.Fields("ratio -n 3 -k 3 --exp-eps 3/2 --cert valid.cert")...)
	require.Zero(t, code, errs)
	data, err := os.ReadFile("valid.cert")
	require.NoError(t, err)
	files["valid.cert"] = string(data)
	files["invalid.cert"] = strings.Replace(string(data), "dual 2 1 0 0 1\n", "dual 2 1 0 0 2\n", 1)
	for name, text := range files {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	for _, r := range reference {
		kind, question, _ := strings.Cut(r, " ")
		jobs = append(jobs, written{Kind: kind, Question: json.RawMessage(question), Files: files})
	}
	return jobs
}

// words are those of the command line that asks the same.
func (w written) words(t *testing.T) []string {
	q, err := w.question()
	require.NoError(t, err)
	return job.CommandLine(q)
}

// agrees compares an answer with what the command prints, to the last digit; only how long it took may differ.
func agrees(t *testing.T, words []string, got written) {
	code, want, errs := command(t, append(words, "--json")...)
	line := strings.Join(words, " ")
	require.Empty(t, got.Err, line)
	require.Equal(t, code == 1, got.Violated != "", "%s: %s", line, errs)
	require.Equal(t, code == 3, got.Undecided != "", "%s: %s", line, errs)
	found, err := json.Marshal(got.Documents)
	require.NoError(t, err)
	if want = strings.TrimSpace(want); !strings.HasPrefix(want, "[") {
		want = "[" + want + "]"
	}
	assert.Equal(t, timeless(t, []byte(want)), timeless(t, found), line)
}

// timeless is a document without how long it took, and with its numbers as they are written.
func timeless(t *testing.T, text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc any
	require.NoError(t, d.Decode(&doc))
	var strip func(any)
	strip = func(x any) {
		switch v := x.(type) {
		case map[string]any:
			delete(v, "seconds")
			for _, y := range v {
				strip(y)
			}
		case []any:
			for _, y := range v {
				strip(y)
			}
		}
	}
	strip(doc)
	out, err := json.MarshalIndent(doc, "", " ")
	require.NoError(t, err)
	return string(out)
}

// TestJobsAreTheCommands compares the documents of the engine, here compiled natively, with the command's.
func TestJobsAreTheCommands(t *testing.T) {
	for _, w := range referenceJobs(t) {
		agrees(t, w.words(t), w.answered(t.Context()))
	}
}

// TestJobsRefuse has what a page cannot answer refused, by fields and not by flags.
func TestJobsRefuse(t *testing.T) {
	for question, says := range map[string]string{
		`ratio {"n":3,"k":2}`: "give eps 0.5 or exp-eps 3/2", `ratio {"k":2,"eps":"0.5"}`: "n is missing or 0", `ratio {"n":3,"k":2,"eps":"x"}`: `eps "x": `,
		`pmf {"mechanism":"nobody","scores":"0","eps":"1"}`: `mechanism "nobody": `, `audit {"eps":"1"}`: "give exactly one of pmf-exec, sample-exec and pmf-file",
		`audit {"pmf-file":"table.jsonl","eps":"1"}`: `pmf-file "table.jsonl": `, `report {}`: "no such kind of job", `check {"File":"c"}`: `"c": `,
	} {
		kind, fields, _ := strings.Cut(question, " ")
		a := written{Kind: kind, Question: json.RawMessage(fields), Files: map[string]string{"c": "1\n"}}.answered(t.Context())
		assert.Contains(t, a.Err, says, question)
		assert.NotContains(t, a.Err, "--", question)
		assert.Empty(t, a.Documents, question)
	}
}

// TestTimeLimit: a job that its limit ends says what is certified so far.
func TestTimeLimit(t *testing.T) {
	q := job.New[job.Ratio]()
	q.Size, q.Eps = job.Size{N: 9, K: 8}, "0.2"
	a, err := run(t.Context(), front.Job{Question: q, Limit: 100 * time.Millisecond}, func(string, ...any) {})
	require.NoError(t, err)
	assert.Contains(t, a.Undecided, "the time limit of 100ms was reached")
	assert.True(t, a.Documents[0].(*document.Ratio).Optimum.IsValid())
}

// TestErrorsOverEpsilon: the curves of the page that chooses have the numbers of the command, also of pf and em where others are better.
func TestErrorsOverEpsilon(t *testing.T) {
	site := &front.Site{Static: true, Run: func(ctx context.Context, j front.Job) (*job.Answer, error) {
		return run(ctx, j, func(string, ...any) {})
	}}
	c := site.Begin("choose", url.Values{"eps": {"5/2"}, "of": {"exp-eps"}, "mechanism": {"uniform,gem,pf,em,pf-mixed"}})
	require.True(t, c.Next(t.Context()))
	require.False(t, c.Next(t.Context()))
	require.NoError(t, c.Err)
	_, rest := c.Parts()
	_, curves, ok := strings.Cut(rest, "The same for other ε")
	require.True(t, ok)
	curves, _, _ = strings.Cut(curves, "</section>")
	const line = "recommend --scores=8,6,5 --sensitivities=1,1,4 --mechanism gem,pf-mixed,pf,em,uniform --eps "
	assert.Contains(t, curves, "optratio "+line+"0.2<")
	assert.Equal(t, 4, strings.Count(curves, `class="line `)/2, "lines and their names")
	for _, eps := range []string{"0.2", "2.4"} {
		var d recommend.Recommendation
		_, printed, _ := command(t, strings.Fields(line+eps+" --json")...)
		require.NoError(t, json.Unmarshal([]byte(printed), &d))
		for _, name := range []string{"gem", "pf-mixed", "pf", "em", "uniform"} {
			i := slices.IndexFunc(d.Mechanisms, func(m recommend.Rated) bool { return m.Name == name })
			assert.Regexp(t, "<td>"+eps+"</td><td><a [^>]*>"+name+"</a></td><td>"+d.Mechanisms[i].ExpectedError.String()+"</td>", curves)
		}
	}
}
