//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"runtime/debug"
	"syscall/js"
	"time"

	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/lp"
	"optratio/number"
)

// main answers worker.js for as long as the worker lives: a view, what its form says, and names and bytes of files begin a course; nothing asks for its next step.
func main() {
	lp.Register()
	debug.SetMemoryLimit(maxMemory)
	site := &front.Site{Static: true, Run: runInPage}
	inPage = askFunction
	var course *front.Course
	js.Global().Set("optratioStep", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) > 0 {
			values, err := url.ParseQuery(args[1].String())
			for i := 2; i < len(args); i += 2 {
				text := make([]byte, args[i+1].Length())
				js.CopyBytesToGo(text, args[i+1])
				values.Set(args[i].String(), string(text))
			}
			if course = site.Begin(args[0].String(), values); err != nil {
				course.Err = number.InputError(err.Error())
			}
		}
		go course.Step(context.Background(), post) // the browser's events wait until this function returns
		return nil
	}))
	js.Global().Call("optratioReady")
	select {}
}

func post(e front.Event) {
	text, _ := json.Marshal(e) // which has no other types than JSON has
	js.Global().Call("optratioPost", string(text))
}

// runInPage does a job and tells the page a few times a second how far it is.
func runInPage(ctx context.Context, j front.Job) (*job.Answer, error) {
	last := time.Now()
	return run(ctx, j, func(format string, args ...any) {
		if time.Since(last) > 200*time.Millisecond {
			last = time.Now()
			post(front.Event{Kind: "working", Text: "working: " + fmt.Sprintf(format, args...)})
		}
		runtime.Gosched() // lets others of this one thread run, such as the clock of the time limit
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
