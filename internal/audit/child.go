package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"optratio/internal/escape"
	"optratio/internal/supervise"
)

const (
	longestLine = 4 << 20 // bytes of one answer
	keptStderr  = 2 << 10 // bytes at the end of stderr, for messages,
	lastBytes   = 240     // and so many of a line of it
	lastWords   = 2 * time.Second
)

// child is a program that answers lines with lines, started when it is needed and again after it failed.
type child struct {
	command string
	timeout time.Duration
	p       *process
	starts  int
	// confused says why answers cannot be told which questions they belong to, once that is so.
	confused string
	spoke    bool // a line of it was an answer, or said that something went wrong
	tried    bool // whether it ends before it is asked anything was looked at
}

// process is one run of the program.
type process struct {
	guard  *supervise.Guard
	stdin  io.WriteCloser
	lines  chan []byte   // answers; closed at the end of output
	long   bool          // output ended with a line that is too long; to be read after lines is closed
	quit   chan struct{} // closed to stop the reader
	stderr *tail
	ended  chan struct{} // closed after the process was waited for
	status error         // how it ended, nil for status 0; to be read after ended is closed
	once   sync.Once
	served int // answers given
	mu     sync.Mutex
	reaped bool
}

// failure is what came instead of an answer.
type failure struct {
	text    string
	timeout bool
	late    bool // it answered when its input ended, a while after the limit
	quiet   bool // it ended by itself, with status 0, after it had answered before
	// unstarted: it ended with the status by which the shell says that there is no such program, or that it is none.
	unstarted bool
	long      bool // it is longer than what is read
}

func (f *failure) Error() string { return f.text }

// errStart says that no shell could be started at all.
var errStart = errors.New("cannot start a shell")

func (c *child) start() error {
	g, err := supervise.Command(c.command)
	if err != nil {
		return fmt.Errorf("%w: %w", errStart, err)
	}
	cmd := g.Cmd
	stdin, err := cmd.StdinPipe()
	stdout, err1 := cmd.StdoutPipe()
	stderr, err2 := cmd.StderrPipe()
	if err := errors.Join(err, err1, err2); err != nil {
		return err
	}
	if err := g.Start(); err != nil {
		return fmt.Errorf("%w: %w", errStart, err)
	}
	c.starts++
	p := &process{
		guard: g, stdin: stdin, lines: make(chan []byte, 1), quit: make(chan struct{}),
		stderr: &tail{}, ended: make(chan struct{}),
	}
	c.p = p
	var noise sync.WaitGroup
	noise.Go(func() { _, _ = io.Copy(p.stderr, stderr) })
	read := make(chan struct{})
	go func() { p.read(stdout); close(read) }()
	go func() {
		// Output comes before the pipes are closed; whoever keeps them open after the program has ended is cut off.
		status := g.Wait()
		p.mu.Lock()
		p.reaped = true
		p.mu.Unlock()
		select {
		case <-read:
		case <-time.After(lastWords):
		case <-p.quit:
		}
		p.status = status
		_ = stdin.Close()
		_ = stdout.Close()
		_ = stderr.Close()
		<-read
		noise.Wait()
		close(p.ended)
	}()
	return nil
}

// read sends the lines of output on that are not blank, each without its end; an unfinished last line counts.
func (p *process) read(stdout io.Reader) {
	defer close(p.lines)
	lines := linesOf(stdout)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		select {
		case p.lines <- bytes.Clone(lines.Bytes()):
		case <-p.quit:
			return
		}
	}
	p.long = errors.Is(lines.Err(), bufio.ErrTooLong)
}

// next waits for a line of output for a while, and reports whether output has ended instead.
func (p *process) next(ctx context.Context, patience time.Duration) (line []byte, ended bool) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, more := <-p.lines:
		return line, !more
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil, false
}

var errLong = fmt.Errorf("a line of more than %d bytes", longestLine)

// linesOf reads lines up to the longest.
func linesOf(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	return lines
}

// ask sends a line and returns the answer. A *failure says that there was none, and leaves the
// program stopped; other errors end the audit. A program that ends with status 0 between two
// answers is started again.
func (c *child) ask(ctx context.Context, line []byte) ([]byte, error) {
	answer, err := c.once(ctx, line)
	var f *failure
	if errors.As(err, &f) && f.quiet {
		answer, err = c.once(ctx, line)
	}
	return answer, err
}

