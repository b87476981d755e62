package front

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/recommend"
	"optratio/internal/report"
)

// field is an input of a view's form.
type field struct {
	Name, Label, Value, Help string
	Kind                     string // number, range, text, select, checks, area
	Least, Most, Step        string
	Options                  []option
	Chosen                   map[string]bool // of checks
	Drop                     string          // of an area: what file may be dropped on it; empty for none
}

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

// orbits beyond which the explorer refuses a lattice, to stay quick.
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

func levels() (all []option) {
	for _, name := range []string{"paper", "dp", "monotone", "full"} {
		all = append(all, option{name, levelMeaning[name]})
	}
	return all
}

var (
	averages = []option{{"paper", "the mean over all of them"}, {"minimax", "the worst one"}}
	losses   = []option{{"mean", "the error"}, {"square", "the squared error"}, {"top1", "1 unless a best candidate is taken"}, {"tail:1", "1 where the error is 2Δ or more"}, {"tail:2", "1 where the error is 4Δ or more"}}
	priors   = []option{{"", "all are equally likely"}, {"geometric:0.8", "0.8 times as likely a step deeper"}, {"geometric:0.5", "half as likely a step deeper"}, {"box", "uniform scores, then shifted"}}
	steps    = []option{{"2delta", "multiples of 2Δ"}, {"delta", "multiples of Δ"}, {"2delta/3", "multiples of 2Δ/3"}}
	familiar = []option{{"pf", "permute-and-flip"}, {"em", "exponential"}, {"rnm-laplace", "noisy max, Laplace"}, {"geo", "geometric noise"}, {"krr", "randomized response"}, {"uniform", "uniform"}}
)

// mechanisms is a field of boxes to check.
func (s *Site) mechanisms(chosen string) field {
	c := field{Name: "mechanism", Label: "Mechanisms", Kind: "checks", Options: familiar, Chosen: map[string]bool{}}
	for name := range strings.SplitSeq(chosen, ",") {
		c.Chosen[name] = true
		known := false
		for _, o := range c.Options {
			known = known || o.Value == name
		}
		if !known {
			c.Options = append(c.Options[:len(c.Options):len(c.Options)], option{name, "registered"})
		}
	}
	return c
}

func epsilonField(eps job.Epsilon, most string) field {
	return field{Name: "eps", Label: epsilonLabel, Kind: "range", Value: eps.Eps + eps.Exp, Least: "0.05", Most: most, Step: "0.05"}
}

// typedEpsilon is the same without a slider.
func typedEpsilon(eps job.Epsilon) field {
	return field{Name: "eps", Label: epsilonLabel, Kind: "text", Value: eps.Eps + eps.Exp}
}

const epsilonLabel = "Privacy, ε (or e^ε as a fraction)"

func (s *Site) ratio(f *form) question {
	asked := job.NewRatio()
	asked.N, asked.K, asked.Epsilon, asked.Mechanism = f.count("n", 4, maxCandidates), f.count("k", 4, maxDepth), f.epsilon("0.5"), f.names("pf,em", s.Mechanisms)
	q := question{limits: stages, curve: report.CurveFor, curves: standardLimit, jobs: []Job{{Question: asked}}, shown: shown{
		Title: "How far from optimal is a private selection mechanism?", Live: true,
		Lead: "n candidates have scores that are whole multiples of 2Δ, at most k of them below the best. How much larger is a mechanism's mean error than the least that ε-differential privacy permits? The answer is certified.",
		Fields: []field{
			{Name: "n", Label: "Candidates, n", Kind: "range", Value: strconv.Itoa(asked.N), Least: "1", Most: "12", Step: "1"},
			{Name: "k", Label: "Depth, k steps of 2Δ", Kind: "range", Value: strconv.Itoa(asked.K), Least: "1", Most: "12", Step: "1"},
			epsilonField(asked.Epsilon, "2"), s.mechanisms(asked.Mechanism),
		},
	}}
	for _, c := range []struct {
		name, label string
		to          *string
		options     []option
	}{
		{"constraints", "Compared with", &asked.Constraints, levels()},
		{"loss", "Loss", &asked.Loss, losses},
		{"objective", "Of the score vectors", &asked.Objective, averages},
		{"prior", "Score vectors", &asked.Prior, priors},
		{"step", "Scores are", &asked.Step, steps},
	} {
		*c.to = f.one(c.name, c.options[0].Value, c.options...)
		q.Fields = append(q.Fields, field{Name: c.name, Label: c.label, Kind: "select", Value: *c.to, Options: c.options})
	}
	return q
}

