package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"optratio/internal/escape"
)

// A program that never answers anything is not a mechanism under audit but a wrong command line, or one that does not know the protocol: that is bad input, and said at once.
// Its first failures are looked at closely for that; once a line of it was an answer, be it {"error":…} or NaN, all that goes wrong is an event.

// refusal returns why a program that has never answered is not asked again, nil where it is: err is what is wrong with the line that it wrote, or what came instead of one, after
// some time.
func (a *asker) refusal(line []byte, err error, samples int64, took time.Duration) error {
	c := a.child
	if c.spoke {
		return nil
	}
	var f *failure
	switch {
	case a.ctx.Err() != nil:
		return nil
	case line != nil:
		var u *Unlike
		if c.spoke = !errors.As(err, &u); c.spoke {
			return nil
		}
		return fmt.Errorf("%w: %q answered %s: %w", errOptions, c.command, brief(line), &Unlike{Kind: u.Kind, text: u.hint})
	case !errors.As(err, &f) || f.long:
		return nil
	case f.unstarted:
		return fmt.Errorf("%w: %q cannot be started: %s; %s", errOptions, c.command, f.text, startable(c.command))
	case f.late:
		return fmt.Errorf("%w: %q answered only when its input ended: let it flush its output after each line", errOptions, c.command)
	case c.p == nil && !f.timeout && !c.tried:
		c.tried = true
		if f := c.idle(a.ctx, 2*took+idleTime); f != nil {
			return fmt.Errorf("%w: %q ends before it is asked anything: %s", errOptions, c.command, f.text)
		}
	}
	if a.failures+1 < mostSilence || a.timeouts > 0 {
		return nil
	}
	refused := fmt.Errorf("%w: %q never answered: %s", errOptions, c.command, f.text)
	if samples == 0 && strings.Contains(f.text, "samples") {
		return fmt.Errorf("%w: %w", refused, &Unlike{Kind: "counts", text: "it asks for a number of samples, and its probabilities are wanted"})
	}
	if strings.Contains(f.text, "'input'") && a.opts.Inputs == nil {
		return fmt.Errorf("%w: %w", refused, &Unlike{Kind: "input", text: "it asks for an input, and is asked about scores"})
	}
	if strings.Contains(f.text, "'scores'") && a.opts.Inputs != nil {
		return fmt.Errorf("%w: its questions have \"input\" in place of \"scores\"", refused)
	}
	return refused
}

// startable says which command line would start what one has named that the shell did not start.
func startable(command string) string {
	name, _, _ := strings.Cut(command, " ")
	file, err := os.Stat(name)
	var lines []string
	switch {
	case err != nil || !file.Mode().IsRegular():
		return "give a command line for sh -c"
	case strings.HasSuffix(name, ".py"):
		lines = append(lines, strconv.Quote("python3 "+command))
	}
	executable := file.Mode()&0o111 != 0
	if executable && !strings.Contains(name, "/") {
		lines = append(lines, strconv.Quote("./"+command))
	}
	switch {
	case lines != nil:
		return "did you mean " + strings.Join(lines, " or ") + "?"
	case !executable:
		return "make it executable: chmod +x " + escape.Shell(name)
	}
	return "give a command line for sh -c"
}

// idleTime is the least time in which a program that was asked nothing has to end by itself to be taken for one that never listens.
const idleTime = 2 * time.Second

// idle starts the program and returns how it ends where it does so before it is asked anything. If it does not end in some time it is left running.
func (c *child) idle(ctx context.Context, patience time.Duration) *failure {
	if c.start() != nil {
		return nil
	}
	line, ended := c.p.next(ctx, patience)
	if ended {
		var f *failure
		errors.As(c.gone(), &f)
		return f
	}
	if line != nil { // it speaks unasked, which is another matter
		c.stop()
		_ = c.stray(line)
	}
	return nil
}
