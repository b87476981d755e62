// Command optratio decides how good a differentially private selection
// mechanism is. It wires flags, files, printing and exit codes to the
// packages that do the mathematics.
package main

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

func main() {
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

// run executes a command line and returns its exit code. Every error is one line on s.err.
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
