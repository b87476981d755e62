package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newAudit(s command.Streams) *cobra.Command {
	a := asking{question: job.New[job.Audit](), help: map[string]string{
		"monotonic-scores": "neighbors move all scores one way, each by at most Δ, as counts do when a person is added; the program is told \"monotonic\":true, and the lattice has steps of Δ",
		"property":         "which properties decide the exit code, by name (default dp; of a program or a table the others are listed too, as facts)",
	}}
	c := &cobra.Command{
		Use:   "audit (--pmf-exec CMD | --sample-exec CMD | --pmf-file FILE) --eps E",
		Short: "Decide whether your mechanism is private: a program in any language, or a table of probabilities",
		Long: `CMD is a command line for sh -c. optratio starts it once, and again after a crash. It reads one JSON object per line,
  {"scores":[0,-1,-2.5],"epsilon":1,"sensitivity":1,"monotonic":false}
and answers each with one line, such as {"pmf":[0.6,0.3,0.1]}; a probability may be a string "p/q". A sampler also
reads "samples":N and answers {"counts":[…]}. With --outcomes labels the answers are {"pmf":{"a":0.5,"nobody":"1/2"}}
or {"counts":{"a":12,"nobody":3}}, with --outcomes real {"values":[…]}, and with --outcomes mixed the same, where each
value is a list or an object of labels and numbers. Errors, crashes, NaN and silence are findings.

A number in JSON stands for every real number within --pmf-precision of it. A property of stated probabilities, except
same, is proved if it holds for every reading of the numbers, violated if it holds for none, and otherwise undecided,
with exit code 3. The exit code is about the properties that --property names (dp by default) and about the answers;
the other properties are facts.

Samples give a lower bound on ε with the confidence --confidence. They cannot prove privacy: a sampler that keeps its
ε ends undecided, with exit code 0, or 3 if the budget was too small to compare anything. For samplers --property
takes dp, symmetry, shift, monotone and bounded-range. These are tests, and share what --confidence leaves to chance.

With --inputs FILE the questions are the JSON values in FILE, one per line, instead of scores:
  {"input":[3,1],"epsilon":1,"sensitivity":1}
If these are datasets, lists of rows, --neighbors remove-row or replace-row makes the neighbors. Otherwise give a file
of pairs: 0,3 means two lines of FILE (numbered from 0; empty lines and those that begin with # do not count), [A,B]
two of its values. A third number is a distance d: the pair is compared at dε. The audit looks at each pair both ways,
unless the first line is "oneway": then 0,3 says that Pr[S] of input 0 is at most e^ε times that of input 3.

--inputs - reads lines {"input":3,"neighbors":[2,4]} from any generator, and looks at them as they come (a sampler is
asked once all are there). With names, {"input":[1],"neighbors":{"add":[[1,2]],"replace":[[3]]}}, each relation has a
verdict of its own (with --json an array).

A table has one line {"scores":[…],"pmf":[…]} for each score vector, or {"input":…,"pmf":…} for each input. In a CSV
file a line has the scores and then as many probabilities. --rho R
and --range R also decide R-zCDP and bounded range R, and --delta D decides (ε,D)-DP in place of ε-DP. For a
sampler they are violated if a lower bound exceeds R or D. For stated probabilities --order 2,8 --claimed 0.1,0.3
decides Rényi divergences, and --profile lists them and the least δ at several ε.

Several ε, separated by commas, get one verdict each (with --json an array); they share what --confidence leaves to
chance.

--against-exec CMD decides the property same: do both programs have the same distribution of outcomes for the same
questions? Two stated numbers are the same if they have a reading in common. For samplers it is a test, which cannot
prove that and says which differences it would show. With --property same optratio asks about nothing else.`,
		Example: `  optratio audit --pmf-exec 'python3 examples/audit/em.py' --eps 1 -n 3 -k 2
  optratio audit --sample-exec ./sampler --eps 0.5 --budget 3000000 --against pf
  optratio audit --pmf-exec ./fast --against-exec 'python3 plain.py' --eps 1 -n 3 -k 2 --property same
  optratio audit --sample-exec ./noisy-value --eps 1 --outcomes real --until refuted
  optratio audit --pmf-exec ./histogram --inputs datasets.jsonl --neighbors remove-row --outcomes labels --eps 1
  python3 generate.py | optratio audit --pmf-exec ./histogram --inputs - --outcomes labels --eps 1
  optratio audit --pmf-file table.jsonl --eps 1 --property dp,dominates-em`,
	}
	return a.judge(s, c, true)
}
