package cli

import (
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

func newRatio(s command.Streams) *cobra.Command {
	q := job.NewRatio()
	a := asking{question: q, certifies: true, draws: true, print: func(w io.Writer, found *job.Answer) { printRatios(w, q, found) }, help: map[string]string{
		"pmf-exec": "rate this program too, as subject: it states probabilities as for optratio audit",
		"pmf-file": `rate this table of probabilities too, as subject: a line {"scores":[0,-2],"pmf":[0.7,0.3]} for each score vector`,
	}}
	return a.command(s, &cobra.Command{
		Use:   "ratio -n N -k K (--eps E | --exp-eps A/B | --rho R)",
		Short: "How far mechanisms are from the best possible one, certified",
		Long: `n candidates have scores that are whole multiples of 2Δ, at most k of them below the best: this is the lattice. A
mechanism's error is how far below the best its choice lies, in steps of 2Δ, as a mean over all these score vectors.
The ratio compares it with a certified lower bound on what any shift-invariant ε-DP mechanism can have there.
--constraints, --loss, --objective, --prior, --worst and --step ask about other mechanisms, losses, means and
lattices.

--pmf-exec and --pmf-file rate your own mechanism beside the others, as subject: it is asked about every score vector,
and whether these answers are private is said too, of a mechanism that looks at differences of scores alone.
Several ε, separated by commas, give one table (with --json an array).

--rho R compares the mechanisms with each other: each runs at the largest parameter at which it is R-zCDP on the
lattice, and the first named is 1. Equal ρ, not equal ε, is what counts where many choices are composed.`,
		Example: `  optratio -n 4 -k 4 --eps 0.5
  optratio -n 4 -k 4 --eps 0.1,0.5,1
  optratio -n 3 -k 3 --eps 1 --step delta --constraints dp --mechanism pf,geo
  optratio -n 4 -k 3 --rho 0.1 --mechanism pf,em,krr
  optratio -n 3 -k 2 --eps 1 --pmf-exec 'python3 examples/audit/em.py'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				var names []string
				for _, other := range c.Root().Commands() {
					if !other.Hidden {
						names = append(names, other.Name())
					}
				}
				return command.Usagef("unknown command or argument %s; optratio --help lists the commands%s", escape.Quoted(args[0]), job.DidYouMean(args[0], names))
			}
			return nil
		},
	})
}

// What losses and priors are, with what follows a colon in the place of %s.
var (
	lossMeaning  = map[string]string{"square": "the squared error", "top1": "1 unless a best candidate is taken", "tail": "1 if the error is %s·2Δ or more"}
	priorMeaning = map[string]string{
		"uniform": "all score vectors alike", "box": "uniform scores, shifted so that the best is 0", "geometric": "a step deeper is %s times as likely",
		"product": "a factor for each depth, of %s", "scores": "the score vectors of %s", "histogram": "the weighted score vectors of %s",
	}
)

// meant says what a name means, or is it where it means a file.
func meant(text string, meaning map[string]string) string {
	name, rest, _ := strings.Cut(text, ":")
	if says, ok := meaning[name]; ok {
		return strings.Replace(says, "%s", rest, 1)
	}
	return "of each depth as in " + text
}

// latticeText says what differs from the published question.
func latticeText(q *job.Lattice) (s string) {
	if q.Monotonic {
		s += ", monotonic scores"
	}
	if step := q.StepText(); step != "2delta" {
		s += ", scores " + strings.ReplaceAll(step, "delta", "Δ") + " apart"
	}
	if q.Loss != "mean" {
		s += ", loss: " + meant(q.Loss, lossMeaning)
	}
	if q.Prior != "" {
		s += ", prior: " + meant(q.Prior, priorMeaning)
	}
	if q.Delta != "" {
		s += ", δ = " + q.Delta
	}
	return escape.Line(s)
}

// printRatios writes the tables for people.
func printRatios(w io.Writer, q *job.Ratio, found *job.Answer) {
	switch {
	case found.List:
		printList(w, q, found.Documents)
	case q.Rho != "":
		printRho(w, found.Documents[0].(*document.Rho), q.Rho)
	default:
		printRatio(w, found.Documents[0].(*document.Ratio), q.Epsilon.String(), latticeText(&q.Lattice))
	}
}

// proofText explains a proof in a few words.
var proofText = map[string]string{
	"dual-recurrence":  "permute-and-flip is provably optimal, no linear program needed",
	"dual-closed-form": "closed-form bound, without a linear program",
	"monotonicity":     "bound from monotonicity in closed form, without a linear program",
	"lumped":           "linear program over classes of orbits",
	"lp":               "linear program",
	"none":             "none",
}

// printRatio writes the table for people.
func printRatio(w io.Writer, d *document.Ratio, eps, question string) {
	base := job.Choose(d.Monotonic, "Δ", "2Δ")
	unit := "error (steps of " + base + ")"
	if d.Loss != "mean" {
		unit = "loss"
	}
	fmt.Fprintf(w, "n = %d candidates, scores 0 to k = %d steps of %s below the best, %s%s\n", d.N, d.K, base, eps, question)
	fmt.Fprintf(w, "error: %s\n", command.Meaning(d.Objective, d.Constraints))
	if d.Price != nil {
		fmt.Fprintf(w, "price of δ: the optimum falls by at most %s for each unit that δ grows\n", *d.Price)
	}
	if d.Step != job.Choose(d.Monotonic, "delta", "2delta") && (d.Constraints == "paper" || d.Constraints == "monotone") {
		fmt.Fprintf(w, "at this step the worst neighbors alone leave much of privacy out: --constraints dp gives a larger lower bound\n")
	}
	if d.Monotonic {
		fmt.Fprintf(w, "every mechanism runs with 2Δ replaced by Δ, at which it has the same privacy for monotonic scores; ratios are those of the step 2Δ without them\n")
	}
	fmt.Fprintln(w)
	t := decimal.Table(w, 3)
	fmt.Fprintf(t, "mechanism\t%s\tratio to the optimum\tabove it\n", unit)
	for _, m := range d.Mechanisms {
		if m.Finding != "" {
			fmt.Fprintf(t, "%s\tnot rated\n", m.Name)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", fullName(m.Name), m.Error, m.Ratio, above(m.Ratio))
	}
	fmt.Fprintf(t, "optimum\t%s\n", d.Optimum)
	t.Flush()
	fmt.Fprintf(w, "\nproof of the optimum: %s (%s score vectors up to order, %s variables)\n", proofText[d.Proof], decimal.Count(d.Orbits), decimal.Count(d.Variables))
	if d.PFOptimal != nil && *d.PFOptimal {
		fmt.Fprintf(w, "permute-and-flip is optimal for this lattice, loss and prior\n")
	}
	if d.Subject != nil {
		fmt.Fprintln(w)
		command.Say(w, "%s", subjectText(d.Subject))
		command.Say(w, "%s", privacyText(d.Subject))
	}
	for _, m := range d.Mechanisms {
		if hi, ok := m.Ratio.Upper(); ok && hi.Cmp(big.NewRat(1, 1)) < 0 {
			fmt.Fprintf(w, "\n%s is better than any shift-invariant %s mechanism can be: it is not one at this ε\n", m.Name, job.Choose(d.Delta == nil, "ε-DP", "(ε,δ)-DP"))
		}
	}
}

// fullName is a mechanism's name, with what it stands for where that is short.
func fullName(name string) string {
	if m, err := mechanisms.Lookup(name); err == nil && m.Info().Summary != "" && len(m.Info().Summary) <= 24 {
		return name + " (" + m.Info().Summary + ")"
	}
	return name
}

// above says how far a ratio is above 1, rounded to two digits: 0.86 %, or from … to … where the ends round apart.
func above(ratio number.Number) string {
	percent := func(x *big.Rat, ok bool) string {
		if !ok {
			return "∞"
		}
		f, _ := new(big.Rat).Sub(x, big.NewRat(1, 1)).Float64()
		if f > 0 && f < 1e-5 {
			return "< 0.001 %"
		}
		if f >= 0.995 && f < 1e4 {
			return strconv.FormatFloat(100*f, 'f', 0, 64) + " %"
		}
		return strconv.FormatFloat(100*f, 'g', 2, 64) + " %"
	}
	low, high := percent(ratio.Lower()), percent(ratio.Upper())
	if low == high || high == "< 0.001 %" {
		return high
	}
	return low + " to " + high
}

// subjectText says what was rated as subject.
func subjectText(d *document.Subject) string {
	asked := fmt.Sprintf("%d of %s score vectors", d.Asked, decimal.Count(d.Vectors))
	if d.AssumedSymmetric {
		asked = fmt.Sprintf("one arrangement of each score vector (you said --assume-symmetric; this was not checked), %d of %s", d.Asked, decimal.Count(d.Vectors))
	}
	return fmt.Sprintf("subject: %s, asked about %s; its numbers stand for what is within a relative precision of %s", d.Source, asked, d.Precision)
}

// privacyText says how private the subject is.
func privacyText(d *document.Subject) string {
	found, ok := d.Privacy.(*verify.Result)
	if !ok {
		return "its privacy was not checked: optratio audit does that"
	}
	text := "its privacy on this lattice, if shifting all scores changes nothing: " + string(found.Verdict)
	if remark := found.Remark(); remark != "" {
		text += ", " + remark
	}
	if found.Witness != nil {
		text += ", at " + found.Witness.String()
	}
	return text + " (optratio audit asks about more)"
}

// printList writes the table for people, a line for each ε and mechanism.
func printList(w io.Writer, q *job.Ratio, documents []document.Document) {
	if len(documents) == 0 {
		return
	}
	unit := job.Choose(q.Loss == "mean", fmt.Sprintf("error (steps of %s)", job.Choose(q.Monotonic, "Δ", "2Δ")), "loss")
	fmt.Fprintf(w, "n = %d, k = %d%s\nerror: %s\n\n", q.N, q.K, latticeText(&q.Lattice), command.Meaning(documents[0].(*document.Ratio).Objective, documents[0].(*document.Ratio).Constraints))
	t := decimal.Table(w, 3)
	fmt.Fprintf(t, "%s\tmechanism\t%s\toptimum\tratio to the optimum\tproof\n", job.Choose(q.Exp != "", "e^ε", "ε"), unit)
	for _, each := range documents {
		d := each.(*document.Ratio)
		_, eps := d.Given()
		for _, m := range d.Mechanisms {
			if m.Finding != "" {
				fmt.Fprintf(t, "%s\t%s\tnot rated\t%s\t\t%s\n", eps, m.Name, d.Optimum, d.Proof)
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", eps, m.Name, m.Error, d.Optimum, m.Ratio, d.Proof)
		}
	}
	t.Flush()
	for i, each := range documents {
		if d := each.(*document.Ratio); d.Subject != nil {
			if i == 0 {
				fmt.Fprintln(w)
			}
			command.Say(w, "subject at %s: %s", d.Said(), privacyText(d.Subject))
		}
	}
}

func printRho(w io.Writer, d *document.Rho, rho string) {
	base := job.Choose(d.Monotonic, "Δ", "2Δ")
	fmt.Fprintf(w, "n = %d, k = %d, ρ = %s%s%s\n", d.N, d.K, rho, job.Choose(d.Objective == "box", ", prior box", ""), job.Choose(d.Monotonic, ", monotonic scores", ""))
	fmt.Fprintf(w, "every mechanism runs at the largest parameter ε' at which it is %s-zCDP on this lattice, of step %s; other scores were not looked at\n", rho, base)
	fmt.Fprintf(w, "compared: mean expected errors over the lattice at the lower ends of the parameters, which are certified; the upper ends are not %s-zCDP\n\n", rho)
	t := decimal.Table(w, 3)
	fmt.Fprintf(t, "mechanism\tparameter ε'\terror (steps of %s)\tratio to %s\n", base, d.Mechanisms[0].Name)
	for _, m := range d.Mechanisms {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.Name, m.Parameter, m.Error, m.Ratio)
	}
	t.Flush()
	if d.Undecided != "" {
		fmt.Fprintln(w, "\nundecided: where an upper end is inf or far from the lower one, the error is that of a parameter that may be too small")
	}
}
