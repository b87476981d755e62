package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/inquiry"
	"optratio/number"
)

// Property names something that a mechanism can have.
type Property string

// The properties. On a domain, each is a conjunction of comparisons.
const (
	// DP: Pr[M(q) = r] <= e^ε Pr[M(q') = r] for all neighbors q, q' and every r.
	DP Property = "dp"
	// BoundedRange: for all neighbors, max_r ratio <= e^ε min_r ratio, where ratio is
	// Pr[M(q) = r]/Pr[M(q') = r] (Durfee & Rogers 2019).
	BoundedRange Property = "bounded-range"
	// ApproximateDP: (ε,δ)-DP, Pr[M(q) in S] <= e^ε Pr[M(q') in S] + δ for all neighbors q, q' and every set S of candidates, that is
	// Σ_r max(0, Pr[M(q) = r] - e^ε Pr[M(q') = r]) <= δ.
	ApproximateDP Property = "approximate-dp"
	// Symmetry: permuting the scores permutes the probabilities.
	Symmetry Property = "symmetry"
	// Shift: adding one number to all scores changes nothing.
	Shift Property = "shift"
	// Monotone: a candidate whose score is no lower than before, while no other one's is higher, after a number was
	// added to all, has no lower probability.
	Monotone Property = "monotone"
	// Sum: the probabilities are not negative and sum to 1.
	Sum Property = "sum"
	// DominatesEM: Pr[error >= t] is at most the exponential mechanism's, for every t
	// (McKenna & Sheldon 2020, Thm. 2).
	DominatesEM Property = "dominates-em"
	// DominatesEMMean: the expected error is at most the exponential mechanism's.
	DominatesEMMean Property = "dominates-em-mean"
	// RDP: the Rényi divergences of all neighbors are finite; the tight ones at given orders are
	// enclosed (Mironov 2017).
	RDP Property = "rdp"
	// ZCDP: there is a finite ρ such that the divergence of every order α is at most ρα
	// (Bun & Steinke 2016); the tight ρ is enclosed.
	ZCDP Property = "zcdp"
)

// defaults are the properties checked where none are named: the first is asked for, the others are reported as facts.
func defaults() []Property {
	return []Property{DP, Symmetry, Shift, Monotone, Sum, DominatesEM}
}

// All lists every property.
func All() []Property {
	return append(defaults(), BoundedRange, DominatesEMMean, RDP, ZCDP, ApproximateDP)
}

// inTurn lists every property in the order in which they are checked: privacy, then those of single vectors, and last what compares most.
var inTurn = []Property{DP, ApproximateDP, BoundedRange, Symmetry, Shift, Sum, DominatesEM, DominatesEMMean, RDP, ZCDP, Monotone}

// Verdict is the outcome of a check.
type Verdict string

// The verdicts: all comparisons hold on the domain; one fails, and there is a witness; neither is known.
const (
	Proved    Verdict = "proved"
	Violated  Verdict = "violated"
	Undecided Verdict = "undecided"
)

// Result is the verdict on one property.
type Result struct {
	Name     Property
	Verdict  Verdict
	Fact     bool     // nobody asked for it: it counts for no report's verdict (Options.Facts)
	Checked  int64    // comparisons made
	Stopped  bool     // it ended before all comparisons were made: what is tight is tight for those that were
	Total    int64    // then: how many all are, as far as those that were made tell; 0: that is not known
	Reason   string   // why it is undecided, or how it was proved without comparisons
	Witness  *Witness // of a violation
	Attained *Witness // DP, ApproximateDP, ZCDP: where the tight ε, δ or ρ is attained

	TightEps    number.Number      // DP: the least ε for which the domain's pairs satisfy it; +Inf where supports differ
	TightExpEps *big.Rat           // e^TightEps where that is known to be rational
	Range       number.Number      // DP, bounded-range: the least ε for which the domain's pairs have bounded range
	Orders      [][2]number.Number // RDP: α and the ε there; ZCDP: the one at which ρ is attained, where 1 stands for the limit of orders above it
	Rho         number.Number      // ZCDP: the least ρ, over all orders
	TightDelta  number.Number      // ApproximateDP: the least δ, at the ε that is claimed
	Doubt       float64            // proved to within this part of the numbers, which are not known better (inquiry.Question)
	Relaxed     *[2]number.Number  // DP: where the tight ε is infinite because of probabilities below 2^-50 alone, a δ with which it is finite, and at most that
	Target      number.Number      // ZCDP, bounded-range, ApproximateDP: the ρ, range or δ that the verdict is about, where one was given
}

