// Package cli is the command line of optratio: flags, files, printing, limits and exit codes. The mathematics is in the
// packages that it calls.
//
// A program of one's own has every command over its own mechanisms when its main registers them first:
//
//	func main() {
//		mechanisms.Register(mine)
//		cli.Main()
//	}
package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/escape"
	"optratio/internal/supervise"
	"optratio/lp"
	"optratio/verify/certificate"
)

// Main runs the command line of this process and exits with its code. Ctrl-C and SIGTERM, however often they come, end it
// within about two seconds with the best answer so far.
func Main() {
	supervise.Enable()
	command.Main(newRoot)
}

// Run executes the command line optratio args… on the given streams and returns its exit code: 0 done or holds, 1 a checked property
// is violated, 2 usage, bad input or an output that cannot be written, 3 undecided because a limit was reached, 130 interrupted.
// When ctx ends, the command ends soon after, with the best answer so far and code 3. Every error is one line on stderr.
//
// A computation that does not end in time is left behind and goes on until the process ends. --max-memory sets the memory limit
// of the Go runtime for as long as the command runs.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Run(ctx, newRoot, args, stdin, stdout, stderr)
}

// newRoot returns the command tree. Without a command word the root computes a ratio.
func newRoot(s command.Streams) *cobra.Command {
	lp.Register()
	root := newAsking(s, "ratio", asks()["ratio"])
	root.Use = "optratio"
	root.Short = "Decide exactly how private, and how good, a differentially private selection mechanism is"
	root.Long = ""
	root.Example = "  optratio audit --pmf-exec 'python3 examples/audit/em.py' --eps 1\n  optratio ratio -n 4 -k 4 --eps 0.5\n  optratio recommend --scores 8,6,5 --eps 1"
	root.SetUsageTemplate(usageText)
	root.SetHelpFunc(help)
	rate := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().NFlag() == 0 {
			return c.Help()
		}
		return rate(c, args)
	}
	root.Version = Version
	root.SetVersionTemplate(versionText())
	add := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
			root.AddCommand(c)
		}
	}
	questions := asks()
	ask := func(name string) *cobra.Command { return newAsking(s, name, questions[name]) }
	add(first, ask("audit"), ask("ratio"), ask("recommend"), newOptimum(s), ask("verify"), command.NewCheck(s, certificate.Check))
	add(others, newMechanisms(s), ask("pmf"), ask("evaluate"), ask("calibrate"), ask("threshold"), newSweep(s), ask("heterogeneous"), ask("topk"), ask("compose"), ask("stopping"), newServe(s))
	root.SetCompletionCommandGroupID(others)
	root.SetHelpCommandGroupID(others)
	for _, name := range []string{"claims", "figure", "scenario", "bandit", "map"} {
		root.AddCommand(&cobra.Command{Use: name, Hidden: true, DisableFlagParsing: true, RunE: func(*cobra.Command, []string) error {
			return command.Usagef("%s is a command of the program research, which make research leaves in bin/research: research %s", name, name)
		}})
	}
	root.AddCommand(&cobra.Command{Use: "report", Hidden: true, DisableFlagParsing: true, RunE: func(*cobra.Command, []string) error {
		return command.Usagef("report is gone: ratio, verify, audit, optimum, heterogeneous and stopping draw their answers with --html FILE")
	}})
	addCompletion(root)
	inOrder(root)
	root.SetOut(s.Out) // where the commands that this makes will write
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.RunE = func(_ *cobra.Command, args []string) error {
		return command.Usagef("completion takes the name of a shell, bash, zsh, fish or powershell, got %s", escape.Quoted(strings.Join(args, " ")))
	}
	return root
}
