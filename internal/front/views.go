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
	when        string // it answers: typed, at every change; sent, when the form is; told, the same, and never because of a link alone
	question    func() job.Question
	// fields are those of the form, in words: a field of the question, and after = what the form begins with in place of the question's default. After @ that
	// is the example of a text, which the question reads as the file of this name.
	fields string
	most   int             // that counts may be
	limits []time.Duration // what a short one leaves undecided a longer one narrows
	curves time.Duration   // the same for other ε follows, and each of its questions may take so long; 0: it does not
	More   bool            // its link stands under More
	static bool            // it belongs to the static site alone
	hidden bool            // the command line is not shown: nobody can type it
}

const auditedTable = "eps=0.5 neighbors pmf-file=@table.jsonl"

// views are the pages, in the order of their links.
var views = []View{
	{Name: "", Label: "optratio", when: "sent", question: asks[job.Audit], fields: auditedTable},
	{Name: "javascript", Label: "Audit", when: "told", question: asks[job.Audit], fields: "n k eps=1 code=@" + JavaScript, most: 6, limits: []time.Duration{60 * time.Second}, static: true, hidden: true},
	{Name: "audit", Label: "Audit a table", when: "sent", question: asks[job.Audit], fields: auditedTable, More: true},
	{Name: "choose", Label: "Choose", when: "typed", question: asks[job.Recommend], fields: "scores=8,6,5 sensitivities=1,1,4 eps=1 mechanism", curves: 5 * time.Second},
	{
		Name: "rate", Label: "Rate", when: "typed", question: asks[job.Ratio], fields: "n=4 k=4 eps=0.5 mechanism constraints loss worst prior step",
		most: 60, limits: []time.Duration{time.Second, 5 * time.Second, standardLimit}, curves: standardLimit,
	},
	{Name: "pmf", Label: "Probabilities on scores", when: "typed", question: asks[job.PMF], fields: "scores=0,-1,-3 eps=1 mechanism=pf,em", limits: []time.Duration{5 * time.Second}, More: true},
	{Name: "optimum", Label: "Best mechanism of a problem", when: "sent", question: asks[job.Optimum], fields: "preset eps=0.5 delta worst problem=@problem.json rate=@table.csv", More: true},
	{Name: "evaluate", Label: "Errors on a histogram", when: "sent", question: asks[job.Evaluate], fields: "eps=0.5 task=mode mechanism histogram=@counts.csv", More: true},
	{Name: "check", Label: "Check a certificate", when: "sent", question: asks[job.Check], fields: "certificate=@valid.cert", More: true},
}

func asks[Q any, P interface {
	*Q
	job.Question
}]() job.Question {
	return P(job.New[Q]())
}

// asked is the question that the form of a view asks.
func (v *View) asked(f *form) job.Question {
	q := v.question()
	f.fill(q, v.fields, v.most)
	switch q := q.(type) { // the files that no flag names
	case *job.Check:
		q.File = "valid.cert"
	case *job.Optimum:
		q.File = job.Choose(q.Preset == "", "problem.json", "")
		if strings.TrimSpace(f.files[q.Rate]) == "" {
			q.Rate = ""
		}
	}
	return q
}

//go:embed examples
var examples embed.FS

// JavaScript is the name of the file that holds a function under audit.
const JavaScript = "function.js"