// Remark says what a result holds beside its verdict: the tight parameters, and the reason where there is one.
func (r Result) Remark() string {
	var parts []string
	type named struct {
		name, symbol string
		x            number.Number
	}
	all := []named{{"tight ε", "ε", r.TightEps}, {"range", "range", r.Range}, {"tight δ", "δ", r.TightDelta}, {"ρ", "ρ", r.Rho}}
	if alpha, ok := inquiry.Order(r.Name); ok && len(r.Orders) == 1 {
		all = append(all, named{orderSymbol(alpha), orderSymbol(alpha), r.Orders[0][1]})
	}
	for _, tight := range all {
		if !inquiry.Says(tight.x) && (!tight.x.IsValid() || !r.Stopped) {
			continue
		}
		text := inquiry.Tight(tight.name, tight.symbol, tight.x, r.Stopped)
		switch {
		case tight.symbol == "ε" && r.TightExpEps != nil:
			text += ", e^ε = " + r.TightExpEps.RatString()
		case tight.symbol == "ρ" && len(r.Orders) == 1 && !r.Stopped:
			text += " at order " + r.Orders[0][0].Format(5)
		}
		parts = append(parts, text)
	}
	if r.Stopped && len(parts) > 0 {
		parts = append(parts, "after "+inquiry.Comparisons(r.Checked, r.Total))
	}
	if r.Relaxed != nil {
		parts = append(parts, fmt.Sprintf("with δ = %s the tight ε is at most %s", r.Relaxed[0], r.Relaxed[1]))
	}
	if r.Doubt > 0 {
		parts = append(parts, "to within "+decimal.Upper(new(big.Rat).SetFloat64(r.Doubt), 1)+", the precision of the answers")
	}
	if r.Target.IsValid() {
		parts = append(parts, "wanted at most "+r.Target.String())
	}
	if r.Reason != "" {
		parts = append(parts, r.Reason)
	}
	return escape.Line(strings.Join(parts, ", "))
}

// String returns the verdict in one line, and its witness in another one where there is one.
func (r Result) String() string {
	text := fmt.Sprintf("%s: %s, %d checked", r.Name, inquiry.Word(r.Fact, string(r.Verdict)), r.Checked)
	if remark := r.Remark(); remark != "" {
		text += ", " + remark
	}
	if r.Witness != nil {
		text += "\n  fails at " + r.Witness.String()
	}
	return text
}

// where says which lattice was looked at: all score vectors of N candidates down to K steps, best score 0. A step is 2Δ/Parts, or Δ/Parts
// for monotonic scores.
type where struct {
	N         int  `json:"n"`
	K         int  `json:"k"`
	Parts     int  `json:"parts"`
	Monotonic bool `json:"monotonic_scores"`
}

// Report holds the verdicts on a mechanism.
type Report struct {
	Mechanism  string
	Domain     string
	Claimed    number.Number // the ε that is claimed
	Precision  *big.Rat      // relative, of the probabilities: what is proved holds to it; nil where they are not approximate
	Properties []Result
	Profile    [][2]number.Number // Options.Profile: ε' and the least δ there, over all pairs that were looked at
	Renyi      [][2]number.Number // likewise orders and the greatest Rényi divergences

	lattice where // that was looked at; the zero value where it was none
}

// Lattice returns the n and k of the lattice Q(n,k), in steps of 2Δ, where that was looked at; 0 otherwise.
func (r *Report) Lattice() (n, k int) {
	if l := r.lattice; l.Parts == 1 && !l.Monotonic {
		n, k = l.N, l.K
	}
	return n, k
}

// Schema names the form of the JSON document.
func (*Report) Schema() string { return "optratio.verify/1" }

// String returns a line on the domain and those of the results.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(escape.Line(r.Mechanism + " on " + r.Domain))
	if r.Precision != nil {
		fmt.Fprintf(&b, ", to the relative precision %s", number.Exact(r.Precision))
	}
	for _, p := range r.Properties {
		fmt.Fprintf(&b, "\n%s", p)
	}
	return b.String()
}

// Find returns the result for a property, nil where it was not checked.
func (r *Report) Find(p Property) *Result {
	for i := range r.Properties {
		if r.Properties[i].Name == p {
			return &r.Properties[i]
		}
	}
	return nil
}

