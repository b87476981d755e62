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
	{"/", "How far from optimal"}, {"/map", "Map"}, {"/pmf", "Probabilities"}, {"/audit", "Audit a table"}, {"/evaluate", "Histogram"},
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

// pasted writes what a form's field has to a file of its own, for one job; drop removes it.
func pasted(r *http.Request, name, file string) (path string, drop func(), err error) {
	folder, err := os.MkdirTemp("", "optratio")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(folder, file)
	text := strings.ReplaceAll(r.PostFormValue(name), "\r\n", "\n")
	return path, func() { os.RemoveAll(folder) }, os.WriteFile(path, []byte(text), 0o600)
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
	}, "table", "The table, a JSON object a line", exampleTable, "table.jsonl", func(f *form, path string) []string {
		args := append([]string{"audit", "--pmf-file", path}, f.epsilon("0.5")...)
		if f.one("shifted", "no", "no", "yes") == "yes" {
			args = append(args, "--shifted")
		}
		return args
	}, field{Name: "shifted", Label: "Rows are neighbors after a shift of all scores too", Kind: "select", Options: []string{"no", "yes"}})
}

func (s *Server) evaluate(w http.ResponseWriter, r *http.Request) {
	s.paste(w, r, shown{
		Title: "Errors on a histogram", Path: "/evaluate", Method: "post",
		Lead: "Paste the counts of a histogram, one a line. What error do the mechanisms have when they choose its most frequent bin or its median?",
	}, "counts", "Counts, one a line", "12\n7\n7\n3\n0\n1\n", "counts.csv", func(f *form, path string) []string {
		return append([]string{"evaluate", "--task", f.one("task", "mode", "mode", "median"), "--histogram", path}, f.epsilon("0.5")...)
	}, field{Name: "task", Label: "Choose", Kind: "select", Options: []string{"mode", "median"}})
}

// paste is a view whose job is about a text that is pasted.
func (s *Server) paste(w http.ResponseWriter, r *http.Request, v shown, name, label, example, file string, job func(*form, string) []string, extra field) {
	text, err := example, error(nil)
	if r.Method == http.MethodPost {
		var large *http.MaxBytesError
		if err = r.ParseForm(); err == nil {
			text = r.PostFormValue(name)
		} else if !errors.As(err, &large) {
			err = fmt.Errorf("%w: %w", errInput, err)
		}
	}
	f := &form{values: r.Form}
	if f.values == nil {
		f.values = r.URL.Query()
	}
	eps := f.epsilon("0.5")
	extra.Value = f.values.Get(extra.Name)
	v.Fields = []field{
		{Name: name, Label: label, Kind: "area", Value: text},
		{Name: "eps", Label: "Privacy, ε (or e^ε as a fraction)", Kind: "text", Value: eps[1]}, extra,
	}
	if r.Method != http.MethodPost || err != nil {
		s.show(w, r, v, nil, err)
		return
	}
	path, drop, err := pasted(r, name, file)
	if err != nil {
		s.show(w, r, v, nil, err)
		return
	}
	defer drop()
	args := job(f, path)
	if err = f.err; err != nil {
		s.show(w, r, v, nil, err)
		return
	}
	p, err := s.page(r, limited(args, 20*time.Second), false)
	if err != nil {
		err = hide(err, path, file)
	}
	if p != nil {
		p.Rename(path, file)
	}
	s.show(w, r, v, p, err)
}

// hide puts the name that a user would give into a message, in place of the temporary file's.
func hide(err error, path, file string) error {
	if errors.Is(err, errInput) {
		return fmt.Errorf("%w%s", errInput, strings.TrimPrefix(strings.ReplaceAll(err.Error(), path, file), errInput.Error()))
	}
	return err
}
