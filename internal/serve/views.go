package serve

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"optratio/internal/report"
)

var (
	//go:embed view.html
	layout string
	//go:embed app.js
	script []byte
	//go:embed app.css
	style string

	view = template.Must(template.New("view").Funcs(template.FuncMap{"typeset": report.Typeset}).Parse(layout))
)

// field is an input of a view's form.
type field struct {
	Name, Label, Value, Help string
	Kind                     string // number, range, text, select, area
	Least, Most, Step        string
	Options                  []string
}

// shown is what a view's page has.
type shown struct {
	Title, Path, Lead string
	Views             []viewLink
	Fields            []field
	Method            string
	Live              bool // answers as one types
	Answer, Extra     template.HTML
	Error             string
}

type viewLink struct {
	Path, Name string
	Current    bool
}

// kinds are the views, in the order of their links.
var kinds = []struct{ path, name string }{
	{"/", "How far from optimal"}, {"/map", "Map"}, {"/pmf", "Probabilities"}, {"/audit", "Audit a table"}, {"/evaluate", "Histogram"}, {"/optimum", "Any problem"},
}

// streamPath is where answers are streamed as they get better.
const streamPath = "/events"

func (s *Server) routes() {
	s.mux.HandleFunc("GET /{$}", s.ratio)
	s.mux.HandleFunc("GET "+streamPath, s.events)
	s.mux.HandleFunc("GET /map", s.heat)
	s.mux.HandleFunc("GET /pmf", s.pmf)
	s.mux.HandleFunc("GET /audit", s.audit)
	s.mux.HandleFunc("POST /audit", s.audit)
	s.mux.HandleFunc("GET /evaluate", s.evaluate)
	s.mux.HandleFunc("POST /evaluate", s.evaluate)
	s.mux.HandleFunc("GET /optimum", s.optimum)
	s.mux.HandleFunc("POST /optimum", s.optimum)
	s.mux.HandleFunc("GET /app.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(script)
	})
	s.mux.HandleFunc("GET /app.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write([]byte(report.Style() + style))
	})
}

// show writes a view, or only its answer where the request asks for a part.
func (s *Server) show(w http.ResponseWriter, r *http.Request, v shown, p *report.Page, err error) {
	code := http.StatusOK
	switch {
	case err != nil:
		v.Error = err.Error()
		var wrong *fieldError
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			code, v.Error = http.StatusRequestEntityTooLarge, fmt.Sprintf("that is more than %d bytes; use the command for it", maxBody)
		case errors.As(err, &wrong), errors.Is(err, errInput):
			code = http.StatusBadRequest
		case errors.Is(err, errBusy):
			code = http.StatusTooManyRequests
		default:
			code = http.StatusServiceUnavailable
		}
	case p != nil:
		var b bytes.Buffer
		if err := p.WriteBody(&b); err != nil {
			code, v.Error = http.StatusInternalServerError, err.Error()
		}
		v.Answer = template.HTML(b.String())
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	if r.URL.Query().Get("part") != "" {
		_ = view.ExecuteTemplate(w, "answer", v)
		return
	}
	for _, k := range kinds {
		v.Views = append(v.Views, viewLink{k.path, k.name, k.path == v.Path})
	}
	_ = view.Execute(w, v)
}

// errInput is wrapped by what a job says of its input.
var errInput = errors.New("input")

// answered does a job; an answer without a document is an error about its input.
func (s *Server) answered(r *http.Request, args []string) (answer, error) {
	a, err := s.do(r.Context(), client(r), args)
	if err == nil && (a.code == 2 || len(a.document) == 0) {
		err = a.refused()
	}
	return a, err
}

// refused is what the job said, as an error about its input.
func (a answer) refused() error {
	return fmt.Errorf("%w: %s", errInput, strings.TrimPrefix(a.message, "optratio: "))
}

// page runs a job and draws its document.
func (s *Server) page(r *http.Request, args []string, curve bool) (*report.Page, error) {
	a, err := s.answered(r, args)
	if err != nil {
		return nil, err
	}
	if curve {
		return s.Draw(a.document, args, s.doing(r))
	}
	return s.Draw(a.document, args, nil)
}

// orbits beyond which the explorer refuses a lattice, to stay quick.
const (
	maxCandidates = 60
	maxDepth      = 60
)

