package certificate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"

	"optratio/internal/evidence"
	"optratio/verify/certificate"
)

// endless repeats a text.
type endless struct {
	text string
	at   int
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.text[e.at:])
		e.at = (e.at + c) % len(e.text)
		n += c
	}
	e.left -= n
	return n, nil
}

func header(n, k, epsilon, objective, constraints, proof string) string {
	return fmt.Sprintf("optratio-certificate 3\nproblem program\nn %s\nk %s\n%s\nobjective %s\nconstraints %s\nproof %s\nprecision 128\n",
		n, k, epsilon, objective, constraints, proof)
}

// TestHostile gives files that ask for more than they are worth: each is refused or found invalid, in
// little time and memory, and in one line.
func TestHostile(t *testing.T) {
	digits := strings.Repeat("7", 1<<20)
	claim := "claim optimum 0 1\n"
	small := header("2", "1", "exp-epsilon 3/2", "paper", "paper", "lp")
	cases := map[string]io.Reader{
		"empty":             strings.NewReader(""),
		"binary":            bytes.NewReader(bytes.Repeat([]byte{0xff, 0}, 1000)),
		"no newline":        &endless{text: "a", left: 1 << 26},
		"newlines":          &endless{text: "\n", left: 1 << 26},
		"endless line":      io.MultiReader(strings.NewReader("optratio-certificate 3\nproblem program\n"), &endless{text: "n", left: 1 << 28}),
		"next version":      strings.NewReader("optratio-certificate 4\n"),
		"huge n":            strings.NewReader(header("1000000000000000000000", "1", "epsilon 1", "paper", "paper", "lp")),
		"large n":           strings.NewReader(header("1000000000", "1000000", "epsilon 1", "paper", "paper", "lp") + claim),
		"large k":           strings.NewReader(header("1", "1000000", "epsilon 1", "paper", "paper", "lp") + claim + "dual 1"),
		"long n":            strings.NewReader(header("1"+digits[:1<<17], "1", "epsilon 1", "paper", "paper", "lp")),
		"negative n":        strings.NewReader(header("-3", "1", "epsilon 1", "paper", "paper", "lp")),
		"no candidates":     strings.NewReader(header("0", "1", "epsilon 1", "paper", "paper", "lp")),
		"padded n":          strings.NewReader(header("03", "1", "epsilon 1", "paper", "paper", "lp")),
		"signed n":          strings.NewReader(header("+3", "1", "epsilon 1", "paper", "paper", "lp")),
		"spaced n":          strings.NewReader(header(" 3", "1", "epsilon 1", "paper", "paper", "lp")),
		"carriage returns":  strings.NewReader(strings.ReplaceAll(small, "\n", "\r\n")),
		"negative epsilon":  strings.NewReader(header("2", "1", "epsilon -1", "paper", "paper", "lp")),
		"e^epsilon < 1":     strings.NewReader(header("2", "1", "exp-epsilon 1/2", "paper", "paper", "lp")),
		"unreduced epsilon": strings.NewReader(header("2", "1", "epsilon 2/4", "paper", "paper", "lp")),
		"epsilon over 0":    strings.NewReader(header("2", "1", "epsilon 1/0", "paper", "paper", "lp")),
		"decimal epsilon":   strings.NewReader(header("2", "1", "epsilon 0.5", "paper", "paper", "lp")),
		"long epsilon":      strings.NewReader(header("2", "1", "epsilon "+digits[:1<<17], "paper", "paper", "lp")),
		"two epsilons":      strings.NewReader(header("2", "1", "epsilon 1\nexp-epsilon 2", "paper", "paper", "lp")),
		"huge epsilon":      strings.NewReader(header("100000", "100", "epsilon "+digits[:1000], "paper", "paper", "dual-closed-form") + "claim optimum 0 0\nend 10\n"),
		"tiny epsilon": strings.NewReader(header("100000", "100", "epsilon 1/"+digits[:1000], "paper", "paper", "dual-closed-form") +
			"claim optimum 0 1\nend 10\n"),
		"large e^epsilon": strings.NewReader(header("100000", "100", "exp-epsilon "+digits[:1000], "paper", "paper", "dual-closed-form") +
			"claim optimum 0 0\nend 10\n"),
		"close to 1": strings.NewReader(header("3", "20000", "exp-epsilon "+digits[:1000]+"8/"+digits[:1000]+"7", "box", "paper", "dual-recurrence") +
			"claim optimum 0 0\nend 10\n"),
		"large box":         strings.NewReader(header("1000000000", "1000000", "epsilon 1", "box", "paper", "dual-closed-form") + claim + "end 10\n"),
		"large closed form": strings.NewReader(header("1000000000", "1000", "exp-epsilon 3/2", "paper", "paper", "dual-closed-form") + "claim optimum 1 1\nend 10\n"),
		"em too large":      strings.NewReader(header("100000", "100", "epsilon 1", "paper", "paper", "dual-recurrence") + claim + "claim error em 0 1\nend 11\n"),
		"decimal exponent":  strings.NewReader(small + "claim optimum 0 1e999999999\n"),
		"small exponent":    strings.NewReader(small + "claim optimum 1e-999999999 1\n"),
		"hex exponent":      strings.NewReader(small + claim + "dual 2 0 0x1p+999999999\n"),
		"hex exponent -":    strings.NewReader(small + claim + "dual 2 0 0x1p-99999\n"),
		"long claim":        strings.NewReader(small + "claim optimum 0 " + digits + "\n"),
		"long value":        strings.NewReader(small + claim + "dual 2 0 " + digits[:1<<17] + "\n"),
		"long hex":          strings.NewReader(small + claim + "dual 2 0 0x1." + digits[:1<<17] + "p+00\n"),
		"spaces":            strings.NewReader(small + claim + "dual 2 0" + strings.Repeat(" ", 1<<17) + "\n"),
		"counts":            strings.NewReader(small + claim + "dual 2 99999999999999999999 0\n"),
		"inf":               strings.NewReader(small + claim + "dual 2 0 inf\n"),
		"nan":               strings.NewReader(small + "claim optimum nan nan\n"),
		"underscore":        strings.NewReader(small + claim + "dual 2 0 1_0\n"),
		"upper case hex":    strings.NewReader(small + claim + "dual 2 0 0X1P+00\n"),
		"order":             strings.NewReader(small + "claim optimum 1 0\n"),
		"huge precision":    strings.NewReader(strings.Replace(header("2", "1", "epsilon 1", "paper", "paper", "dual-recurrence"), "128", "999999999", 1) + "claim optimum 0 1e-9\nend 10\n"),
	}
	for name, in := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rep, err := certificate.Check(in, certificate.Options{MaxMemory: 64 << 20})
		runtime.ReadMemStats(&after)
		said := ""
		switch {
		case err != nil:
			if !errors.Is(err, certificate.ErrUnreadable) && !errors.Is(err, certificate.ErrLimit) {
				t.Errorf("%s: %v", name, err)
			}
			said = err.Error()
		case rep.Valid:
			t.Errorf("%s: valid", name)
		default:
			said = rep.Reason
		}
		if said == "" || strings.Contains(said, "\n") || len(said) > 500 {
			t.Errorf("%s: says %.600q", name, said)
		}
		// Bytes allocated in all, not at one time. Input without end is read up to a limit, or this test does not end.
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<29 {
			t.Errorf("%s: allocated %d MB", name, grown>>20)
		}
		t.Logf("%-18s %4d MB  %.150s", name, (after.TotalAlloc-before.TotalAlloc)>>20, said)
	}
}