// Verdict sums up the properties that were asked for: violated where any is, otherwise undecided where any is.
func (r *Report) Verdict() Verdict {
	v := Proved
	for _, p := range r.Properties {
		switch {
		case p.Fact:
		case p.Verdict == Violated:
			return Violated
		case p.Verdict == Undecided:
			v = Undecided
		}
	}
	return v
}

// Options steer a check. The zero value decides dp and reports the other defaults as facts, without limits.
type Options struct {
	// Properties are what is asked for. Without any it is dp, or approximate-dp where it has a target, and Facts are the other defaults.
	// Beside those that are named it is those that have a target.
	Properties []Property
	Facts      []Property                             // reported as well, but without weight in the report's verdict
	Slack      *big.Rat                               // what ε may be exceeded by, for proved and violated alike; nil: nothing by exact numbers, and with Readings 1e-6 of ε by others
	Worst      bool                                   // take DP to the worst neighbors alone, once regularity was proved, which Readings never prove; there is no range then
	Step       int                                    // of Lattice: the L of score vectors 2Δ/L apart; 0 and 1 stand for the lattice of step 2Δ
	NoRange    bool                                   // DP without the range, which takes most of the time; has no effect where bounded-range is asked for
	readings   bool                                   // see inquiry.Question
	limit      int64                                  // comparisons for each property after which it is undecided; 0: none
	Targets    map[Property]*big.Rat                  // the ρ that zcdp is about, or the divergence of rdp:2, nil: any finite one; the δ of approximate-dp, nil: 0; the range of bounded-range, nil: ε
	about      *number.Epsilon                        // that dp is about, nil: the one that the mechanism runs at
	rho        rhoMode                                // how much of ρ is wanted
	Gap        *big.Rat                               // of Calibrate: relative width of the parameter's enclosure, > 0; nil for 1e-9
	Profile    bool                                   // also find the least δ at some ε', and the Rényi divergences of the orders asked for, or else of some
	Narrowed   func(tried int, low, high *big.Rat)    // of Calibrate: between which parameters the one is, after so many
	Progress   func(p Property, checked, total int64) // how many comparisons were made, of how many; 0: that is not known (yet)
}

// run is one check in progress.
type run struct {
	ctx     context.Context
	opts    Options
	dom     *inquiry.Domain
	subject inquiry.Subject
	em      inquiry.Subject
	claim   *inquiry.Value // e^ε
	exp     *inquiry.Value // e^{ε+slack}, of the slack that is given
	most    *inquiry.Value // the same of the slack that numbers have by default which are not exact
}

// errStop ends a property's loop; the reason is in its result.
var errStop = errors.New("stop")

// Check decides properties of what an inquiry.Question asks about: subjects and domains that only packages of this module state, such as tables of
// probabilities and programs under audit. The question has what the properties are about. Cancelling the context leaves what was not finished undecided.
func Check(ctx context.Context, question fmt.Stringer, opts Options) (*Report, error) {
	q, ok := question.(*inquiry.Question)
	if !ok {
		return nil, fmt.Errorf("%w: a %T is no inquiry.Question", inquiry.ErrClaim, question)
	}
	opts.Complete()
	asked, facts := opts.Properties, opts.Facts
	opts.Properties = slices.Concat(asked, facts)
	if i := slices.IndexFunc(opts.Properties, func(p Property) bool { return !slices.Contains(All(), inquiry.Kind(p)) }); i >= 0 {
		return nil, fmt.Errorf("%w: unknown property %q, want some of %v", inquiry.ErrClaim, opts.Properties[i], All())
	}
	opts.readings = q.Readings
	opts.NoRange = opts.NoRange && !slices.Contains(opts.Properties, BoundedRange)
	c := &run{ctx: ctx, opts: opts, dom: q.Domain, subject: q.Subject, em: q.EM, claim: q.Exp, exp: q.Exp}
	if c.most = c.exp; opts.Slack == nil {
		c.most = raised(c.claim, plus(one, epsSlack), new(big.Rat))
	} else if opts.Slack.Sign() > 0 {
		c.exp = raised(c.claim, one, opts.Slack)
		c.most = c.exp
	}
	found := map[Property]*Result{}
	// What saves work on the others comes first, as far as it is proved; then what is asked for, and the facts last.
	for _, p := range c.useful() {
		if err := c.find(p, !slices.Contains(asked, p), found); err != nil {
			return nil, err
		}
		if !slices.Contains(asked, p) && found[p].Verdict != Proved {
			delete(found, p)
		}
	}
	for _, some := range [][]Property{asked, facts} {
		some = slices.SortedStableFunc(slices.Values(some), func(p, q Property) int {
			return slices.Index(inTurn, inquiry.Kind(p)) - slices.Index(inTurn, inquiry.Kind(q))
		})
		for _, p := range some {
			if found[p] != nil {
				continue
			}
			if err := c.find(p, false, found); err != nil {
				return nil, err
			}
		}
	}
	report := &Report{Domain: q.Domain.Name}
	if opts.Profile {
		if err := c.profile(report); err != nil {
			return nil, err
		}
	}
	for i, p := range opts.Properties {
		report.Properties = append(report.Properties, *found[p])
		report.Properties[i].Fact = i >= len(asked)
	}
	return report, nil
}

