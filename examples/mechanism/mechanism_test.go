package main

import (
	"bytes"
	"context"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"optratio/cli"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/proptest"
	"optratio/verify"
	"optratio/verify/audit"
)

func init() {
	for _, m := range []mechanisms.Mechanism{Softmax, Response, Enclosed, Careless} {
		mechanisms.Register(m)
	}
}

// regular is what a mechanism is checked for that need not be as good as the exponential mechanism.
var regular = []verify.Property{verify.DP, verify.Symmetry, verify.Shift, verify.Monotone, verify.Sum}

// cases has each mechanism beside a registered one with the same probabilities.
var cases = []struct {
	name, same string
	properties []verify.Property
}{
	{"response", "krr", regular},
	{"enclosed", "em", append(regular, verify.DominatesEM)},
	{"softmax", "em", append(regular, verify.DominatesEM)},
}

func lookup(t *testing.T, name string) mechanisms.Mechanism {
	m, err := mechanisms.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func half(t *testing.T) number.Epsilon {
	eps, err := number.ParseExp("3/2")
	if err != nil {
		t.Fatal(err)
	}
	return eps
}

func TestRatios(t *testing.T) {
	for _, c := range cases {
		a, err := lp.Ratio(context.Background(), lp.Request{N: 3, K: 3, Epsilon: half(t), Mechanisms: []mechanisms.Mechanism{lookup(t, c.name), lookup(t, c.same)}})
		if err != nil {
			t.Fatal(err)
		}
		own, same := a.Mechanisms[0].Ratio, a.Mechanisms[1].Ratio
		low, _ := own.Lower()
		high, _ := own.Upper()
		want, exact := same.Rat()
		if !exact || low.Cmp(want) > 0 || high.Cmp(want) < 0 || own.Float64() < 1 {
			t.Errorf("%s: ratio %s, of %s %s", c.name, own, c.same, same)
		}
		if _, exact := own.Rat(); exact != (c.name == "response") {
			t.Errorf("%s: exact %t: %s", c.name, exact, own)
		}
		if a.Undecided != "" {
			t.Error(a.Undecided)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range cases {
		p := verify.Claim{Mechanism: lookup(t, c.name), Epsilon: half(t)}
		report, err := verify.Lattice(context.Background(), p, 3, 2, verify.Options{Properties: c.properties})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Properties {
			// An enclosure never tells two equal numbers apart.
			tie := c.name == "enclosed" && r.Verdict == verify.Undecided
			if r.Verdict != verify.Proved && !tie {
				t.Errorf("%s: %s", c.name, r)
			}
		}
		if approximate := c.name == "softmax"; (report.Precision != nil) != approximate {
			t.Errorf("%s: precision %v", c.name, report.Precision)
		}
		tight := report.Find(verify.DP).TightEps
		if high, ok := tight.Upper(); !ok || high.Cmp(big.NewRat(41, 100)) > 0 { // ln(3/2) = 0.405…
			t.Errorf("%s: tight ε %s", c.name, tight)
		}
	}
	p := verify.Claim{Mechanism: lookup(t, "careless"), Epsilon: half(t)}
	report, err := verify.Lattice(context.Background(), p, 3, 2, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := report.Find(verify.DP); r.Verdict != verify.Violated || r.Witness == nil || len(r.Witness.Scores) != 2 {
		t.Errorf("not caught, or not with a smallest witness: %s", report)
	}
	scores := [][]*big.Rat{{new(big.Rat), big.NewRat(1, 1)}}
	report, err = verify.Scores(context.Background(), p, scores, false, verify.Options{Properties: []verify.Property{verify.DP}})
	if err != nil || report.Verdict() != verify.Violated {
		t.Errorf("not caught: %v %s", err, report)
	}
}

func TestAudits(t *testing.T) {
	for _, c := range cases {
		r, err := audit.Mechanism(context.Background(), lookup(t, c.name), audit.Options{Epsilon: half(t), Properties: c.properties})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict() != verify.Proved || len(r.Findings) > 0 || r.Precision == nil {
			t.Errorf("%s: %s", c.name, r)
		}
	}
	r, err := audit.Mechanism(context.Background(), lookup(t, "careless"), audit.Options{Epsilon: half(t)})
	if err != nil || r.Find(verify.DP).Verdict != verify.Violated || r.Witness == nil {
		t.Errorf("not caught: %v %s", err, r)
	}
	// A rational pmf can be drawn from, and its draws are audited as such.
	response := lookup(t, "response")
	o := audit.Options{Epsilon: half(t), N: 2, K: 1, Budget: 20_000, Against: lookup(t, "krr")}
	if r, err = audit.Draws(context.Background(), response, rand.NewPCG(1, 2), o); err != nil || r.Verdict() == verify.Violated {
		t.Errorf("%v %s", err, r)
	}
	o.Against = lookup(t, "uniform")
	if r, err = audit.Draws(context.Background(), response, rand.NewPCG(1, 2), o); err != nil || r.Find(audit.Against).Verdict != verify.Violated {
		t.Errorf("draws of another law: %v %s", err, r)
	}
}

func TestProperties(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			properties := append([]verify.Property{proptest.Answers, proptest.Repeatable}, c.properties...)
			proptest.Run(t, proptest.Of(lookup(t, c.name)), proptest.Options{Properties: properties, Cases: 20})
		})
	}
	failures, err := proptest.Check(proptest.Of(lookup(t, "careless")), proptest.Options{Properties: []verify.Property{verify.DP}})
	if err != nil || len(failures) != 1 {
		t.Errorf("not caught: %v %v", err, failures)
	}
}

// The whole command line knows the mechanisms.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"ratio -n 3 -k 2 --eps 0.5 --mechanism softmax,enclosed", 0, "\nsoftmax    "},
		{"mechanisms softmax", 0, "softmax\n  privacy "},
		{"verify --mechanism response -n 3 -k 2 --exp-eps 3/2 --property dominates-em", 1, "dominates-em"},
		{"verify --mechanism careless -n 3 -k 2 --eps 0.5 --property dp", 1, "violated"},
		{"verify --mechanism softmax -n 3 -k 2 --eps 0.5", 0, "ε = 0.5; properties hold to the relative precision 1e-12"},
		{"pmf --mechanism softmax --scores 0,-1 --eps 1", 0, "0.622459…"},
		{"pmf --mechanism response --scores 0,-1 --eps 1", 3, "response"},
		{"mechanisms", 0, "careless"},
		{"recommend --mechanism softmax,em --scores 3,1 --eps 1", 0, "these claim ε-DP, which is not proved here (optratio verify asks):\nmechanism   expected error (in units of the scores)   mean squared error (in squared units)\nsoftmax"},
	} {
		var out, errs bytes.Buffer
		exit := cli.Run(context.Background(), strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		if exit != c.exit || !strings.Contains(out.String()+errs.String(), c.want) {
			t.Errorf("%s: exit %d\n%s%s", c.args, exit, &out, &errs)
		}
	}
}
