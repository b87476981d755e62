package cli

import (
	"embed"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/job"
)

// texts say what a command is for, a file each: how it is used, a sentence, examples, and the details.
//
//go:embed help
var texts embed.FS

// described is a command with its texts and without arguments.
func described(name string) *cobra.Command {
	text, err := texts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // a text of ours that is not there
	}
	use, rest, _ := strings.Cut(string(text), "\n")
	short, rest, _ := strings.Cut(rest, "\n\n")
	example, long, _ := strings.Cut(rest, "\n\n")
	return &cobra.Command{Use: use, Short: short, Example: example, Long: strings.TrimSuffix(long, "\n"), Args: command.NoArgs}
}

// newAsking returns the command of a name that asks one question and prints its answer.
func newAsking(s command.Streams, name string, a *asking) *cobra.Command {
	c := described(name)
	if name == "ratio" {
		c.Args = noCommand
	}
	return a.command(s, c)
}

// asks are these commands, by name, each for one use.
func asks() map[string]*asking {
	pmf, compose := job.New[job.PMF](), job.New[job.Compose]()
	pmf.Mechanism = "pf"
	export := &output{
		flag: "export", usage: "write two distributions whose privacy losses bound all selections to this file, as dp_accounting reads them",
		write: func(found *job.Answer) func(io.Writer) error { return found.Export },
	}
	return map[string]*asking{
		"audit": {question: job.New[job.Audit](), verdicts: true, machines: true, help: map[string]string{
			"monotonic-scores": "neighbors move all scores one way, each by at most Δ, as counts do when a person is added; the program is told \"monotonic\":true, and the lattice has steps of Δ",
			"property":         "which properties decide the exit code, by name (default dp; of a program or a table the others are listed too, as facts)",
		}},
		"verify": {question: job.New[job.Verify](), verdicts: true, help: map[string]string{
			"property":  "which properties decide the exit code, by name (default dp; symmetry, shift, monotone, sum and dominates-em are listed too, as facts)",
			"neighbors": "on the lattice linf, or worst (one score falls by Δ and all others rise, which suffices for mechanisms that were proved regular); with --domain FILE linf or monotonic",
		}},
		"ratio": {question: job.New[job.Ratio](), certifies: true, draws: true, help: map[string]string{
			"pmf-exec": "rate this program too, as subject: it states probabilities as for optratio audit",
			"pmf-file": `rate this table of probabilities too, as subject: a line {"scores":[0,-2],"pmf":[0.7,0.3]} for each score vector`,
		}},
		"threshold": {question: job.New[job.Threshold](), plain: true, help: map[string]string{
			"loss": "", "worst": "", "step": "", "delta": "", "monotonic-scores": "", "solver": "",
		}},
		"heterogeneous": {question: job.New[job.Heterogeneous](), certifies: true, draws: true, plain: true, help: map[string]string{
			"mechanism": "mechanisms to rate, by name; NAME:M is NAME on the M least sensitive candidates, see optratio mechanisms --help (default " + strings.ReplaceAll(job.RatedByDefault, ",", ", ") + ", and geo-pair:M for every M below n)",
		}},
		"calibrate": {question: job.New[job.Calibrate](), plain: true, help: map[string]string{"neighbors": ""}},
		"compose": {question: compose, plain: true, certifies: true, outputs: []*output{export}, begin: func() error {
			if export.path != "" && (compose.Adversary == "equal" || compose.Eps == "" && compose.Step == "") {
				return command.Usagef("--export: there is a pair of distributions for selections at a given ε and an adaptive adversary; give --eps or --step, and leave --adversary out")
			}
			return nil
		}},
		"stopping":  {question: job.New[job.Stopping](), certifies: true, draws: true, plain: true},
		"topk":      {question: job.New[job.TopK](), certifies: true, plain: true},
		"evaluate":  {question: job.New[job.Evaluate]()},
		"recommend": {question: job.New[job.Recommend]()},
		"pmf":       {question: pmf},
	}
}

// noCommand refuses arguments of a ratio, which as that of the root may be meant as a command.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 || strings.ContainsAny(args[0], "./") {
		return command.NoArgs(c, args)
	}
	if meant := map[string]string{"rate": "ratio", "choose": "recommend"}[args[0]]; meant != "" {
		return command.Usagef("there is no command %s; optratio %s does that", args[0], meant)
	}
	var names []string
	for _, other := range c.Root().Commands() {
		if !other.Hidden {
			names = append(names, other.Name())
		}
	}
	return command.Usagef("unknown command or argument %s; optratio --help lists the commands%s", escape.Quoted(args[0]), job.DidYouMean(args[0], names))
}
