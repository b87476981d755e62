package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/job"
	"optratio/number"
)

// Exit codes, the same for every command.
const (
	Done        = 0   // done, or the property holds
	Violated    = 1   // a checked property is violated
	Usage       = 2   // usage or bad input
	Undecided   = 3   // a limit was reached before an answer
	Interrupted = 130 // stopped by Ctrl-C
)

// ExitError is an error that carries an exit code. Where it has no text, the command has said all there is to say.
type ExitError struct {
	Code int
	err  error
}

func (e *ExitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *ExitError) Unwrap() error { return e.err }

// As makes what is wrong with a command line an error about input.
func (e *ExitError) As(target any) bool {
	input, ok := target.(*number.InputError)
	if ok = ok && e.Code == Usage; ok {
		*input = number.InputError(e.Error())
	}
	return ok
}

// Exit returns an error that ends the command with an exit code; it prints nothing more where err is nil.
func Exit(code int, err error) error { return &ExitError{code, err} }

// Usagef returns a usage error, which is one line that names the flag or place and the remedy.
func Usagef(format string, args ...any) error {
	return Exit(Usage, fmt.Errorf(format, args...))
}

// NoArgs refuses arguments of a command that has none.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 && c.Flags().Lookup("pmf-exec") != nil && strings.ContainsAny(args[0], "./") {
		program := job.Choose(strings.HasSuffix(args[0], ".py") && !strings.Contains(args[0], " "), "python3 ", "") + args[0]
		return Usagef("unexpected argument %s; give a program with --pmf-exec %s, and a table of probabilities with --pmf-file", escape.Quoted(args[0]), escape.Shell(program))
	}
	if len(args) > 0 {
		return Usagef("unexpected argument %s; %s --help tells what it takes", escape.Quoted(args[0]), c.CommandPath())
	}
	return nil
}

// lastLine is how long the line may take that a command writes when it is ended.
const lastLine = 50 * time.Millisecond

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs the command line of this process by the command tree that newRoot makes, and exits with its code. Ctrl-C and SIGTERM, however
// often they come, end it within about two seconds with the best answer so far.
func Main(newRoot func(Streams) *cobra.Command) {
	ctx, cancel := context.WithCancelCause(context.Background())
	out := &output{w: os.Stdout}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals // later ones find the channel full and do nothing
		cancel(ErrInterrupted)
		// The answer is on its way by now, unless nothing comes, or nobody reads it.
		before := out.written.Load()
		time.Sleep(job.Grace + fileGrace())
		for ; out.written.Load() != before; time.Sleep(time.Second) {
			before = out.written.Load()
		}
		said := make(chan struct{})
		go func() {
			fmt.Fprintln(os.Stderr, newRoot(Streams{}).Name()+": interrupted: no answer came in time")
			close(said)
		}()
		select {
		case <-said:
		case <-time.After(lastLine): // nobody reads that either
		}
		os.Exit(Interrupted)
	}()
	os.Exit(run(ctx, newRoot, os.Args[1:], os.Stdin, out, os.Stderr))
}

// Run runs the command line args by the command tree that newRoot makes, and returns its exit code. Every error is one line on stderr.
func Run(ctx context.Context, newRoot func(Streams) *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return run(ctx, newRoot, args, stdin, &output{w: stdout}, stderr)
}

func run(ctx context.Context, newRoot func(Streams) *cobra.Command, args []string, stdin io.Reader, stdout *output, stderr io.Writer) int {
	errs := printable{stderr}
	root := newRoot(Streams{stdin, stdout, errs})
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(errs)
	root.PersistentPreRunE = RefuseEmpty
	root.SetFlagErrorFunc(flagError)
	root.SetArgs(args)
	c, err := execute(ctx, root)
	code := Done
	var e *ExitError
	var l limitError
	switch {
	case stdout.err.Load() != nil:
		code, err = Usage, fmt.Errorf("standard output: %w; what is written there is incomplete", job.WithoutPath(*stdout.err.Load()))
	case err == nil:
		return Done
	case errors.As(err, &e):
		code = e.Code
	case errors.Is(err, ErrInterrupted):
		code = Interrupted
	case errors.As(err, &l), errors.Is(err, job.ErrInternal), ctx.Err() != nil && !job.IsInput(err):
		code = Undecided
	default: // what cobra itself finds wrong is usage
		code = Usage
	}
	if asJSON := c.Flags().Lookup("json"); asJSON != nil && asJSON.Changed && code >= Undecided && stdout.written.Load() == 0 {
		writeJSON(stdout, document.Encode(undecidedDoc{named(c, err).Error()}))
	}
	if text := named(c, err).Error(); text != "" {
		fmt.Fprintln(errs, root.Name()+": "+escape.Line(strings.Join(strings.Fields(text), " ")))
	}
	return code
}

// named is an error, the fields of a refused question in it named as the command's flags.
func named(c *cobra.Command, err error) error {
	var refused *job.Refusal
	if !errors.As(err, &refused) || errors.As(err, new(*ExitError)) {
		return err
	}
	return errors.New(refused.Named(func(field string) string {
		if f := c.Flags().Lookup(field); f != nil {
			return FlagName(f)
		}
		return "--" + field
	}))
}

// execute runs the command that the arguments name.
func execute(ctx context.Context, root *cobra.Command) (c *cobra.Command, err error) {
	defer func() {
		if p := recover(); p != nil {
			c, err = root, fmt.Errorf("%w: %v", job.ErrInternal, p)
		}
	}()
	return root.ExecuteContextC(ctx)
}

// flagError is the usage error for a flag that is unknown, or whose value is not one.
func flagError(c *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		name, cause := FlagName(value.GetFlag()), value.Unwrap()
		var number *strconv.NumError
		if errors.As(cause, &number) {
			cause = errors.New("give a whole number, not larger than the machine can hold")
		}
		return Usagef("%s %s: %w", name, escape.Quoted(value.GetValue()), cause)
	}
	var names []string
	var missing *pflag.NotExistError
	near := ""
	if errors.As(err, &missing) && missing.GetSpecifiedShortnames() == "" {
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		near = strings.Replace(job.DidYouMean(missing.GetSpecifiedName(), names), "mean ", "mean --", 1)
	}
	if missing != nil && missing.GetSpecifiedName() == "sample-exec" && slices.Contains(names, "pmf-exec") {
		return Usagef("--sample-exec: %s needs stated probabilities: give --pmf-exec; samples are for optratio audit", c.CommandPath())
	}
	return Usagef("%w; %s --help lists the flags%s", err, c.CommandPath(), near)
}

// RefuseEmpty refuses flags that are given without a value, which would mean the default: a script's variable that is not set is not
// taken for a choice. Nor is the flag that follows taken for the value.
func RefuseEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" {
			err = Usagef("%s %s: the value is empty; give one, or leave the flag out for the default", FlagName(f), escape.Quoted(f.Value.String()))
		}
		if next, isFlag := strings.CutPrefix(f.Value.String(), "--"); err == nil && isFlag && c.Flags().Lookup(next) != nil {
			err = Usagef("%s has no value: %s after it is a flag; give %s its value", FlagName(f), f.Value, FlagName(f))
		}
	})
	return err
}

// FlagName is how a flag is written.
func FlagName(f *pflag.Flag) string {
	if f.Shorthand == f.Name {
		return "-" + f.Name
	}
	return "--" + f.Name
}