// somethingChecked leaves undecided what was not compared with anything, as one candidate on a lattice, and holds for no reason beside.
func (r *Report) somethingChecked() {
	for i := range r.Properties {
		if p := &r.Properties[i]; p.Verdict == Proved && p.Checked == 0 && p.Reason == "" {
			*p = Result{Name: p.Name, Fact: p.Fact, Target: p.Target, Verdict: Undecided, Reason: inquiry.Nothing(p.Name)}
		}
	}
}

// useful lists properties whose proof saves work on privacy.
func (c *run) useful() []Property {
	switch {
	case c.opts.readings:
		return nil
	case c.opts.Worst && c.dom.Worst != nil:
		return []Property{Symmetry, Shift, Monotone}
	case c.dom.Representatives != nil:
		return []Property{Symmetry}
	}
	return nil
}

// find checks a property, and adds what is found of it and of those that are checked with it.
func (c *run) find(p Property, proofOnly bool, found map[Property]*Result) error {
	var results []*Result
	var err error
	switch inquiry.Kind(p) {
	case DP, BoundedRange:
		if p == DP && c.opts.Worst && !c.opts.readings && c.dom.Worst != nil && proved(found, Symmetry, Shift, Monotone) {
			results, err = c.worst()
		} else {
			results, err = c.privacy()
		}
	case ApproximateDP:
		results, err = c.approximate(c.claim, cmp.Or(c.opts.Targets[ApproximateDP], new(big.Rat)))
	case RDP, ZCDP:
		results, err = c.renyi()
	default:
		results, err = c.regular(p, proofOnly)
	}
	for _, r := range results {
		found[r.Name] = r
	}
	return err
}

// Complete fills in the properties that are asked for by default, and those that the targets ask for.
func (o *Options) Complete() {
	if len(o.Properties) == 0 {
		o.Properties = []Property{DP}
		if o.Targets[ApproximateDP] != nil {
			o.Properties[0] = ApproximateDP
		}
		if o.Facts == nil {
			o.Facts = defaults()[1:]
		}
	}
	o.Properties = slices.Clone(o.Properties)
	for _, p := range []Property{ZCDP, BoundedRange, ApproximateDP} {
		if o.Targets[p] != nil && !slices.Contains(o.Properties, p) {
			o.Properties = append(o.Properties, p)
		}
	}
	orders := slices.DeleteFunc(slices.Collect(maps.Keys(o.Targets)), func(p Property) bool {
		_, ok := inquiry.Order(p)
		return !ok || slices.Contains(o.Properties, p)
	})
	slices.SortFunc(orders, byOrder)
	o.Properties = append(o.Properties, orders...)
	o.Facts = slices.DeleteFunc(slices.Clone(o.Facts), func(p Property) bool { return slices.Contains(o.Properties, p) })
}

// only returns the options for one property alone.
func (o Options) only(p Property) Options {
	o.Properties, o.Facts, o.Profile, o.Targets = []Property{p}, nil, false, map[Property]*big.Rat{p: o.Targets[p]}
	return o
}

func proved(found map[Property]*Result, properties ...Property) bool {
	for _, p := range properties {
		if r := found[p]; r == nil || r.Verdict != Proved {
			return false
		}
	}
	return true
}

// worst checks privacy towards the worst neighbors.
func (c *run) worst() ([]*Result, error) {
	few, dom := *c, *c.dom
	dom.Neighbors = dom.Worst
	few.dom, few.opts.NoRange = &dom, true
	results, err := few.privacy()
	if err == nil && results[0].Verdict == Proved {
		results[0].Reason = "towards the worst neighbors, which suffices as regularity was proved"
	}
	return results, err
}