// stages are the time limits of one ratio: what a short one leaves undecided a longer one narrows.
var stages = []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}

// ratioJob reads the explorer's fields.
func (s *Server) ratioJob(values url.Values) (args []string, v shown, err error) {
	f := &form{values: values}
	n, k := f.count("n", 4, 1, maxCandidates), f.count("k", 4, 1, maxDepth)
	eps := f.epsilon("0.5")
	level := f.one("constraints", "paper", "paper", "dp", "monotone", "full")
	names := f.names("mechanism", "pf,em", s.Mechanisms)
	args = append([]string{"ratio", "-n", strconv.Itoa(n), "-k", strconv.Itoa(k)}, eps...)
	if level != "paper" {
		args = append(args, "--constraints", level)
	}
	if list := strings.Join(names, ","); list != "pf,em" {
		args = append(args, "--mechanism", list)
	}
	v = shown{
		Title: "How far from optimal is a private selection mechanism?", Path: "/", Method: "get", Live: true,
		Lead: "n candidates have scores that are whole multiples of 2Δ, at most k of them below the best. How much larger is a mechanism's mean error than the least that ε-differential privacy permits? The answer is certified.",
		Fields: []field{
			{Name: "n", Label: "Candidates, n", Kind: "range", Value: strconv.Itoa(n), Least: "1", Most: "12", Step: "1"},
			{Name: "k", Label: "Depth, k steps of 2Δ", Kind: "range", Value: strconv.Itoa(k), Least: "1", Most: "12", Step: "1"},
			{Name: "eps", Label: "Privacy, ε (or e^ε as a fraction)", Kind: "range", Value: eps[1], Least: "0.05", Most: "2", Step: "0.05"},
			{Name: "constraints", Label: "Compared with", Kind: "select", Value: level, Options: []string{"paper", "dp", "monotone", "full"},
				Help: "paper: privacy towards the worst neighbors; dp: towards all; monotone, full: mechanisms that are monotone as well"},
			{Name: "mechanism", Label: "Mechanisms", Kind: "text", Value: strings.Join(names, ",")},
		},
	}
	return args, v, f.err
}

func (s *Server) ratio(w http.ResponseWriter, r *http.Request) {
	args, v, err := s.ratioJob(r.URL.Query())
	var p *report.Page
	if err == nil {
		p, err = s.page(r, limited(args, stages[0]), true)
	}
	s.show(w, r, v, p, err)
}

func limited(args []string, d time.Duration) []string {
	return append(append([]string{}, args...), "--time-limit", d.String())
}

// events streams the answer of a ratio job: what is known after a second, and better answers until it is decided or the last
// stage ends. The job ends when the client goes away.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	args, v, err := s.ratioJob(r.URL.Query())
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	control := http.NewResponseController(w)
	send := func(event string, text []byte) {
		_ = control.SetWriteDeadline(time.Now().Add(writeLimit))
		fmt.Fprintf(w, "event: %s\n", event)
		for _, line := range bytes.Split(text, []byte("\n")) {
			fmt.Fprintf(w, "data: %s\n", line)
		}
		fmt.Fprint(w, "\n")
		_ = control.Flush()
	}
	for i, stage := range stages {
		if err != nil {
			break
		}
		send("working", []byte("working, for up to "+stage.String()))
		var a answer
		if a, err = s.answered(r, limited(args, stage)); err != nil {
			break
		}
		decided := a.code != 3
		var p *report.Page
		if p, err = s.Draw(a.document, args, nil); err != nil {
			break
		}
		send("answer", body(p))
		if decided || i == len(stages)-1 {
			if p, err = s.Draw(a.document, args, s.doing(r)); err == nil && r.Context().Err() == nil {
				send("answer", body(p))
			}
			break
		}
	}
	if err != nil {
		v.Error = err.Error()
		var b bytes.Buffer
		_ = view.ExecuteTemplate(&b, "answer", v)
		send("answer", b.Bytes())
	}
	send("end", []byte("end"))
}

func body(p *report.Page) []byte {
	var b bytes.Buffer
	if err := p.WriteBody(&b); err != nil {
		return []byte(template.HTMLEscapeString(err.Error()))
	}
	return b.Bytes()
}

