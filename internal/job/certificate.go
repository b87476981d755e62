package job

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"optratio/internal/audit"
	"optratio/internal/certtext"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/evidence"
	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
	"optratio/verify/certificate"
)

// witnessable are the properties a violation of which has a certificate, of stated probabilities and of mechanisms by name; rdp with an order and a claim.
func witnessable(stated bool) []verify.Property {
	all := []verify.Property{verify.DP, verify.ApproximateDP, verify.RDP, verify.DominatesEM}
	return all[:Choose(stated, 3, 4)]
}

// witnessed is what a witness's certificate says beside the report.
type witnessed struct {
	Epsilon     number.Epsilon
	Stated      bool     // the probabilities are those of a table or program; the certificate states them
	Neighbors   string   // linf, monotonic, shifted or stated, as docs/reference/certificate.md has it
	Sensitivity *big.Rat // Δ
	Scale       *big.Rat // what the mechanism divides scores by
	Delta       *big.Rat // of approximate-dp
}

// writeWitness writes the witness of a violation of a witnessable property, the first of them that there is, in the format of docs/reference/certificate.md.
func writeWitness(w io.Writer, r *verify.Report, s witnessed) error {
	var names []string
	for _, name := range witnessable(s.Stated) {
		names = append(names, Choose(name == verify.RDP, "a claimed rdp", string(name)))
		for _, p := range r.Properties {
			unclaimed := name == verify.RDP && (p.Name == name || !p.Target.IsValid())
			if inquiry.Kind(p.Name) == name && !unclaimed && p.Verdict == verify.Violated && p.Witness != nil {
				return s.write(certtext.NewWriter(w, "witness"), r.Mechanism, &p)
			}
		}
	}
	return fmt.Errorf("%w: no violation of %s was found", certtext.ErrNone, strings.Join(names, " or "))
}

func (s *witnessed) write(c *certtext.Writer, mechanism string, p *verify.Result) error {
	name, v := inquiry.Kind(p.Name), p.Witness
	property, delta, state := name, new(big.Rat), func(_ []number.Number, p number.Number) string { return stated(p) }
	limit := func() { c.Values("delta", []*big.Rat{delta}) }
	switch name {
	case verify.DP:
		v = descending(v)
	case verify.ApproximateDP:
		property, delta = verify.DP, cmp.Or(s.Delta, delta)
	case verify.RDP:
		state = row
		limit = func() {
			alpha, _ := inquiry.Order(p.Name)
			claimed, _ := p.Target.Rat()
			c.Line("order %s", Choose(alpha == nil, "inf", cmp.Or(alpha, one).RatString()))
			c.Values("claimed", []*big.Rat{claimed})
		}
	}
	c.Line("property %s", property)
	c.Line("mechanism %s", Choose(s.Stated, "table", mechanism))
	c.Epsilon(s.Epsilon.Exp(), s.Epsilon.Eps())
	if v.Input != nil {
		c.Line("input %s", plainly(v.Input))
		c.Line("neighbor-input %s", plainly(v.NeighborInput))
		c.Values("distance", []*big.Rat{cmp.Or(v.Distance, one)})
		limit()
	} else {
		c.Values("scale", []*big.Rat{s.Scale})
		c.Values("scores", v.Scores)
		if name == verify.DominatesEM {
			c.Values("t", []*big.Rat{v.T})
		} else {
			c.Line("neighbors %s", s.Neighbors)
			c.Values("sensitivity", []*big.Rat{s.Sensitivity})
			limit()
			c.Values("neighbor", v.Neighbor)
		}
	}
	switch {
	case s.Stated:
		c.Line("event %s", outcomes(v))
		c.Line("pmf %s", state(v.PMFs[0], v.P))
		c.Line("neighbor-pmf %s", state(v.PMFs[1], v.PNeighbor))
	case name == verify.RDP: // all outcomes count
	case v.Candidate != nil:
		c.Line("candidate %d", *v.Candidate)
	case len(v.Candidates) > 0 && delta.Sign() == 0: // each of them is a violation
		c.Line("candidate %d", v.Candidates[0])
	}
	return c.End()
}

