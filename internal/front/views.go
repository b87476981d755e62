package front

import (
	"embed"
	"strings"
	"time"

	"optratio/internal/job"
)

// View is a page: a form, whose template has the same name, and the question that it fills.
type View struct {
	Name, Label string
	More        bool   // its link stands under More
	static      bool   // it belongs to the static site alone
	when        string // it answers: typed, at every change; sent, when the form is; told, the same, and never because of a link alone
	ask         func(*form) question
}

// question is what a view makes of the fields of its form.
type question struct {
	question job.Question
	limits   []time.Duration // what a short one leaves undecided a longer one narrows; nil: standardLimit
	curves   time.Duration   // the same for other ε follows, and each of its questions may take so long; 0: it does not
	hidden   bool            // the command line is not shown: nobody can type it
}

// views are the pages, in the order of their links.
var views = []View{
	{"", "optratio", false, false, "sent", audit},
	{"javascript", "Audit", false, true, "told", javascript},
	{"audit", "Audit a table", true, false, "sent", audit},
	{"choose", "Choose", false, false, "typed", choose},
	{"rate", "Rate", false, false, "typed", rate},
	{"pmf", "Probabilities", true, false, "typed", pmf},
	{"optimum", "Any problem", true, false, "sent", best},
	{"evaluate", "Histogram", true, false, "sent", histogram},
	{"check", "Check a certificate", true, false, "sent", check},
}

//go:embed examples
var examples embed.FS

// JavaScript is the name of the file that holds a function under audit.
const JavaScript = "function.js"

func audit(f *form) question {
	q := job.New[job.Audit]()
	q.Eps = "0.5"
	f.fill(q, "eps", "neighbors")
	q.File = f.file("pmf-file", "table.jsonl")
	return question{question: q}
}

func javascript(f *form) question {
	q := job.New[job.Audit]()
	q.Eps = "1"
	f.fill(q, "n", "k", "eps")
	f.count(&q.N, "n", f.says["n"], 6)
	f.count(&q.K, "k", f.says["k"], 6)
	f.file("code", JavaScript)
	return question{question: q, hidden: true, limits: []time.Duration{60 * time.Second}}
}

func choose(f *form) question {
	q := job.New[job.Recommend]()
	q.Scores, q.Sensitivities, q.Eps = "8,6,5", "1,1,4", "1"
	f.fill(q, "scores", "sensitivities", "eps", "mechanism")
	return question{question: q, curves: 5 * time.Second}
}

func rate(f *form) question {
	q := job.New[job.Ratio]()
	q.N, q.K, q.Eps = 4, 4, "0.5"
	f.fill(q, "n", "k", "eps", "mechanism", "constraints", "loss", "worst", "prior", "step")
	return question{question: q, limits: []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}, curves: standardLimit}
}

func pmf(f *form) question {
	q := job.New[job.PMF]()
	q.Scores, q.Mechanism, q.Eps = "0,-1,-3", "pf,em", "1"
	f.fill(q, "scores", "eps", "mechanism")
	return question{question: q, limits: []time.Duration{5 * time.Second}}
}

func best(f *form) question {
	q := job.New[job.Optimum]()
	q.Eps = "0.5"
	f.fill(q, "preset", "eps", "delta", "worst")
	if q.File = f.file("problem", "problem.json"); q.Preset != "" {
		q.File = ""
	}
	if q.Rate = f.file("rate", "table.csv"); strings.TrimSpace(f.files[q.Rate]) == "" {
		q.Rate = ""
	}
	return question{question: q}
}

func histogram(f *form) question {
	q := job.New[job.Evaluate]()
	q.Task, q.Eps = "mode", "0.5"
	f.fill(q, "eps", "task", "mechanism")
	if q.Task != "mode" && q.Task != "median" {
		f.fail("task", "give mode or median")
	}
	q.Histogram = f.file("histogram", "counts.csv")
	return question{question: q}
}

func check(f *form) question {
	q := job.New[job.Check]()
	q.File = f.file("certificate", "valid.cert")
	return question{question: q}
}