func (s *Server) pmf(w http.ResponseWriter, r *http.Request) {
	f := &form{values: r.URL.Query()}
	scores, eps := f.scores("0,-1,-3"), f.epsilon("1")
	names := []string{f.one("first", "pf", s.Mechanisms...), f.one("second", "em", s.Mechanisms...)}
	v := shown{
		Title: "Two mechanisms on the same scores", Path: "/pmf", Method: "get", Live: true,
		Lead: "With which probability does each mechanism take each candidate? Scores can be typed, or moved with the sliders; the sensitivity is 1.",
		Fields: []field{
			{Name: "scores", Label: "Scores", Kind: "text", Value: strings.Join(scores, ","), Help: "comma-separated"},
			{Name: "eps", Label: "Privacy, ε (or e^ε as a fraction)", Kind: "range", Value: eps[1], Least: "0.05", Most: "5", Step: "0.05"},
			{Name: "first", Label: "First mechanism", Kind: "select", Value: names[0], Options: s.Mechanisms},
			{Name: "second", Label: "Second mechanism", Kind: "select", Value: names[1], Options: s.Mechanisms},
		},
	}
	err := f.err
	var documents [][]byte
	var lines []string
	for _, name := range names {
		if err != nil {
			break
		}
		args := append([]string{"pmf", "--mechanism", name, "--scores=" + strings.Join(scores, ",")}, eps...)
		lines = append(lines, "optratio "+strings.Join(args, " "))
		var a answer
		if a, err = s.answered(r, limited(args, 5*time.Second)); err == nil && a.code != 0 {
			err = a.refused()
		}
		documents = append(documents, a.document)
	}
	var p *report.Page
	if err == nil {
		if p, err = report.Compare(scores, documents); err == nil {
			p.AddCommands(lines...)
		}
	}
	s.show(w, r, v, p, err)
}

// upload is a text in a form's field, which a job reads from a file.
type upload struct{ field, file string }

// pasted writes what some of a form's fields have to files, for one job; drop removes them.
func pasted(r *http.Request, uploads ...upload) (folder string, drop func(), err error) {
	folder, err = os.MkdirTemp("", "optratio")
	if err != nil {
		return "", nil, err
	}
	for _, u := range uploads {
		text := strings.ReplaceAll(r.PostFormValue(u.field), "\r\n", "\n")
		if err = os.WriteFile(filepath.Join(folder, u.file), []byte(text), 0o600); err != nil {
			break
		}
	}
	return folder, func() { os.RemoveAll(folder) }, err
}

// exampleTable is a table that no 1/2-DP mechanism has.
const exampleTable = `{"scores":[0,0],"pmf":["1/2","1/2"]}
{"scores":[1,0],"pmf":["7/10","3/10"]}
{"scores":[2,0],"pmf":["9/10","1/10"]}
`

func (s *Server) audit(w http.ResponseWriter, r *http.Request) {
	s.paste(w, r, shown{
		Title: "Audit a table of probabilities", Path: "/audit", Method: "post",
		Lead: "Paste one line for each score vector: its scores, and the probability of each candidate, as numbers or fractions. Rows whose scores differ by at most the sensitivity 1 are neighbors.",
	}, []upload{{"table", "table.jsonl"}}, func(f *form, folder string) []string {
		args := append([]string{"audit", "--pmf-file", filepath.Join(folder, "table.jsonl")}, f.epsilon("0.5")...)
		if f.one("shifted", "no", "no", "yes") == "yes" {
			args = append(args, "--shifted")
		}
		return args
	}, field{Name: "table", Label: "The table, a JSON object a line", Kind: "area", Value: exampleTable}, epsilonField, field{Name: "shifted", Label: "Rows are neighbors after a shift of all scores too", Kind: "select", Options: []string{"no", "yes"}})
}

func (s *Server) evaluate(w http.ResponseWriter, r *http.Request) {
	s.paste(w, r, shown{
		Title: "Errors on a histogram", Path: "/evaluate", Method: "post",
		Lead: "Paste the counts of a histogram, one a line. What error do the mechanisms have when they choose its most frequent bin or its median?",
	}, []upload{{"counts", "counts.csv"}}, func(f *form, folder string) []string {
		return append([]string{"evaluate", "--task", f.one("task", "mode", "mode", "median"), "--histogram", filepath.Join(folder, "counts.csv")}, f.epsilon("0.5")...)
	}, field{Name: "counts", Label: "Counts, one a line", Kind: "area", Value: "12\n7\n7\n3\n0\n1\n"}, epsilonField, field{Name: "task", Label: "Choose", Kind: "select", Options: []string{"mode", "median"}})
}

