package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"optratio/internal/command"
	"optratio/lp/stopping"
	"optratio/mechanisms"
	"optratio/mechanisms/secretary"
	"optratio/number"
)

// limitFlags are the flags of the limit of large n.
type limitFlags struct {
	asymptotic bool
	boundary   string
}

// limitDoc is the JSON document of the limit of the p-mix as n grows.
type limitDoc struct {
	N        string          `json:"n"` // "inf"
	P        string          `json:"p"`
	L        int             `json:"l"`
	Eps      *string         `json:"eps"`
	ExpEps   *string         `json:"exp_eps"`
	Delta    string          `json:"delta"`
	Win      int             `json:"win"`
	Outcome  []number.Number `json:"outcome"` // of the first ranks
	Success  number.Number   `json:"success"`
	TightEps number.Number   `json:"tight_eps"`
	TightDel *number.Number  `json:"tight_delta"`
	LargestP *number.Number  `json:"largest_p"` // for ε and δ
	Boundary []boundaryPoint `json:"boundary,omitempty"`
	BestRule *stopping.Limit `json:"best_rule,omitempty"`

	Undecided string `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (limitDoc) Schema() string { return "optratio.stopping-limit/1" }

type boundaryPoint struct {
	Eps   string        `json:"eps"`
	Delta number.Number `json:"delta"`
}

func (f *stoppingFlags) runLimit(ctx context.Context) error {
	if f.n != 0 || f.rule || f.play != "" || f.cert != "" {
		return command.Usagef("--asymptotic: is the limit of large n; leave out -n, --rule, --play and --cert")
	}
	if f.lp && (f.l != 1 || f.win != 1 || f.delta != "0") {
		return command.Usagef("--asymptotic --lp: finds the limit for -l 1, --win 1 and --delta 0 only")
	}
	if f.l < 1 || f.l > secretary.MaxCandidates {
		return command.Usagef("-l %d: give a distance from 1 to %d", f.l, secretary.MaxCandidates)
	}
	if f.win < 1 || f.win > 1000 {
		return command.Usagef("--win %d: give a number from 1 to 1000", f.win)
	}
	p, err := parseProbability("p", f.p)
	if err != nil {
		return err
	}
	delta, err := parseProbability("delta", f.delta)
	if err != nil {
		return err
	}
	doc := &limitDoc{N: "inf", P: f.p, L: f.l, Eps: optional(f.epsilon.eps), ExpEps: optional(f.epsilon.exp), Delta: f.delta, Win: f.win}
	if doc.Outcome, err = secretary.LimitLaw(p, shownRanks); err != nil {
		return err
	}
	if doc.Success, err = secretary.LimitWin(p, f.win); err != nil {
		return err
	}
	if doc.TightEps, err = secretary.LimitEps(p, delta, f.l); err != nil {
		return err
	}
	if doc.Eps != nil || doc.ExpEps != nil {
		if err := f.atEpsilon(doc, p, delta); err != nil {
			return err
		}
	}
	if f.limit.boundary != "" {
		if doc.Boundary, err = f.boundary(p); err != nil {
			return err
		}
	}
	if f.lp {
		if err := f.bestInTheLimit(ctx, doc); err != nil {
			return err
		}
	}
	f.Show(doc, doc.print)
	return command.Ending(ctx, doc.Undecided)
}

// bestInTheLimit adds the limit of the best private success.
func (f *stoppingFlags) bestInTheLimit(ctx context.Context, doc *limitDoc) error {
	if doc.Eps == nil && doc.ExpEps == nil {
		return command.Usagef("--lp: epsilon is missing: give --eps 0.5 or --exp-eps 3/2")
	}
	eps, err := f.epsilon.parse()
	if err != nil {
		return err
	}
	gap, err := f.parseGap()
	if err != nil {
		return err
	}
	limit := func() (*stopping.Limit, error) { return stopping.SolveLimit(ctx, eps, gap), nil }
	doc.BestRule, err = command.Settle(ctx, limit, func(why string) *stopping.Limit { doc.Undecided = why; return nil })
	if err != nil || doc.BestRule == nil {
		return err
	}
	if wide := doc.BestRule.Gap(); wide > gap {
		doc.Undecided = fmt.Sprintf("the relative gap of the limit is %.1e, not %s: small ε need rules with many starts", wide, f.gap)
	}
	return nil
}

// atEpsilon adds what the given ε says about δ and p.
func (f *stoppingFlags) atEpsilon(doc *limitDoc, p, delta *big.Rat) error {
	eps, err := f.epsilon.parse()
	if err != nil {
		return err
	}
	tight, err := secretary.LimitDelta(p, f.l, eps)
	if err != nil {
		return err
	}
	largest, err := secretary.LimitP(f.l, eps, delta)
	if err != nil {
		return err
	}
	doc.TightDel, doc.LargestP = &tight, &largest
	return nil
}

// boundary returns the least δ at each ε of --boundary.
func (f *stoppingFlags) boundary(p *big.Rat) (out []boundaryPoint, err error) {
	list, err := command.ParseList("boundary", f.limit.boundary, "decimals >= 0", func(x *big.Rat) bool { return x.Sign() >= 0 })
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		eps, err := mechanisms.FromEpsilon(x)
		if err != nil {
			return nil, command.Usagef("--boundary: %w", err)
		}
		least, err := secretary.LimitDelta(p, f.l, eps)
		if err != nil {
			return nil, err
		}
		out = append(out, boundaryPoint{command.ExactText(x), least})
	}
	return out, nil
}

func (d *limitDoc) print(w io.Writer) {
	fmt.Fprintf(w, "n → ∞, l = %d, p = %s, δ = %s: limits for every fixed rank\n", d.L, d.P, d.Delta)
	fmt.Fprintf(w, "success: %s (one of the best %d)\n", d.Success, d.Win)
	fmt.Fprintf(w, "least ε for this δ: %s\n", d.TightEps)
	if d.TightDel != nil {
		fmt.Fprintf(w, "least δ for this ε: %s\n", d.TightDel)
		fmt.Fprintf(w, "largest p for this ε and δ: %s\n", d.LargestP)
	}
	if b := d.BestRule; b != nil {
		fmt.Fprintf(w, "best private rule: its success tends to %s\n", b.Success)
		if b.Rate != nil {
			fmt.Fprintf(w, "among n candidates its success is that and about %.6f/n\n", b.Rate.Float64())
		}
		if len(b.Starts) > 0 && d.Undecided == "" {
			fmt.Fprintf(w, "it takes whoever is the best so far from time %.6f of 1 on, and its law is as steep as privacy permits for %d ranks\n", b.Starts[0], b.Tight+1)
		}
	}
	t := command.Table(w, 3)
	fmt.Fprintln(t, "\nrank (1 is the best)\tPr[taken]")
	for k, q := range d.Outcome {
		fmt.Fprintf(t, "%d\t%s\n", k+1, q)
	}
	if len(d.Boundary) > 0 {
		fmt.Fprintln(t, "\nε\tleast δ")
		for _, b := range d.Boundary {
			fmt.Fprintf(t, "%s\t%s\n", b.Eps, b.Delta)
		}
	}
	t.Flush()
}

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
	a, err := command.Await(ctx, command.Grace, func() (a answer, err error) {
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
