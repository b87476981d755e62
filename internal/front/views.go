package front

import (
	"cmp"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/recommend"
	"optratio/internal/report"
	"optratio/mechanisms"
)

// shown is what a view's page has.
type shown struct {
	Title, Path, Lead string
	View              string // its name
	Views             []viewLink
	Fields            []field
	Post              bool // the form is too long for an address
	Live              bool // answers as one types
	ByHand            bool // never answers but when it is told to
	Static            bool
	Frame             string // the document in which the page runs what is typed, "" where it runs nothing
	Button            string
	Answer            template.HTML
	Root              string        // the address of the site's folder, as the page says it
	Document          template.HTML // in place of a form and its answer
}

type viewLink struct {
	Path, Name string
	Current    bool
}

// views are the pages, in the order of their links. Those that are static belong to the static site alone.
var views []page

type page struct {
	name, label string
	ask         func(*Site, *form) question
	static      bool
}

func init() { // an initializer would refer to itself: pages link to each other
	views = []page{
		{"", "How far from optimal", (*Site).ratio, false},
		{"map", "Map", (*Site).heat, false},
		{"pmf", "Probabilities", (*Site).pmf, false},
		{"choose", "Choose", (*Site).choose, false},
		{"audit", "Audit a table", (*Site).audit, false},
		{"javascript", "Audit JavaScript", (*Site).javascript, true},
		{"evaluate", "Histogram", (*Site).evaluate, false},
		{"optimum", "Any problem", (*Site).optimum, false},
		{"check", "Check a certificate", (*Site).check, false},
	}
}

// Beyond these the pages refuse, to stay quick.
const (
	maxCandidates = 60
	maxDepth      = 60
)

// stages are the time limits of one ratio.
var stages = []time.Duration{time.Second, 5 * time.Second, 20 * time.Second}

// levelMeaning says with which mechanisms a level compares.
var levelMeaning = map[string]string{
	"paper":    "any shift-invariant mechanism (paper)",
	"dp":       "the same, all neighbors (dp)",
	"monotone": "monotone mechanisms (monotone)",
	"full":     "the same, all neighbors (full)",
}

var levels = []option{{"paper", levelMeaning["paper"]}, {"dp", levelMeaning["dp"]}, {"monotone", levelMeaning["monotone"]}, {"full", levelMeaning["full"]}}

var (
	averages = []option{{"mean", "the mean over all of them"}, {"worst", "the worst one"}}
	losses   = []option{{"mean", "the error"}, {"square", "the squared error"}, {"top1", "1 unless a best candidate is taken"}, {"tail:1", "1 where the error is 2Δ or more"}, {"tail:2", "1 where the error is 4Δ or more"}}
	priors   = []option{{"", "all are equally likely"}, {"geometric:0.8", "0.8 times as likely a step deeper"}, {"geometric:0.5", "half as likely a step deeper"}, {"box", "uniform scores, then shifted"}}
	steps    = []option{{"2delta", "multiples of 2Δ"}, {"delta", "multiples of Δ"}, {"2delta/3", "multiples of 2Δ/3"}}
)

func (s *Site) ratio(f *form) question {
	asked, over := job.NewRatio(), averages[0].Value
	asked.N, asked.K = 4, 4
	q := question{limits: stages, curve: report.CurveFor, curves: standardLimit, jobs: []Job{{Question: asked}}, shown: shown{
		Title: "How far from optimal is a private selection mechanism?", Live: true,
		Lead: "n candidates have scores that are whole multiples of 2Δ, at most k of them below the best. How much larger is a mechanism's mean error than the least that ε-differential privacy permits? The answer is certified.",
		Fields: []field{
			f.count(&asked.N, maxCandidates, field{Name: "n", Label: "Candidates, n", Most: "12"}),
			f.count(&asked.K, maxDepth, field{Name: "k", Label: "Depth, k steps of 2Δ", Most: "12"}),
			f.epsilon(&asked.Epsilon, "0.5", "2"), f.mechanisms(&asked.Mechanism),
			f.choice(&asked.Constraints, "constraints", "Compared with", levels),
			f.choice(&asked.Loss, "loss", "Loss", losses),
			f.choice(&over, "objective", "Of the score vectors", averages),
			f.choice(&asked.Prior, "prior", "Score vectors", priors),
			f.choice(&asked.Step, "step", "Scores are", steps),
		},
	}}
	asked.Worst = over == averages[1].Value
	return q
}