func (s *Site) pmf(f *form) question {
	scores, eps := f.numbers("scores", "0,-1,-3"), f.epsilon("1")
	known := plain(s.Mechanisms...)
	names := []string{f.one("first", "pf", known...), f.one("second", "em", known...)}
	q := question{limits: []time.Duration{5 * time.Second}, shown: shown{
		Title: "Two mechanisms on the same scores", Live: true,
		Lead: "With which probability does each mechanism take each candidate? Scores can be typed, or moved with the sliders; the sensitivity is 1.",
		Fields: []field{
			{Name: "scores", Label: "Scores", Kind: "text", Value: scores, Help: "comma-separated"}, epsilonField(eps, "5"),
			{Name: "first", Label: "First mechanism", Kind: "select", Value: names[0], Options: known},
			{Name: "second", Label: "Second mechanism", Kind: "select", Value: names[1], Options: known},
		},
	}}
	for _, name := range names {
		asked := job.NewPMF()
		asked.Mechanism, asked.Scores, asked.Epsilon = name, scores, eps
		q.jobs = append(q.jobs, Job{Question: asked})
	}
	q.draw = func(documents []document.Document) *report.Page {
		var all []*document.PMF
		for _, d := range documents {
			all = append(all, d.(*document.PMF))
		}
		return report.Compare(strings.Split(scores, ","), all)
	}
	return q
}

func (s *Site) choose(f *form) question {
	asked := job.NewRecommend()
	asked.Scores, asked.Sensitivities, asked.Epsilon = f.numbers("scores", "8,6,5"), f.numbers("sensitivities", "1,1,4"), f.epsilon("1")
	chosen := ""
	if f.values.Get("mechanism") != "" {
		chosen = f.names("", s.Mechanisms)
		asked.Mechanism = chosen
	}
	return question{
		jobs: []Job{{Question: asked}}, curves: 5 * time.Second,
		curve: func(d document.Document, ask report.Ask) *report.Curve {
			return report.ErrorsFor(d.(*recommend.Recommendation), *asked, ask)
		},
		shown: shown{
			Title: "Which mechanism for these scores?", Live: true,
			Lead: "One person's data can change each score by at most its sensitivity. How large is the error of each mechanism on scores like these? Give typical scores, not the private ones: a choice that looks at them is itself not private.",
			Fields: []field{
				{Name: "scores", Label: "Scores", Kind: "text", Value: asked.Scores, Help: "comma-separated"},
				{Name: "sensitivities", Label: "Sensitivities", Kind: "text", Value: asked.Sensitivities, Help: "one for each score, or one for all"},
				epsilonField(asked.Epsilon, "5"),
				{Name: "mechanism", Label: "Mechanisms", Kind: "text", Value: chosen, Help: "comma-separated; all of them where it is empty"},
			},
		},
	}
}

// pasted is a view whose job is about a text: what a file of this name would have.
func pasted(f *form, v shown, area field, example, file string, asked job.Question) question {
	area.Kind, area.Value = "area", f.text(area.Name, example)
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
	asked := job.NewAudit()
	asked.File, asked.Epsilon = "table.jsonl", f.epsilon("0.5")
	shifts := []option{{"no", "as they are"}, {"yes", "after adding one number to all scores too"}}
	shifted := f.one("shifted", "no", shifts...)
	asked.Shifted = shifted == "yes"
	q := pasted(f, shown{
		Title: "Audit a table of probabilities",
		Lead:  "Paste one line for each score vector: its scores, and the probability of each candidate, as numbers or fractions. Rows whose scores differ by at most the sensitivity 1 are neighbors." + s.nothingLeaves(),
		Fields: []field{
			typedEpsilon(asked.Epsilon),
			{Name: "shifted", Label: "Rows are neighbors", Kind: "select", Value: shifted, Options: shifts},
		},
	}, field{Name: "table", Label: "The table: a JSON object a line, or CSV lines of first the scores and then as many probabilities", Drop: "JSONL or CSV"}, exampleTable, "table.jsonl", asked)
	q.jobs[0].Files["table.jsonl"] = tableLines(q.jobs[0].Files["table.jsonl"])
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
	asked.N, asked.K, asked.Epsilon = f.count("n", 3, 6), f.count("k", 2, 6), f.epsilon("1")
	q := pasted(f, shown{
		Title: "Audit a mechanism in JavaScript", ByHand: true, Button: "Audit", Frame: frame(),
		Lead: "Type a function of (scores, epsilon, sensitivity) that returns the probability of each candidate. It is asked about a lattice of score vectors, their neighbors, and others on which implementations often fail. It runs in a frame of its own without an origin or a network, which is ended when it does not answer within two seconds." + s.nothingLeaves(),
		Fields: []field{
			{Name: "n", Label: "Candidates, n", Kind: "range", Value: strconv.Itoa(asked.N), Least: "1", Most: "4", Step: "1"},
			{Name: "k", Label: "Depth, k steps of 2Δ", Kind: "range", Value: strconv.Itoa(asked.K), Least: "1", Most: "4", Step: "1"},
			epsilonField(asked.Epsilon, "4"),
		},
	}, field{Name: "code", Label: "The function"}, exampleFunction, JavaScript, asked)
	q.hidden, q.limits = true, []time.Duration{60 * time.Second}
	return q
}