// descending returns the witness of dp with the larger probability at the scores and the smaller one at their neighbor.
func descending(w *verify.Witness) *verify.Witness {
	p, ok := w.P.Lower()
	if q, also := w.PNeighbor.Lower(); !ok || !also || q.Cmp(p) <= 0 {
		return w
	}
	turned := *w
	turned.Scores, turned.Neighbor, turned.Input, turned.NeighborInput, turned.P, turned.PNeighbor = w.Neighbor, w.Scores, w.NeighborInput, w.Input, w.PNeighbor, w.P
	return &turned
}

// plainly writes a JSON value without escapes that need not be.
func plainly(value json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var x any
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if d.Decode(&x) != nil || e.Encode(x) != nil {
		return string(value)
	}
	return strings.TrimSpace(out.String())
}

// outcomes names the event of a witness: a list of candidates or labels, or the word of an output that is neither.
func outcomes(w *verify.Witness) string {
	var event any = w.Candidates
	switch {
	case w.Outcomes != nil:
		event = w.Outcomes
	case w.Candidate != nil:
		event = []int{*w.Candidate}
	case w.Candidates == nil:
		return w.Event
	}
	return string(must(json.Marshal(event)))
}

// row writes all probabilities, where they are known, or else that of an event and of all others together.
func row(pmf []number.Number, p number.Number) string {
	if pmf == nil {
		pmf = []number.Number{p, number.Int(1).Sub(p)}
	}
	all := make([]string, len(pmf))
	for i, x := range pmf {
		all[i] = stated(x)
	}
	return strings.Join(all, " ")
}

// stated writes a number, exactly or by its ends.
func stated(p number.Number) string {
	if x, ok := p.Rat(); ok {
		return x.RatString()
	}
	low, _ := p.Lower()
	high, _ := p.Upper()
	if low == nil || high == nil {
		return "-"
	}
	return low.RatString() + "," + high.RatString()
}

// writeProof writes what proves dp or approximate-dp, section private of docs/reference/certificate.md, where one of these was proved of stated probabilities.
func writeProof(w io.Writer, r *audit.Report, o *audit.Options) error {
	k, asked := r.Kept(), false
	for _, name := range []verify.Property{verify.DP, verify.ApproximateDP} {
		p := r.Find(name)
		asked = asked || p != nil && !p.Fact
		switch {
		case p == nil || p.Verdict != verify.Proved || p.Fact:
			continue
		case k == nil:
			return fmt.Errorf("%w: the inputs were a stream, and the certificate of a proof needs them from a file; give inputs FILE and neighbors FILE", certtext.ErrNone)
		case p.Doubt > 0:
			return fmt.Errorf("%w: %s is proved to within the precision of the answers alone; give probabilities as fractions \"p/q\", or a greater ε", certtext.ErrNone, name)
		case !k.Whole || len(k.Pairs) == 0:
			return fmt.Errorf("%w: not every answer is a distribution", certtext.ErrNone)
		}
		delta := new(big.Rat)
		if name == verify.ApproximateDP {
			delta = cmp.Or(o.Targets[name], delta)
		}
		if !proves(k, o, delta) {
			return fmt.Errorf("%w: %s is proved to within a slack, or to within what double precision rounds to 0, and a certificate leaves no room for either; state probabilities as fractions \"p/q\"%s", certtext.ErrNone, name, Choose(o.NoSide, "", ", or leave out the scores and datasets beside the domain (no-side)"))
		}
		return writeKept(certtext.NewWriter(w, "private"), k, o, delta)
	}
	if !asked {
		return fmt.Errorf("%w: property asks for neither dp nor approximate-dp", certtext.ErrNone)
	}
	return fmt.Errorf("%w: dp or approximate-dp was neither proved nor violated", certtext.ErrNone)
}

