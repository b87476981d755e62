package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"optratio/internal/job"
	"optratio/internal/supervise"
)

// Job is what the commands have in common that can run long.
//
// --time-limit and --max-memory bound the whole command: a monitor compares the memory of the process, and of programs under audit with all that they started, with
// --max-memory, and the garbage collector works harder as it comes near. When a limit is reached, or at Ctrl-C and SIGTERM, the command's context ends with the cause.
// The computation then has grace to return the best answer so far; see job.Settle.
type Job struct {
	Streams
	JSON   bool
	digits int // 0 where there is no such flag
	time   time.Duration
	memory string
}

// Add adds the flags.
func (j *Job) Add(c *cobra.Command) {
	j.AddLimits(c)
	j.digits = usualDigits
	c.Flags().Var(flagValue[int]{&j.digits, "int", readDigits}, "digits", "digits of the numbers in tables, 1 to 12")
}

// AddLimits adds the flags of a command that prints no table.
func (j *Job) AddLimits(c *cobra.Command) {
	c.Flags().Var(flagValue[time.Duration]{&j.time, "duration", readLimit}, "time-limit", "stop after this long, such as 30s, with the best answer so far; 0 for no limit")
	c.Flags().StringVar(&j.memory, "max-memory", standardMemory, "stop before more memory is in use, with the best answer so far")
	c.Flags().BoolVar(&j.JSON, "json", false, "print one JSON document")
}

// Limited returns a command's function that runs under the limits.
func (j *Job) Limited(run func(context.Context) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		ctx, stop, err := j.start(c.Context())
		if err != nil {
			return err
		}
		defer stop()
		return run(ctx)
	}
}

// fileGrace is for a file to be opened, or written, after that.
func fileGrace() time.Duration { return job.Grace * 3 / 16 }

const (
	memoryTick  = 20 * time.Millisecond
	othersTick  = 5   // memoryTicks between two looks at what programs under audit hold, which the whole list of processes tells
	memoryShare = 0.9 // of --max-memory is where the garbage collector tries to stay below
	liveShare   = 0.7 // of --max-memory, from which live objects end the work

	smallHeap    = 64_000_000 // bytes of live objects up to which garbage is collected as rarely as smallPercent says, in place of GOGC
	smallPercent = 400        // exact arithmetic leaves much garbage: jobs take a fifth to a third less processor time than at the usual 100
)

// StandardMemory is --max-memory by default, in bytes.
const StandardMemory = 12_000_000_000

const standardMemory = "12G"

// ErrInterrupted is the cause of a context that Ctrl-C or SIGTERM ended.
var ErrInterrupted = errors.New("interrupted")

// limitError is the cause of a context that a limit ended.
type limitError string

func (e limitError) Error() string { return string(e) }

// Within returns a context that the standard limit of memory ends, and a limit of time unless it is 0, until stop is called.
func Within(ctx context.Context, limit time.Duration) (limited context.Context, stop func()) {
	j := Job{time: limit, memory: standardMemory}
	limited, stop, err := j.start(ctx)
	if err != nil {
		panic(err) // the limit is ours
	}
	return limited, stop
}

// Bytes returns --max-memory.
func (j *Job) Bytes() (int64, error) { return parseBytes("max-memory", j.memory) }

// start begins to watch the limits, until stop is called.
func (j *Job) start(ctx context.Context) (limited context.Context, stop func(), err error) {
	most, err := j.Bytes()
	if err != nil {
		return nil, nil, err
	}
	end := func() {}
	if j.time > 0 {
		ctx, end = context.WithTimeoutCause(ctx, j.time, limitError(fmt.Sprintf("the time limit of %s was reached", j.time)))
	}
	limited, cancel := context.WithCancelCause(ctx)
	limited = job.Ending(limited)
	before := debug.SetMemoryLimit(int64(memoryShare * float64(most)))
	go func() {
		others, percent := int64(0), 0
		for tick := 0; limited.Err() == nil; tick++ {
			if tick%othersTick == 0 {
				others = supervise.Memory()
			}
			live := liveHeap()
			if want := collectorPercent(live); want != percent && os.Getenv("GOGC") == "" {
				debug.SetGCPercent(want)
				percent = want
			}
			// Near its soft limit the garbage collector would take most of the time: what is live has to stay well below it.
			if memoryInUse()+others > most || live > int64(liveShare*float64(most)) {
				cancel(j.reached(others))
			}
			time.Sleep(memoryTick)
		}
	}()
	return limited, func() { cancel(nil); end(); debug.SetMemoryLimit(before) }, nil
}

// collectorPercent returns how much garbage, in percent of so many bytes of live objects, is left before it is collected.
func collectorPercent(live int64) int {
	if live <= smallHeap {
		return smallPercent
	}
	return 100
}

// reached says that the memory limit was reached, with so many bytes in programs under audit.
func (j *Job) reached(others int64) error {
	text := fmt.Sprintf("the memory limit of %s was reached", j.memory)
	if others > 0 {
		text += fmt.Sprintf(", of which the program under audit holds %d MB", (others+500_000)/1_000_000)
	}
	return limitError(text)
}

// liveHeap returns the bytes that the last garbage collection found in use.
func liveHeap() int64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64())
}

// memoryInUse returns the bytes that this process occupies: what the system says, which includes C libraries, and where it
// does not say, what the Go runtime holds.
func memoryInUse() int64 {
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				return pages * int64(os.Getpagesize())
			}
		}
	}
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// Ended turns what an answer says into the command's end.
func Ended(ctx context.Context, a *job.Answer) error {
	if a.Violated != "" {
		return Exit(Violated, errors.New(a.Violated))
	}
	return Ending(ctx, a.Undecided)
}

// Ending turns the reason why an answer is undecided, or "", into the command's end.
func Ending(ctx context.Context, undecided string) error {
	switch {
	case undecided == "":
		return nil
	case errors.Is(context.Cause(ctx), ErrInterrupted):
		return Exit(Interrupted, errors.New("interrupted before the end: an answer is the best so far"))
	}
	if cause := context.Cause(ctx); cause != nil && !strings.Contains(undecided, cause.Error()) {
		undecided = cause.Error() + "; " + undecided
	}
	return Exit(Undecided, fmt.Errorf("undecided: %s", undecided))
}