func (c *child) once(ctx context.Context, line []byte) ([]byte, error) {
	if c.p == nil {
		if err := c.start(); err != nil {
			return nil, err
		}
	} else {
		select {
		case extra, ok := <-c.p.lines:
			if ok {
				c.stop()
				return nil, c.stray(extra)
			}
			return nil, c.gone()
		default:
		}
	}
	stdin := c.p.stdin
	go func() { _, _ = stdin.Write(append(line, '\n')) }() // where the program does not read any more, its output tells why
	return c.await(ctx)
}

// await returns the next answer.
func (c *child) await(ctx context.Context) ([]byte, error) {
	p := c.p
	answer, ended := p.next(ctx, c.timeout)
	switch {
	case ended:
		return nil, c.gone()
	case answer != nil:
		p.served++
		return answer, nil
	case ctx.Err() != nil:
		c.stop()
		return nil, ctx.Err()
	}
	f := &failure{text: fmt.Sprintf("no answer within %v%s", c.timeout, p.stderr.last()), timeout: true}
	if !c.spoke {
		if c.starts == 1 { // those that keep their output until they end write it now
			_ = p.stdin.Close()
			words, _ := p.next(ctx, lastWords)
			f.late = words != nil
		}
		f.text += "; does it flush its output after each line?"
	}
	c.stop()
	return nil, f
}

// stray records a line that came unasked: it, or any line since the start, may be an answer out of step.
func (c *child) stray(line []byte) *failure {
	c.confused = fmt.Sprintf("output that nothing had asked for: %s", brief(line))
	return &failure{text: c.confused}
}

// gone describes how the program ended, after its output did.
func (c *child) gone() error {
	p := c.p
	c.p = nil
	if p.long {
		p.kill()
		return &failure{text: errLong.Error(), long: true}
	}
	// Output has ended; if the program goes on without it, it is of no use.
	if !p.waits(min(c.timeout, lastWords)) {
		p.kill()
		return &failure{text: "closed its output" + p.stderr.last()}
	}
	if p.status != nil {
		var end *supervise.Status
		unstarted := errors.As(p.status, &end) && (end.Code == 126 || end.Code == 127)
		return &failure{text: p.status.Error() + p.stderr.last(), unstarted: unstarted && p.served == 0}
	}
	return &failure{text: "ended without an answer" + p.stderr.last(), quiet: p.served > 0}
}

// waits waits for the process to end, for a while, and reports whether it did.
func (p *process) waits(patience time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// kill ends the program with what it started, and waits until it is reaped.
func (p *process) kill() {
	p.once.Do(func() {
		close(p.quit)
		p.mu.Lock()
		if !p.reaped {
			p.guard.Kill()
		}
		p.mu.Unlock()
		_ = p.stdin.Close()
	})
	<-p.ended
}

// stop kills the program if it runs.
func (c *child) stop() {
	if c.p != nil {
		c.p.kill()
		c.p = nil
	}
}

// finish closes the program's input and lets it end by itself for a while. It returns a failure where the
// program ends with an error.
func (c *child) finish() error {
	p, patience := c.p, min(c.timeout, lastWords)
	if p == nil {
		return nil
	}
	defer c.stop()
	before, begin := c.confused, time.Now()
	_ = p.stdin.Close()
	if extra, _ := p.next(context.Background(), patience); extra != nil {
		f := c.stray(extra)
		if !json.Valid(extra) {
			c.confused = before // output that is no answer, before the program ended
		}
		return f
	}
	if p.waits(patience-time.Since(begin)) && p.status != nil {
		return &failure{text: "after its last answer: " + p.status.Error() + p.stderr.last()}
	}
	return nil // it may ignore the end of its input
}

// brief shortens a program's text for a message.
func brief(text []byte) string { return escape.Quoted(string(text)) }

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-keptStderr):]...)
	t.text = t.text[max(0, len(t.text)-keptStderr):]
	return len(b), nil
}

// last returns the line that says most, for a message: what a Go program panicked with, else the last one.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	text := strings.TrimSpace(lines[len(lines)-1])
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			text = line
		}
	}
	if text == "" {
		return ""
	}
	if cut := len(text) - lastBytes; cut > 0 { // its end tells what went wrong
		text = "…" + strings.ToValidUTF8(text[cut:], "")
	}
	quoted := strconv.Quote(text)
	return ": " + quoted[1:len(quoted)-1]
}

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