// proves reports whether Σ max(0, z p - p') <= zδ on every pair, z = e^{-dε}, without any slack, p being the upper end and p' the lower one.
func proves(k *audit.Kept, o *audit.Options, delta *big.Rat) bool {
	for ab, d := range k.Pairs {
		z, exact := o.Epsilon.ExpNegRat(d)
		if !exact {
			z, _ = o.Epsilon.ExpNeg(d, 512).Hi().Rat(nil)
		}
		for _, at := range [][2]int{ab, {ab[1], ab[0]}} {
			sum := new(big.Rat)
			for r, p := range k.High[at[0]] {
				over := new(big.Rat).Mul(z, p)
				if low := k.Low[at[1]]; r < len(low) {
					over.Sub(over, low[r])
				}
				if over.Sign() > 0 {
					sum.Add(sum, over)
				}
			}
			if sum.Cmp(new(big.Rat).Mul(z, delta)) > 0 {
				return false
			}
			if !k.Both {
				break
			}
		}
	}
	return true
}

func writeKept(c *certtext.Writer, k *audit.Kept, o *audit.Options, delta *big.Rat) error {
	outcomes := 0
	for _, p := range k.Low {
		outcomes = max(outcomes, len(p))
	}
	c.Epsilon(o.Epsilon.Exp(), o.Epsilon.Eps())
	c.Line("delta %s", delta.RatString())
	c.Line("inputs %d", len(k.Names))
	c.Line("outputs %d", outcomes)
	for i, name := range k.Names {
		c.Line("input %s", name)
		ends := slices.Repeat([]string{"0"}, outcomes)
		for r, lo := range k.Low[i] {
			if ends[r] = lo.RatString(); lo.Cmp(k.High[i][r]) != 0 {
				ends[r] += "," + k.High[i][r].RatString()
			}
		}
		c.Line("pmf %s", strings.Join(ends, " "))
	}
	word, from, to := "pair", 0, 1
	if !k.Both { // an arrow's second input is the one that may be no likelier
		word, from, to = "arrow", 1, 0
	}
	order := slices.SortedFunc(maps.Keys(k.Pairs), func(a, b [2]int) int { return cmp.Or(a[from]-b[from], a[to]-b[to]) })
	for _, ab := range order {
		c.Line("%s %d %d %s", word, ab[from], ab[to], k.Pairs[ab].RatString())
	}
	return c.End()
}

// Check asks whether a certificate is valid.
type Check struct {
	File   string `json:""`
	Remedy string `json:"-"` // what raises its limits, as whoever asks says it
	// Decide is a checker; nil: certificate.Check.
	Decide func(io.Reader, certificate.Options) (*certificate.Report, error) `json:"-"`
}

func (q *Check) answer(in *reading) *Answer {
	in.begin("check", number.Epsilon{})
	doc := settled(in, func() *document.Check {
		file := in.open("", q.File)
		defer file.Close()
		decide := q.Decide
		if decide == nil {
			decide = certificate.Check
		}
		report, err := decide(file, checkLimits(in.ctx, in.MaxMemory))
		if errors.Is(err, certificate.ErrLimit) {
			err = fmt.Errorf("%w%s", err, q.Remedy)
		}
		if err != nil {
			throw(fmt.Errorf("%s: %w", escape.Quoted(q.File), err))
		}
		return &document.Check{Report: report}
	}, func(why string) *document.Check {
		return &document.Check{Report: &certificate.Report{Reason: "undecided"}, Undecided: why}
	})
	a := answered(doc, doc.Undecided, nil)
	if !doc.Valid && doc.Undecided == "" {
		a.Violated = "invalid certificate: " + doc.Reason
	}
	return a
}

// checkLimits are what a check may cost: as many steps as there is time for, where that is more than without a limit of time.
func checkLimits(ctx context.Context, memory int64) certificate.Options {
	o := certificate.Options{Context: ctx, MaxMemory: memory, MaxSteps: evidence.DefaultSteps}
	if end, ok := ctx.Deadline(); ok {
		o.MaxSteps = max(evidence.DefaultSteps, int(time.Until(end)/evidence.StepTime))
	}
	return o
}
