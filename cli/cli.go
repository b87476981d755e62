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
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes, the same for every command.
const (
	exitDone        = 0   // done, or the property holds
	exitViolated    = 1   // a checked property is violated
	exitUsage       = 2   // usage or bad input
	exitUndecided   = 3   // a limit was reached before an answer
	exitInterrupted = 130 // stopped by Ctrl-C
)

// exit is an error that carries an exit code. Where it has no text, the command has said all there is to say.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usagef returns a usage error, which is one line that names the flag or place and the remedy.
func usagef(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// noArgs refuses arguments of a command that has none.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %s; %s --help tells what it takes", quoted(args[0]), c.CommandPath())
	}
	return nil
}

// oneFile wants one argument, a file.
func oneFile(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes one certificate file, got %d arguments", c.Name(), len(args))
	}
	return nil
}

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command line of this process and exits with its code. Ctrl-C and SIGTERM, however often they come, end it
// within about two seconds with the best answer so far.
func Main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	out := &output{w: os.Stdout}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals // later ones find the channel full and do nothing
		cancel(errInterrupted)
		// The answer is on its way by now, unless nobody reads it.
		time.Sleep(grace + fileGrace)
		for before := int64(-1); out.written.Load() != before; time.Sleep(time.Second) {
			before = out.written.Load()
		}
		os.Exit(exitInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, out, os.Stderr))
}

// Run executes the command line optratio args… on the given streams and returns its exit code: 0 done or holds, 1 a checked property
// is violated, 2 usage, bad input or an output that cannot be written, 3 undecided because a limit was reached, 130 interrupted.
// When ctx ends, the command ends soon after, with the best answer so far and code 3. Every error is one line on stderr.
//
// A computation that does not end in time is left behind and goes on until the process ends. --max-memory sets the memory limit
// of the Go runtime for as long as the command runs.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return run(ctx, args, stdin, &output{w: stdout}, stderr)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout *output, stderr io.Writer) int {
	root := newRoot(streams{stdin, stdout, stderr})
	root.SetArgs(args)
	c, err := execute(ctx, root)
	code := exitDone
	var e *exit
	var l limitError
	switch {
	case stdout.err.Load() != nil:
		code, err = exitUsage, fmt.Errorf("standard output: %w; what is written there is incomplete", withoutPath(*stdout.err.Load()))
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		code = e.code
	case errors.Is(err, errInterrupted):
		code = exitInterrupted
	case errors.As(err, &l), errors.Is(err, errInternal), ctx.Err() != nil:
		code = exitUndecided
	default: // what cobra itself finds wrong is usage
		code = exitUsage
	}
	if asJSON := c.Flags().Lookup("json"); asJSON != nil && asJSON.Changed && code >= exitUndecided && stdout.written.Load() == 0 {
		writeJSON(stdout, map[string]string{"undecided": err.Error()}) // a limit left no time for more
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(stderr, "optratio: "+strings.Join(strings.Fields(text), " "))
	}
	return code
}

// errInternal is wrapped by the error that a panic becomes.
var errInternal = errors.New("internal error, please report it")

// execute runs the command that the arguments name.
func execute(ctx context.Context, root *cobra.Command) (c *cobra.Command, err error) {
	defer func() {
		if p := recover(); p != nil {
			c, err = root, fmt.Errorf("%w: %v", errInternal, p)
		}
	}()
	return root.ExecuteContextC(ctx)
}

// newRoot returns the command tree. Without a command word the root computes a ratio.
func newRoot(s streams) *cobra.Command {
	root := newRatio(s)
	root.Use = "optratio"
	root.Short = "Decide exactly how good a differentially private selection mechanism is"
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.Version = Version
	root.PersistentPreRunE = refuseEmpty
	root.SetVersionTemplate(versionText())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var value *pflag.InvalidValueError
		if errors.As(err, &value) {
			name, cause := flagName(value.GetFlag()), value.Unwrap()
			var number *strconv.NumError
			if errors.As(cause, &number) {
				cause = errors.New("give a whole number, not larger than the machine can hold")
			}
			return usagef("%s %s: %w", name, quoted(value.GetValue()), cause)
		}
		return usagef("%w; %s --help lists the flags", err, c.CommandPath())
	})
	for _, make := range []func(streams) *cobra.Command{
		newRatio, newThreshold, newSweep, newMerge, newMap, newCheck, newCertExport, newHeterogeneous, newTopK, newStopping,
		newMechanisms, newPMF, newRecommend, newCalibrate, newVerify, newAudit, newEvaluate, newScenario, newBandit,
		newClaims, newFigure, newReport, newServe, newManual,
	} {
		root.AddCommand(make(s))
	}
	addCompletion(root)
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.RunE = func(_ *cobra.Command, args []string) error {
		return usagef("completion takes the name of a shell, bash, zsh, fish or powershell, got %s", quoted(strings.Join(args, " ")))
	}
	return root
}