// TestWorkIsCounted: small files that would take much time and memory in a part of the check that comes before what they prove. Where it was not counted they took from
// 6 to more than 36 seconds and up to 42 GB, which only the limits on variables and on numbers bounded.
func TestWorkIsCounted(t *testing.T) {
	composed := func(lines ...string) string {
		return "optratio-certificate 3\nproblem compose\n" + strings.Join(lines, "\n") + "\n"
	}
	grid := func(kind, d string) string {
		return composed("selections "+kind+" 1 1/2", "delta 1/100", "grid "+d, "claim cost 0 1/4", "bound 1 1", "end 7")
	}
	digits := "1" + strings.Repeat("0", 2000)
	for name, c := range map[string]struct{ text, says string }{
		"factorials": {header("20000", "1", "epsilon 1", "paper", "paper", "lp") + "claim optimum 0 1\n", "bytes"},
		"multiplicities": {"optratio-certificate 3\nproblem lattice\nn 6000\nk 1\nstep 1\ntop 1\nconstraints paper\nloss 0 1\nprior uniform\nepsilon 1\nprecision 64\n" +
			"claim optimum 0 1\n", "steps"},
		"names":       {composed(strings.Repeat("selections em 1 1/2\n", 5000)), "line 5003"},
		"fine grid":   {grid("geo", "1/1000000"), "steps"},
		"long grid":   {grid("em", digits+"1/"+digits), "line 5: grid: a number of more than 4096 bits"},
		"long losses": {composed("selections geo 1 1/2", "delta 1/100", "grid 1", "stride 1", "claim cost 0 1/4", "bound 1 1", "losses 1 2"+strings.Repeat(" 0", 40001), "end 9"), "steps"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rep, err := certificate.Check(strings.NewReader(c.text), certificate.Options{MaxSteps: 1 << 24, MaxMemory: 1 << 28})
		runtime.ReadMemStats(&after)
		said := fmt.Sprint(err)
		if rep != nil {
			said = rep.Reason
		}
		if !strings.Contains(said, c.says) {
			t.Errorf("%s: %.200s", name, said)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<27 {
			t.Errorf("%s: allocated %d MB", name, grown>>20)
		}
	}
}

// TestCommonDenominatorIsBounded: multipliers whose denominators have nothing in common cannot make the exact
// arithmetic outgrow the limit.
func TestCommonDenominatorIsBounded(t *testing.T) {
	const k = 200
	var b strings.Builder
	b.WriteString(header("2", fmt.Sprint(k), "exp-epsilon 3/2", "paper", "paper", "lp") + "claim optimum 0 1\n")
	q := new(big.Int).Lsh(big.NewInt(1), 20000)
	for i := range k + 1 {
		m := make([]int, k+1)
		m[0]++
		m[i]++
		fmt.Fprintf(&b, "dual %s 1/%v\n", counts(m), q.Add(q, big.NewInt(1)))
	}
	fmt.Fprintf(&b, "end %d\n", 10+k+1)
	_, err := certificate.Check(strings.NewReader(b.String()), certificate.Options{MaxMemory: 4 << 20})
	if !errors.Is(err, certificate.ErrLimit) {
		t.Errorf("error %v, want ErrLimit", err)
	}
}

// TestDenominatorsOfCutsAndInjectionsAreBounded likewise.
func TestDenominatorsOfCutsAndInjectionsAreBounded(t *testing.T) {
	p := newProblem(3, 3, "3/2", "paper", "full")
	q := new(big.Int).Lsh(big.NewInt(1), 20000)
	small := func() *big.Rat { return new(big.Rat).SetFrac(big.NewInt(1), q.Add(q, big.NewInt(1))) }
	zero := func() *solution {
		sol := &solution{cuts: map[levelRow]*big.Rat{}, u: p.completed(nil)}
		for range p.Orbits {
			sol.y = append(sol.y, new(big.Rat))
		}
		return sol
	}
	cuts, injections, both := zero(), zero(), map[int]*big.Rat{}
	for _, r := range p.LevelRows() {
		cuts.cuts[r] = small()
	}
	for i, x := range p.Vars {
		if x.V > 0 {
			both[i] = small()
		}
	}
	injections.u = p.completed(both)
	for name, sol := range map[string]*solution{"none": zero(), "cuts": cuts, "injections": injections} {
		d := p.draft("exp-epsilon 3/2", sol, (*big.Rat).RatString).claim("optimum", "0", "3")
		rep, err := certificate.Check(strings.NewReader(d.String()), certificate.Options{MaxMemory: 1 << 20})
		if name == "none" {
			if err != nil || !rep.Valid {
				t.Errorf("%v, %v", rep, err)
			}
		} else if !errors.Is(err, certificate.ErrLimit) {
			t.Errorf("%s: error %v, want ErrLimit, report %+v", name, err, rep)
		}
	}
}

// TestCommonFactorsAreShared: denominators with a common factor need it once. Six numbers of 24000 bits that share 24000 bits
// are accepted where six with nothing in common are not.
func TestCommonFactorsAreShared(t *testing.T) {
	for shared, want := range map[bool]error{true: nil, false: certificate.ErrLimit} {
		var b strings.Builder
		b.WriteString(header("3", "2", "exp-epsilon 3/2", "paper", "paper", "lp") + "claim optimum 0 2\n")
		big24000 := new(big.Int).Lsh(big.NewInt(1), 24000)
		for i, m := range []string{"3 0 0", "2 1 0", "2 0 1", "1 2 0", "1 1 1", "1 0 2"} {
			den := new(big.Int).Mul(big24000, big.NewInt(int64(2*i+1)))
			if !shared {
				den.Add(big24000, big.NewInt(int64(2*i+1)))
			}
			fmt.Fprintf(&b, "dual %s 1/%v\n", m, den)
		}
		b.WriteString("end 16\n")
		rep, err := certificate.Check(strings.NewReader(b.String()), certificate.Options{})
		if !errors.Is(err, want) || err == nil && !rep.Valid {
			t.Errorf("shared %t: %+v, %v", shared, rep, err)
		}
	}
}

// TestLengthsOfLines: a multiplier may have 2^16 bytes, and a line what two ends of a claim take.
func TestLengthsOfLines(t *testing.T) {
	for _, c := range []struct {
		length int
		reason string
	}{{1 << 16, ""}, {1<<16 + 1, "line 11: dual: number too long"}} {
		text := header("1", "0", "exp-epsilon 3/2", "paper", "paper", "lp") + "claim optimum 0 0\ndual 1 -" + strings.Repeat("7", c.length-1) + "\nend 11\n"
		rep, err := certificate.Check(strings.NewReader(text), certificate.Options{})
		if err != nil || !strings.HasPrefix(rep.Reason, c.reason) || strings.HasPrefix(rep.Reason, "line") != (c.reason != "") {
			t.Errorf("%d bytes: %+v, %v", c.length, rep, err)
		}
	}
	const most = 2<<18 + 64
	for length, reason := range map[int]string{most: "line 3: n: ", most + 1: "line 3: longer than 524352 bytes"} {
		rep, err := certificate.Check(strings.NewReader("optratio-certificate 3\nproblem program\nn "+strings.Repeat("x", length-2)+"\n"), certificate.Options{})
		if err != nil || !strings.HasPrefix(rep.Reason, reason) {
			t.Errorf("%d bytes: %+v, %v", length, rep, err)
		}
	}
	// Far too many variables.
	_, err := certificate.Check(strings.NewReader(header("1000000", "1000000", "epsilon 1", "paper", "paper", "lp")+"claim optimum 0 1\n"), certificate.Options{})
	if !errors.Is(err, certificate.ErrLimit) || !strings.Contains(err.Error(), "about 4.17e+28 variables") {
		t.Error(err)
	}
}

// TestLongBaseIsBounded: nor can powers of e^ε.
func TestLongBaseIsBounded(t *testing.T) {
	text := proposal(6, 6, "exp-epsilon 1"+strings.Repeat("0", 1000)+"1/1"+strings.Repeat("0", 1000), 1, "paper")
	_, err := certificate.Check(strings.NewReader(text), certificate.Options{MaxMemory: 16 << 20})
	if !errors.Is(err, certificate.ErrLimit) {
		t.Errorf("error %v, want ErrLimit", err)
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := newProblem(3, 3, "3/2", "paper", "full")
	text := p.exactDraft("3/2", p.solve()).String()
	if _, err := certificate.Check(strings.NewReader(text), certificate.Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, exp := range []string{"1", "3/2"} {
		for _, level := range []string{"paper", "full"} {
			p := newProblem(2, 2, exp, "paper", level)
			f.Add(p.exactDraft(exp, p.solve()).String())
		}
	}
	p := newProblem(2, 2, "8/5", "box", "dp")
	f.Add(p.draft("epsilon 1/2", p.solve(), hex).claim("optimum", "0", "0x1p+01").String())
	f.Add(byTheorem(3, 2, "2", "box", "dual-recurrence").claim("optimum", "0.1", "2").claim("error em", "1e-3", "2").String())
	f.Add(byTheorem(3, 2, "epsilon 1/3", "paper", "dual-closed-form").claim("optimum", "0.1", "2").String())
	for _, d := range classDrafts() {
		f.Add(d.String())
	}
	for _, w := range witnesses {
		f.Add(section(w).String())
	}
	for _, q := range questions {
		l, _ := certified(f, q.text)
		f.Add(l.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		o := evidence.Options{Context: ctx, MaxMemory: 1 << 22, MaxPrecision: 256}
		rep, err := certificate.CheckAt(strings.NewReader(text), o)
		if err == nil && rep.Valid != (rep.Reason == "") {
			t.Errorf("valid = %v, reason %q", rep.Valid, rep.Reason)
		}
		if err == nil && strings.Contains(rep.Reason, "\n") || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than one line: %+v, %v", rep, err)
		}
		var out strings.Builder
		if err := exportVIPR(&out, text, o); err == nil {
			if !rep.Valid {
				t.Error("exported an invalid certificate")
			}
			if _, err := verifyVIPR(out.String()); err != nil {
				t.Errorf("the exported file is wrong: %v", err)
			}
		}
	})
}

// broken is a reader that fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// TestBrokenReader: wherever reading fails, that is said, and no verdict is given on what was read.
func TestBrokenReader(t *testing.T) {
	p := newProblem(3, 3, "5/4", "paper", "full")
	sol := p.solve()
	for i, r := range p.LevelRows() {
		if i%9 == 0 {
			sol.cuts[r] = big.NewRat(1, 1000)
		}
	}
	text := p.draft("exp-epsilon 5/4", sol, (*big.Rat).RatString).claim("optimum", "0", "3").String()
	for _, line := range []string{"\ninject ", "\ncut "} {
		if !strings.Contains(text, line) {
			t.Fatalf("no line %q", line)
		}
	}
	for i := range len(text) + 1 {
		rep, err := certificate.Check(io.MultiReader(strings.NewReader(text[:i]), broken{}), certificate.Options{})
		if !errors.Is(err, certificate.ErrUnreadable) || rep != nil {
			t.Fatalf("after %d bytes: %v, %+v", i, err, rep)
		}
	}
}

// fading is a context that ends after some queries.
type fading struct {
	context.Context
	left int
}

func (f *fading) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestStoppedAtAnyPoint: wherever a check or an export is stopped, it says so, and never that all is well.
func TestStoppedAtAnyPoint(t *testing.T) {
	text := proposal(6, 4, "exp-epsilon 3/2", 2.0/3, "full")
	for name, run := range map[string]func(o evidence.Options) error{
		"check": func(o evidence.Options) error {
			rep, err := certificate.CheckAt(strings.NewReader(text), o)
			if err == nil && !rep.Valid {
				t.Errorf("stopped, and found not valid: %s", rep.Reason)
			}
			return err
		},
		"export": func(o evidence.Options) error {
			var out strings.Builder
			err := exportVIPR(&out, text, o)
			if err == nil {
				if _, err := verifyVIPR(out.String()); err != nil {
					t.Errorf("exported without an error: %v", err)
				}
			}
			return err
		},
	} {
		stops := 0
		for ; ; stops++ {
			f := &fading{Context: context.Background(), left: stops}
			err := run(evidence.Options{Context: f})
			if f.left >= 0 {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: stopped at query %d: %v", name, stops, err)
			}
		}
		if stops < 20 {
			t.Errorf("%s: only %d queries of the context", name, stops)
		}
	}
}

// TestUndecidedIsNotInvalid: what the limits leave undecided is no verdict. A true claim about a lattice of 2^(2^30) score vectors is refused by what its closed forms would
// cost, and so is a small file that asks for long fractions or for an enumeration; none of them is called invalid.
func TestUndecidedIsNotInvalid(t *testing.T) {
	text := func(n, k int, eps, objective, proof string, claims ...string) string {
		lines := []string{"optratio-certificate 3", "problem program", fmt.Sprint("n ", n), fmt.Sprint("k ", k), eps, "objective " + objective, "constraints paper", "proof " + proof, "precision 192"}
		lines = append(lines, claims...)
		return strings.Join(lines, "\n") + fmt.Sprintf("\nend %d\n", len(lines))
	}
	for name, c := range map[string]struct {
		text string
		says string
	}{
		"huge":      {text(1<<30, 1<<20, "exp-epsilon 3", "paper", "dual-recurrence", "claim optimum 0 1048576"), "steps"},
		"fractions": {text(2, 30_000, "exp-epsilon 3", "paper", "dual-recurrence", "claim optimum 0 1"), "steps"},
		"em":        {text(12, 12, "epsilon 1", "paper", "dual-recurrence", "claim optimum 0 12", "claim error em 0 12"), "variables"},
	} {
		rep, err := certificate.Check(strings.NewReader(c.text), certificate.Options{})
		if !errors.Is(err, certificate.ErrLimit) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, report %+v", name, err, rep)
		}
	}
}

// TestOlderFormats: files of formats that are no longer read are refused with a line that says how to write them again.
func TestOlderFormats(t *testing.T) {
	for _, first := range []string{"optratio-certificate 1", "optratio-certificate 2", "optratio-interval 1"} {
		for _, read := range []func(text string) error{
			func(text string) error {
				_, err := certificate.Check(strings.NewReader(text), certificate.Options{})
				return err
			},
			func(text string) error {
				return exportVIPR(io.Discard, text, evidence.Options{})
			},
		} {
			err := read(first + "\nn 3\n")
			if !errors.Is(err, certificate.ErrUnreadable) || !strings.Contains(err.Error(), "write the certificate again") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", first, err)
			}
		}
	}
}