func (s *Site) pmf(f *form) question {
	asked := []*job.PMF{job.NewPMF(), job.NewPMF()}
	one, known := asked[0], plain(mechanisms.Names()...)
	one.Scores, one.Mechanism, asked[1].Mechanism = "0,-1,-3", "pf", "em"
	q := question{jobs: []Job{{Question: one}, {Question: asked[1]}}, limits: []time.Duration{5 * time.Second}, shown: shown{
		Title: "Two mechanisms on the same scores", Live: true,
		Lead: "With which probability does each mechanism take each candidate? Scores can be typed, or moved with the sliders; the sensitivity is 1.",
		Fields: []field{
			f.numbers(&one.Scores, field{Name: "scores", Label: "Scores", Help: "comma-separated"}), f.epsilon(&one.Epsilon, "1", "5"),
			f.choice(&one.Mechanism, "first", "First mechanism", known), f.choice(&asked[1].Mechanism, "second", "Second mechanism", known),
		},
	}}
	asked[1].Scores, asked[1].Epsilon = one.Scores, one.Epsilon
	q.draw = func(documents []document.Document) *report.Page {
		var all []*document.PMF
		for _, d := range documents {
			all = append(all, d.(*document.PMF))
		}
		return report.Compare(strings.Split(one.Scores, ","), all)
	}
	return q
}

func (s *Site) choose(f *form) question {
	asked, chosen := job.NewRecommend(), ""
	asked.Scores, asked.Sensitivities = "8,6,5", "1,1,4"
	q := question{
		jobs: []Job{{Question: asked}}, curves: 5 * time.Second,
		curve: func(d document.Document, ask report.Ask) *report.Curve {
			return report.ErrorsFor(d.(*recommend.Recommendation), *asked, ask)
		},
		shown: shown{
			Title: "Which mechanism for these scores?", Live: true,
			Lead: "One person's data can change each score by at most its sensitivity. How large is the error of each mechanism on scores like these? Give typical scores, not the private ones: a choice that looks at them is itself not private.",
			Fields: []field{
				f.numbers(&asked.Scores, field{Name: "scores", Label: "Scores", Help: "comma-separated"}),
				f.numbers(&asked.Sensitivities, field{Name: "sensitivities", Label: "Sensitivities", Help: "one for each score, or one for all"}),
				f.epsilon(&asked.Epsilon, "1", "5"),
				f.list(&chosen, 8, field{Name: "mechanism", Label: "Mechanisms", Help: "comma-separated; all of them where it is empty"}),
			},
		},
	}
	asked.Mechanism = cmp.Or(chosen, asked.Mechanism)
	return q
}

// pasted is a view whose job is about a text: what a file of this name would have.
func pasted(v shown, area field, file string, asked job.Question) question {
	v.Post, v.Fields = true, append([]field{area}, v.Fields...)
	return question{shown: v, jobs: []Job{{Question: asked, Files: map[string]string{file: area.Value}}}}
}

// exampleTable is a table that no 1/2-DP mechanism has.
const exampleTable = `{"scores":[0,0],"pmf":["1/2","1/2"]}
{"scores":[1,0],"pmf":["7/10","3/10"]}
{"scores":[2,0],"pmf":["9/10","1/10"]}
`

// nothingLeaves is said where a text of the user's is asked for.
func (s *Site) nothingLeaves() string {
	if s.Static {
		return " Nothing leaves this machine: the answer is computed in this page."
	}
	return ""
}

func (s *Site) audit(f *form) question {
	asked, shifted := job.NewAudit(), "linf"
	asked.File = "table.jsonl"
	q := pasted(shown{
		Title: "Audit a table of probabilities",
		Lead:  "Paste one line for each score vector: its scores, and the probability of each candidate, as numbers or fractions. Rows whose scores differ by at most the sensitivity 1 are neighbors." + s.nothingLeaves(),
		Fields: []field{
			f.epsilon(&asked.Epsilon, "0.5", ""),
			f.choice(&shifted, "shifted", "Rows are neighbors", []option{{"linf", "as they are"}, {"shifted", "after adding one number to all scores too"}}),
		},
	}, f.area(exampleTable, field{Name: "table", Label: "The table: a JSON object a line, or CSV lines of first the scores and then as many probabilities", Drop: "JSONL or CSV"}), asked.File, asked)
	asked.Neighbors = shifted
	q.jobs[0].Files[asked.File] = tableLines(q.jobs[0].Files[asked.File])
	return q
}

// tableLines makes lines of JSON of a table in CSV, whose lines have n scores and n probabilities; what is no such table stays as it is, for the
// job to refuse. A line that begins with a letter is a head.
func tableLines(text string) string {
	if first := strings.TrimSpace(text); first == "" || strings.HasPrefix(first, "{") {
		return text
	}
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		cells := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' || r == '\t' })
		if i == 0 && len(cells) > 0 && strings.ContainsAny(cells[0][:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\"") {
			continue
		}
		if len(cells)%2 != 0 {
			return text
		}
		for j, c := range cells {
			cells[j] = strconv.Quote(strings.TrimSpace(c))
		}
		half := len(cells) / 2
		fmt.Fprintf(&out, "{\"scores\":[%s],\"pmf\":[%s]}\n", strings.Join(cells[:half], ","), strings.Join(cells[half:], ","))
	}
	return out.String()
}