// histogramFile is the name of the file that holds the counts of a histogram.
const histogramFile = "counts.csv"

func (s *Site) evaluate(f *form) question {
	tasks := []option{{"mode", "its most frequent bin"}, {"median", "its median"}}
	asked := job.NewEvaluate()
	asked.Task, asked.Histogram, asked.Epsilon, asked.Mechanism = f.one("task", "mode", tasks...), histogramFile, f.epsilon("0.5"), f.names("pf,em", s.Mechanisms)
	return pasted(f, shown{
		Title: "Errors on a histogram",
		Lead:  "Paste the counts of a histogram, one a line. What error do the mechanisms have when they choose its most frequent bin or its median?" + s.nothingLeaves(),
		Fields: []field{
			typedEpsilon(asked.Epsilon),
			{Name: "task", Label: "Choose", Kind: "select", Value: asked.Task, Options: tasks}, s.mechanisms(asked.Mechanism),
		},
	}, field{Name: "counts", Label: "Counts, one a line", Drop: "CSV or text"}, "12\n7\n7\n3\n0\n1\n", histogramFile, asked)
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
	asked := job.NewOptimum()
	preset, delta, judged := f.preset("preset"), f.delta("delta"), f.one("judged", judgedBy[0].Value, judgedBy...)
	problem, table := f.text("problem", exampleProblem), f.text("table", "")
	asked.Epsilon, asked.Preset, asked.Worst = f.epsilon("0.5"), preset, judged == judgedBy[1].Value
	files := map[string]string{}
	if preset == "" {
		asked.File = "problem.json"
		files[asked.File] = problem
	}
	if delta != "" {
		asked.Delta = delta
	}
	if strings.TrimSpace(table) != "" {
		asked.Rate = "table.csv"
		files[asked.Rate] = table
	}
	return question{jobs: []Job{{Question: asked, Files: files}}, shown: shown{
		Title: "The best private mechanism of any problem", Post: true,
		Lead: "Paste a problem, or name a preset: inputs, pairs of neighbors with distances, what each output costs at each input, and a prior. What is the least loss that ε-DP or (ε,δ)-DP permits, by which mechanism, and how far is yours from it?" + s.nothingLeaves(),
		Fields: []field{
			{Name: "problem", Label: "The problem, a JSON object", Kind: "area", Value: problem, Drop: "JSON"},
			{Name: "preset", Label: "Or a preset", Kind: "text", Value: preset, Help: "count:10, krr:5, grid:4x4, partition:20, selection:3,2 or histogram:2,3, in place of the problem"},
			typedEpsilon(asked.Epsilon),
			{Name: "delta", Label: "δ", Kind: "text", Value: delta, Help: "0 where there is none"},
			{Name: "judged", Label: "What counts", Kind: "select", Value: judged, Options: judgedBy},
			{Name: "table", Label: "Your mechanism, to be compared: lines input,output,probability", Kind: "area", Value: table, Drop: "CSV"},
		},
	}}
}

func (s *Site) check(f *form) question {
	asked := job.NewCheck()
	asked.File = "dropped.cert"
	return pasted(f, shown{
		Title: "Check a certificate", Button: "Check",
		Lead: "optratio writes certificates of its answers (--cert FILE). The checker rebuilds the problem and decides, in exact or outward-rounded arithmetic and with code that shares nothing with the solvers, whether every claim in the file follows from the values that it holds." + s.nothingLeaves(),
	}, field{Name: "certificate", Label: "The certificate", Drop: "certificate"}, "", asked.File, asked)
}
