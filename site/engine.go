//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall/js"
	"time"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// main answers worker.js for as long as the worker lives.
func main() {
	lp.Register()
	debug.SetMemoryLimit(maxMemory)
	site := &front.Site{Static: true, Run: runInPage}
	inPage = pageFunction
	var course *front.Course
	js.Global().Set("optratioStep", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) == 2 {
			view, form := args[0].String(), args[1].String()
			values, err := url.ParseQuery(form)
			if course = site.Begin(view, values); err != nil {
				course.Err = number.InputError(err.Error())
			}
		}
		go step(course) // the browser's events wait until this function returns
		return nil
	}))
	js.Global().Call("optratioReady")
	select {}
}

// step takes one step of a course and posts the answer.
func step(c *front.Course) {
	post("working", c.Working(), c.Limit().Milliseconds())
	more := c.Next(context.Background())
	var b strings.Builder
	if err := c.WriteAnswer(&b); err != nil {
		b.WriteString(err.Error())
	}
	post("answer", b.String(), more)
}

func post(kind, text string, value any) { js.Global().Call("optratioPost", kind, text, value) }

// runInPage does a job and tells the page a few times a second how far it is.
func runInPage(ctx context.Context, j front.Job) (*job.Answer, error) {
	last := time.Now()
	return run(ctx, j, func(format string, args ...any) {
		if time.Since(last) > 200*time.Millisecond {
			last = time.Now()
			post("working", "working: "+fmt.Sprintf(format, args...), 0)
		}
		runtime.Gosched() // lets others of this one thread run, such as the clock of the time limit
	})
}

// pageFunction is the function that the page asks.
func pageFunction(ctx context.Context) mechanisms.Mechanism {
	info := mechanisms.Info{Name: "the function", Summary: "a function in JavaScript", Claim: "ε-DP", Private: true, Uniform: true}
	return mechanisms.FromFloat(info, 0, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
		return askFunction(ctx, scores, sensitivity, epsilon)
	})
}

// askFunction has the page ask the function under audit, in a worker of its own.
func askFunction(ctx context.Context, scores []float64, sensitivity, epsilon float64) ([]float64, error) {
	type reply struct {
		pmf []float64
		err error
	}
	got := make(chan reply, 1)
	var callback js.Func
	callback = js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer callback.Release() // here: an answer may come after the limit
		if !args[1].IsUndefined() {
			got <- reply{err: errors.New(args[1].String())}
			return nil
		}
		pmf := make([]float64, args[0].Length())
		for i := range pmf {
			pmf[i] = args[0].Index(i).Float()
		}
		got <- reply{pmf: pmf}
		return nil
	})
	list := make([]any, len(scores))
	for i, q := range scores {
		list[i] = q
	}
	js.Global().Call("optratioAsk", list, epsilon, sensitivity, callback)
	select {
	case r := <-got:
		return r.pmf, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