// exampleFunction is the exponential mechanism with a factor 2 forgotten.
const exampleFunction = `(scores, epsilon, sensitivity) => {
  const best = Math.max(...scores);
  // The exponential mechanism divides by 2 * sensitivity.
  const weights = scores.map((q) => Math.exp(epsilon * (q - best) / sensitivity));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((w) => w / sum);
}
`

// JavaScript is the name of the file that holds a function under audit.
const JavaScript = "function.js"

func (s *Site) javascript(f *form) question {
	asked := job.NewAudit()
	q := pasted(shown{
		Title: "Audit a mechanism in JavaScript", ByHand: true, Button: "Audit", Frame: frame(),
		Lead: "Type a function of (scores, epsilon, sensitivity) that returns the probability of each candidate. It is asked about a lattice of score vectors, their neighbors, and others on which implementations often fail. It runs in a frame of its own without an origin or a network, which is ended when it does not answer within two seconds." + s.nothingLeaves(),
		Fields: []field{
			f.count(&asked.N, 6, field{Name: "n", Label: "Candidates, n", Most: "4"}),
			f.count(&asked.K, 6, field{Name: "k", Label: "Depth, k steps of 2Δ", Most: "4"}),
			f.epsilon(&asked.Epsilon, "1", "4"),
		},
	}, f.area(exampleFunction, field{Name: "code", Label: "The function"}), JavaScript, asked)
	q.hidden, q.limits = true, []time.Duration{60 * time.Second}
	return q
}

// histogramFile is the name of the file that holds the counts of a histogram.
const histogramFile = "counts.csv"

func (s *Site) evaluate(f *form) question {
	asked := job.NewEvaluate()
	asked.Task, asked.Histogram = "mode", histogramFile
	return pasted(shown{
		Title: "Errors on a histogram",
		Lead:  "Paste the counts of a histogram, one a line. What error do the mechanisms have when they choose its most frequent bin or its median?" + s.nothingLeaves(),
		Fields: []field{
			f.epsilon(&asked.Epsilon, "0.5", ""),
			f.choice(&asked.Task, "task", "Choose", []option{{"mode", "its most frequent bin"}, {"median", "its median"}}), f.mechanisms(&asked.Mechanism),
		},
	}, f.area("12\n7\n7\n3\n0\n1\n", field{Name: "counts", Label: "Counts, one a line", Drop: "CSV or text"}), histogramFile, asked)
}

// exampleProblem is a problem with a bit of everything.
const exampleProblem = `{"inputs":["0","1","2"], "outputs":["0","1","2"],
 "pairs":[["0","1"],["1","2","3/2"]],
 "loss":[["0","1","2"],["1","0","1"],["2","1","0"]],
 "prior":["1/4","1/2","1/4"]}
`

// judgedBy are the objectives of a problem.
var judgedBy = plain("as the problem says", "the worst input")

func (s *Site) optimum(f *form) question {
	asked, delta, judged := job.NewOptimum(), "", judgedBy[0].Value
	problem := f.area(exampleProblem, field{Name: "problem", Label: "The problem, a JSON object", Drop: "JSON"})
	table := f.area("", field{Name: "table", Label: "Your mechanism, to be compared: lines input,output,probability", Drop: "CSV"})
	files := map[string]string{}
	q := question{jobs: []Job{{Question: asked, Files: files}}, shown: shown{
		Title: "The best private mechanism of any problem", Post: true,
		Lead: "Paste a problem, or name a preset: inputs, pairs of neighbors with distances, what each output costs at each input, and a prior. What is the least loss that ε-DP or (ε,δ)-DP permits, by which mechanism, and how far is yours from it?" + s.nothingLeaves(),
		Fields: []field{
			problem,
			f.preset(&asked.Preset, field{Name: "preset", Label: "Or a preset", Help: "count:10, krr:5, grid:4x4, partition:20, selection:3,2 or histogram:2,3, in place of the problem"}),
			f.epsilon(&asked.Epsilon, "0.5", ""),
			f.list(&delta, 1, field{Name: "delta", Label: "δ", Help: "0 where there is none"}),
			f.choice(&judged, "judged", "What counts", judgedBy), table,
		},
	}}
	asked.Delta, asked.Worst = cmp.Or(delta, asked.Delta), judged == judgedBy[1].Value
	if asked.Preset == "" {
		asked.File = "problem.json"
		files[asked.File] = problem.Value
	}
	if strings.TrimSpace(table.Value) != "" {
		asked.Rate = "table.csv"
		files[asked.Rate] = table.Value
	}
	return q
}

func (s *Site) check(f *form) question {
	asked := job.NewCheck()
	asked.File = "dropped.cert"
	return pasted(shown{
		Title: "Check a certificate", Button: "Check",
		Lead: "optratio writes certificates of its answers (--cert FILE). The checker rebuilds the problem and decides, in exact or outward-rounded arithmetic and with code that shares nothing with the solvers, whether every claim in the file follows from the values that it holds." + s.nothingLeaves(),
	}, f.area("", field{Name: "certificate", Label: "The certificate", Drop: "certificate"}), asked.File, asked)
}
