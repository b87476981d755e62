package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/internal/secretary"
)

// distanceDoc is the JSON document of a distance.
type distanceDoc struct {
	From     []int  `json:"from"`
	To       []int  `json:"to"`
	L        int    `json:"l"`
	Distance int    `json:"distance"`
	Method   string `json:"method"`
}

// Schema names the form of the JSON document.
func (distanceDoc) Schema() string { return "optratio.stopping-distance/1" }

func (f *stoppingFlags) runDistance(ctx context.Context) error {
	from, err := parseOrder("distance", f.from)
	if err != nil {
		return err
	}
	to := make([]int, len(from))
	for i := range to {
		to[i] = i + 1
	}
	if f.to != "" {
		if to, err = parseOrder("distance-to", f.to); err != nil {
			return err
		}
	}
	doc := &distanceDoc{From: from, To: to, L: f.l}
	type answer struct {
		distance int
		method   string
	}
	a, err := job.Await(ctx, job.Grace, func() (a answer, err error) {
		a.distance, a.method, err = secretary.SwapDistance(from, to, f.l)
		return a, err
	})
	if err != nil {
		if len(from) == len(to) && f.l > 1 && f.l < len(from)-1 {
			err = fmt.Errorf("%w; -l 1 and -l n-1 take any number", err)
		}
		return command.Usagef("--distance: %w", err)
	}
	doc.Distance, doc.Method = a.distance, a.method
	f.Show(doc, func(w io.Writer) {
		fmt.Fprintf(w, "d_%d = %d (%s)\n", doc.L, doc.Distance, map[string]string{
			"inversions": "the number of inversions", "cycles": "the number of candidates less that of cycles", "search": "by search",
		}[doc.Method])
	})
	return nil
}

// parseOrder reads an order: whole numbers separated by commas, which SwapDistance checks.
func parseOrder(name, text string) (out []int, err error) {
	if text == "" {
		return nil, command.Usagef("--%s: is missing; give an order such as 3,1,2", name)
	}
	for item := range strings.SplitSeq(text, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return nil, command.Usagef("--%s %s: %s is no whole number; give an order such as 3,1,2", name, command.Quoted(text), command.Quoted(item))
		}
		out = append(out, v)
	}
	return out, nil
}