// exampleProblem is a problem with a bit of everything.
const exampleProblem = `{"inputs":["0","1","2"], "outputs":["0","1","2"],
 "pairs":[["0","1"],["1","2","3/2"]],
 "loss":[["0","1","2"],["1","0","1"],["2","1","0"]],
 "prior":["1/4","1/2","1/4"]}
`

func (s *Server) optimum(w http.ResponseWriter, r *http.Request) {
	s.paste(w, r, shown{
		Title: "The best private mechanism of any problem", Path: "/optimum", Method: "post",
		Lead: "Paste a problem, or name a preset: inputs, pairs of neighbors with distances, what each output costs at each input, and a prior. What is the least loss that ε-DP or (ε,δ)-DP permits, by which mechanism, and how far is yours from it?",
	}, []upload{{"problem", "problem.json"}, {"table", "table.csv"}}, func(f *form, folder string) []string {
		args := []string{"optimum"}
		if preset := f.preset("preset"); preset != "" {
			args = append(args, "--preset", preset)
		} else {
			args = append(args, filepath.Join(folder, "problem.json"))
		}
		args = append(args, f.epsilon("0.5")...)
		if delta := f.delta("delta"); delta != "" {
			args = append(args, "--delta", delta)
		}
		if f.one("judged", judgedBy[0], judgedBy...) == judgedBy[1] {
			args = append(args, "--worst")
		}
		if strings.TrimSpace(f.values.Get("table")) != "" {
			args = append(args, "--rate", filepath.Join(folder, "table.csv"))
		}
		return args
	},
		field{Name: "problem", Label: "The problem, a JSON object", Kind: "area", Value: exampleProblem},
		field{Name: "preset", Label: "Or a preset", Kind: "text", Help: "count:10, krr:5, grid:4x4, partition:20, selection:3,2 or histogram:2,3, in place of the problem"},
		epsilonField,
		field{Name: "delta", Label: "δ", Kind: "text", Help: "0 where there is none"},
		field{Name: "judged", Label: "What counts", Kind: "select", Options: judgedBy},
		field{Name: "table", Label: "Your mechanism, to be compared: lines input,output,probability", Kind: "area"},
	)
}

// judgedBy are the objectives of a problem.
var judgedBy = []string{"as the problem says", "the worst input"}

// epsilonField is the field ε of forms that are sent.
var epsilonField = field{Name: "eps", Label: "Privacy, ε (or e^ε as a fraction)", Kind: "text", Value: "0.5"}

// paste is a view whose job is about texts that are pasted. fields have their values before anything was sent.
func (s *Server) paste(w http.ResponseWriter, r *http.Request, v shown, uploads []upload, job func(f *form, folder string) []string, fields ...field) {
	var err error
	if r.Method == http.MethodPost {
		var large *http.MaxBytesError
		if err = r.ParseForm(); err != nil && !errors.As(err, &large) {
			err = fmt.Errorf("%w: %w", errInput, err)
		}
	}
	f := &form{values: r.Form}
	if f.values == nil {
		f.values = r.URL.Query()
	}
	for i := range fields {
		if f.values.Has(fields[i].Name) {
			fields[i].Value = f.values.Get(fields[i].Name)
		}
	}
	v.Fields = fields
	if r.Method != http.MethodPost || err != nil {
		s.show(w, r, v, nil, err)
		return
	}
	folder, drop, err := pasted(r, uploads...)
	if err != nil {
		s.show(w, r, v, nil, err)
		return
	}
	defer drop()
	args := job(f, folder)
	if err = f.err; err != nil {
		s.show(w, r, v, nil, err)
		return
	}
	p, err := s.page(r, limited(args, 15*time.Second), false)
	folder += string(filepath.Separator)
	if err != nil {
		err = hide(err, folder)
	}
	if p != nil {
		p.Rename(folder, "")
	}
	s.show(w, r, v, p, err)
}

// hide takes the temporary folder out of a message, which leaves the names that a user would give.
func hide(err error, folder string) error {
	if errors.Is(err, errInput) {
		return fmt.Errorf("%w%s", errInput, strings.TrimPrefix(strings.ReplaceAll(err.Error(), folder, ""), errInput.Error()))
	}
	return err
}
