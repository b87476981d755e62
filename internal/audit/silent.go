package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A program that never answers anything is no mechanism under audit but a wrong command line, or one that does not know the protocol: that is bad input, and said at once.
// Its first failures are looked at closely for that; once a line of it was an answer, be it {"error":…} or NaN, all that goes wrong is an event.

// Unlike says that a program's first line is no answer of the kind that was asked for.
type Unlike struct {
	Kind string // what was answered instead: "pmf", "counts", "values", "labels" or "index"; "" for what is none of these
	text string
}

func (u *Unlike) Error() string { return u.text }

// refusal returns why a program that has never answered is not asked again, nil where it is: the line is what it wrote, or err what came instead, after some time.
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
		u := a.opts.unlike(line, samples, c.confused != "")
		if u == nil {
			c.spoke = true
			return nil
		}
		return fmt.Errorf("%w: %q answered %s: %w", errOptions, c.command, brief(line), u)
	case !errors.As(err, &f) || f.long:
		return nil
	case f.unstarted:
		return fmt.Errorf("%w: %q cannot be started: %s; give a command line for sh -c", errOptions, c.command, f.text)
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
		return fmt.Errorf("%w: %w", refused, &Unlike{"counts", "it asks for a number of samples, and its probabilities are wanted"})
	}
	return refused
}

// idleTime is the least time in which a program that was asked nothing has to end by itself to be taken for one that never listens.
const idleTime = 2 * time.Second

// idle starts the program and returns how it ends where it does so before it is asked anything. If it does not end in some time it is left running.
func (c *child) idle(ctx context.Context, patience time.Duration) *failure {
	if c.start() != nil {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, ok := <-c.p.lines:
		if ok { // it speaks unasked, which is another matter
			c.stop()
			_ = c.stray(line)
			return nil
		}
		var f *failure
		errors.As(c.gone(), &f)
		return f
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// unlike says how a line differs from an answer of the kind that is asked for, nil where it does not, or says that something went wrong.
func (o *Options) unlike(line []byte, samples int64, outOfStep bool) *Unlike {
	want, labels := "pmf", o.Outcomes == Labels
	switch {
	case samples > 0 && (o.Outcomes == Real || o.Outcomes == Mixed):
		want, labels = "values", false
	case samples > 0:
		want = "counts"
	}
	form := fmt.Sprintf(`{"%s":[…]}`, want)
	if labels {
		form = fmt.Sprintf(`{"%s":{"label":…}}`, want)
	}
	var fields map[string]json.RawMessage
	switch err := json.Unmarshal(line, &fields); {
	case outOfStep:
		return noJSON(line, form)
	case err != nil && !json.Valid(line):
		return nil
	case fields == nil:
		return &Unlike{text: "write an object, " + form}
	}
	if failed := fields["error"]; failed != nil && string(failed) != "null" {
		return nil
	}
	if value, ok := fields[want]; ok {
		switch first := value[0]; {
		case !labels && first == '{':
			return &Unlike{"labels", "these are outcomes with labels, and a list is wanted, " + form}
		case labels && first == '[':
			return &Unlike{"index", "this is a list, and labels are wanted, " + form}
		}
		return nil
	}
	instead := map[string]string{
		"pmf": "these are probabilities, and samples are wanted, ", "counts": "these are counts of samples, and something else is wanted, ",
		"values": "these are samples one by one, and something else is wanted, ",
	}
	for _, kind := range slices.Sorted(maps.Keys(instead)) {
		if fields[kind] != nil {
			return &Unlike{kind, instead[kind] + form}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if first := fields[key][0]; first == '[' || first == '{' {
			return &Unlike{text: fmt.Sprintf("call it %q, not %q", want, key)}
		}
	}
	return &Unlike{text: "write " + form}
}

// noJSON says what to do about a line that is no JSON.
func noJSON(line []byte, form string) *Unlike {
	line = bytes.TrimSpace(line)
	switch {
	case bytes.Contains(line, []byte("np.")) || bytes.Contains(line, []byte("array(")) || bytes.Contains(line, []byte("tensor(")):
		return &Unlike{text: "these are no JSON numbers: write float(x), or x.tolist() of an array"}
	case len(line) > 0 && line[0] == '{' && bytes.ContainsRune(line, '\''):
		return &Unlike{text: "this is no JSON, which has double quotes: in Python, print json.dumps of it"}
	}
	return &Unlike{text: "this is no JSON; only answers belong on its output, one line " + form + " each, and all else on stderr"}
}
