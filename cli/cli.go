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
	"strings"
	"syscall"

	"github.com/spf13/cobra"
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

// errInterrupted is the cause of a context that Ctrl-C ended.
var errInterrupted = errors.New("interrupted")

// streams are the standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Main runs the command line of this process and exits with its code. It ends at Ctrl-C and SIGTERM with the best answer so far.
func Main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel(errInterrupted)
		<-signals // a second one does not wait for the best answer so far
		os.Exit(exitInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// Run executes the command line optratio args… on the given streams and returns its exit code: 0 done or holds, 1 a checked property
// is violated, 2 usage or bad input, 3 undecided because a limit was reached, 130 interrupted. When ctx ends, the command
// ends with the best answer so far and code 3. Every error is one line on stderr.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return run(ctx, args, streams{stdin, stdout, stderr})
}

// run is Run on the streams of a command.
func run(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code := exitUsage // what cobra itself finds wrong is usage
	var e *exit
	if errors.As(err, &e) {
		code = e.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(s.err, "optratio: "+strings.Join(strings.Fields(text), " "))
	}
	return code
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
	root.CompletionOptions.DisableDefaultCmd = true
	for _, make := range commands {
		root.AddCommand(make(s))
	}
	return root
}

// commands makes the commands besides the root; each command's file adds its own.
var commands = []func(streams) *cobra.Command{newRatio}
