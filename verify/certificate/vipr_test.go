package certificate_test

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"optratio/internal/evidence"
	"optratio/verify/certificate"
)

// viprRow is a constraint of a VIPR file: Σ coef x (sense) rhs, sense being 1 for >=, 0 for =, -1 for <=.
type viprRow struct {
	sense int
	rhs   *big.Rat
	coef  map[int]*big.Rat
}

// viprFile goes through a VIPR file as its specification says, for the parts that programs without integer
// variables need, and verifies all of it.
type viprFile struct {
	words []string
	vars  int
	obj   map[int]*big.Rat
	rows  []viprRow
	lower *big.Rat
	upper *big.Rat
	names map[string]bool
}

func (f *viprFile) word() string {
	w := f.words[0]
	f.words = f.words[1:]
	return w
}

func (f *viprFile) expect(words ...string) {
	for _, w := range words {
		if got := f.word(); got != w {
			panic(fmt.Sprintf("%q, want %q", got, w))
		}
	}
}

func (f *viprFile) index(below int) int {
	i, err := strconv.Atoi(f.word())
	if err != nil || i < 0 || i >= below {
		panic("bad index")
	}
	return i
}

func (f *viprFile) number() *big.Rat {
	w := f.word()
	r, ok := new(big.Rat).SetString(w)
	if !ok || strings.ContainsAny(w, "eEx.") {
		panic("bad number " + w)
	}
	return r
}

func (f *viprFile) pairs(count, below int) map[int]*big.Rat {
	m := map[int]*big.Rat{}
	for range count {
		i := f.index(below)
		if m[i] != nil {
			panic("an index twice")
		}
		m[i] = f.number()
	}
	return m
}

func (f *viprFile) row() viprRow {
	name := f.word()
	if f.names[name] {
		panic("a constraint name twice")
	}
	f.names[name] = true
	r := viprRow{sense: map[string]int{"E": 0, "G": 1, "L": -1}[f.word()], rhs: f.number()}
	if f.words[0] == "OBJ" {
		f.word()
		r.coef = f.obj
	} else {
		r.coef = f.pairs(f.index(1<<30), f.vars)
	}
	return r
}

// dominated reports whether a >= or = row with the same left-hand side as the objective follows from Σ λ rows.
func (f *viprFile) derived(lambda map[int]*big.Rat) viprRow {
	d := viprRow{rhs: new(big.Rat), coef: map[int]*big.Rat{}}
	for i, l := range lambda {
		r := f.rows[i]
		if s := l.Sign() * r.sense; s != 0 {
			if d.sense != 0 && d.sense != s {
				panic("multipliers of both signs")
			}
			d.sense = s
		}
		d.rhs.Add(d.rhs, new(big.Rat).Mul(l, r.rhs))
		for j, c := range r.coef {
			if d.coef[j] == nil {
				d.coef[j] = new(big.Rat)
			}
			d.coef[j].Add(d.coef[j], new(big.Rat).Mul(l, c))
		}
	}
	return d
}

func sameRow(a, b map[int]*big.Rat) bool {
	at := func(m map[int]*big.Rat, i int) *big.Rat {
		if m[i] == nil {
			return new(big.Rat)
		}
		return m[i]
	}
	for i := range a {
		if a[i].Cmp(at(b, i)) != 0 {
			return false
		}
	}
	for i := range b {
		if b[i].Cmp(at(a, i)) != 0 {
			return false
		}
	}
	return true
}

// verifyVIPR returns the range that the file proves, or why it proves none.
func verifyVIPR(text string) (f *viprFile, err error) {
	f = &viprFile{names: map[string]bool{}}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "% ") {
			f.words = append(f.words, strings.Fields(line)...)
		} else if len(f.words) > 0 {
			panic("a comment after the first line")
		}
	}
	f.expect("VER", "1.0", "VAR")
	f.vars = f.index(1 << 30)
	names := map[string]bool{}
	for range f.vars {
		names[f.word()] = true
	}
	if len(names) != f.vars {
		panic("a variable name twice")
	}
	f.expect("INT", "0", "OBJ", "min")
	f.obj = f.pairs(f.index(1<<30), f.vars)
	f.expect("CON")
	rows, bounds := f.index(1<<30), f.index(1<<30)
	for i := range rows {
		r := f.row()
		if (len(r.coef) == 1 && r.sense == 1) != (i < bounds) {
			panic("bounds are not counted right")
		}
		f.rows = append(f.rows, r)
	}
	f.expect("RTP", "range")
	f.lower, f.upper = f.number(), f.number()
	f.expect("SOL", "1", "point")
	x := f.pairs(f.index(1<<30), f.vars)
	dot := func(a map[int]*big.Rat) *big.Rat {
		s := new(big.Rat)
		for i, c := range a {
			if x[i] != nil {
				s.Add(s, new(big.Rat).Mul(c, x[i]))
			}
		}
		return s
	}
	for i, r := range f.rows {
		if d := dot(r.coef).Cmp(r.rhs); r.sense == 0 && d != 0 || d*r.sense < 0 {
			panic(fmt.Sprintf("constraint %d does not hold at the point", i))
		}
	}
	if dot(f.obj).Cmp(f.upper) > 0 {
		panic("the point is not as good as the upper bound")
	}
	f.expect("DER", "1")
	d := f.row()
	f.expect("{", "lin")
	got := f.derived(f.pairs(f.index(1<<30), len(f.rows)))
	f.expect("}", "-1")
	if len(f.words) > 0 {
		panic("more after the end")
	}
	if !sameRow(got.coef, d.coef) || d.sense != 1 || got.sense < 0 || got.rhs.Cmp(d.rhs) < 0 {
		panic("the derivation does not give the derived constraint")
	}
	if !sameRow(d.coef, f.obj) || d.rhs.Cmp(f.lower) < 0 {
		panic("the derived constraint does not give the lower bound")
	}
	return f, nil
}

// exportVIPR checks a certificate and writes it in the VIPR format.
func exportVIPR(out io.Writer, in string, o evidence.Options) error {
	rep, err := certificate.CheckAt(strings.NewReader(in), o)
	if err != nil {
		return err
	}
	return rep.WriteVIPR(out)
}

func export(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	if err := exportVIPR(&out, text, evidence.Options{}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out.String()
}

func TestExportVIPR(t *testing.T) {
	for _, exp := range []string{"1", "5/4", "3/2", "5/2"} {
		for _, objective := range []string{"paper", "box"} {
			for _, level := range []string{"paper", "dp", "monotone", "full"} {
				for n := 1; n <= 3; n++ {
					for k := 0; k <= 3; k++ {
						p := newProblem(n, k, exp, objective, level)
						sol := p.solve()
						name := fmt.Sprint(n, k, exp, objective, level)
						f, err := verifyVIPR(export(t, p.exactDraft(exp, sol).String()))
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						if f.lower.Cmp(sol.minimum) != 0 || f.upper.Cmp(sol.minimum) != 0 {
							t.Errorf("%s: range [%s, %s], minimum %s", name, f.lower.RatString(), f.upper.RatString(), sol.minimum.RatString())
						}
						if len(f.rows) < len(p.Vars)+len(p.Orbits) {
							t.Errorf("%s: only %d constraints", name, len(f.rows))
						}
					}
				}
			}
		}
	}
}

// TestExportVIPRFromFloats: approximate multipliers and injections give a range around the minimum.
func TestExportVIPRFromFloats(t *testing.T) {
	p := newProblem(3, 3, "4/3", "paper", "full")
	sol := p.solve()
	d := p.draft("exp-epsilon 4/3", sol, hex)
	text := d.claim("optimum", "0", "3").String()
	f, err := verifyVIPR(export(t, text))
	if err != nil {
		t.Fatal(err)
	}
	width := new(big.Rat).Sub(f.upper, f.lower)
	if f.lower.Cmp(sol.minimum) > 0 || f.upper.Cmp(sol.minimum) < 0 || width.Cmp(rat("1e-10")) > 0 {
		t.Errorf("range [%s, %s], minimum %s", f.lower.FloatString(20), f.upper.FloatString(20), sol.minimum.FloatString(20))
	}
}

// TestExportVIPRWithoutLP: proofs by theorem export the multipliers that the theorems state.
func TestExportVIPRWithoutLP(t *testing.T) {
	for _, c := range []struct {
		n, k      int
		exp       string
		objective string
		proof     string
	}{
		{4, 3, "2", "paper", "dual-recurrence"},
		{3, 4, "2", "box", "dual-recurrence"},
		{2, 4, "6/5", "paper", "dual-recurrence"},
		{4, 1, "6/5", "box", "dual-recurrence"},
		{1, 3, "6/5", "paper", "dual-recurrence"},
		{4, 3, "6/5", "paper", "dual-closed-form"},
		{4, 3, "6/5", "box", "dual-closed-form"},
	} {
		d := byTheorem(c.n, c.k, c.exp, c.objective, c.proof)
		f, err := verifyVIPR(export(t, d.claim("optimum", "0", fmt.Sprint(c.k)).String()))
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		p := newProblem(c.n, c.k, c.exp, c.objective, "paper")
		sol := p.solve()
		if f.upper.Cmp(sol.flip) != 0 || f.lower.Cmp(sol.minimum) > 0 {
			t.Errorf("%+v: range [%s, %s], minimum %s, permute-and-flip %s", c, f.lower.RatString(), f.upper.RatString(), sol.minimum.RatString(), sol.flip.RatString())
		}
		want := sol.flip
		if c.proof == "dual-closed-form" {
			want = p.closedDual()
		}
		if f.lower.Cmp(want) != 0 {
			t.Errorf("%+v: lower bound %s, want %s", c, f.lower.RatString(), want.RatString())
		}
	}
}

// TestVIPRVerifierRejects makes sure that the verifier of these tests verifies: no doctored number passes as
// anything but a worse bound.
func TestVIPRVerifierRejects(t *testing.T) {
	p := newProblem(3, 2, "6/5", "paper", "full")
	sol := p.solve()
	text := export(t, p.exactDraft("6/5", sol).String())
	words := strings.Fields(text[strings.Index(text, "VER"):])
	rejected := 0
	for i, w := range words[3:] {
		r, ok := new(big.Rat).SetString(w)
		if !ok {
			continue
		}
		doctored := slices.Clone(words)
		doctored[3+i] = r.Add(r, big.NewRat(1, 1)).RatString()
		f, err := verifyVIPR(strings.Join(doctored, " "))
		if err != nil {
			rejected++
			continue
		}
		if doctored[1+i] != "range" && doctored[2+i] != "range" && doctored[1+i] != "bound" &&
			words[i+2] != "E" && words[i+2] != "G" && f.upper.Cmp(f.lower) >= 0 && f.lower.Cmp(sol.minimum) > 0 {
			t.Errorf("word %d, %s: passes", 3+i, w)
		}
	}
	if rejected < 100 {
		t.Errorf("only %d changes rejected", rejected)
	}
}

func TestExportVIPRErrors(t *testing.T) {
	p := newProblem(3, 2, "6/5", "paper", "paper")
	sol := p.solve()
	valid := p.exactDraft("6/5", sol)
	for _, c := range []struct {
		text string
		want string
	}{
		{"", certificate.ErrUnreadable.Error()},
		{p.draft("exp-epsilon 6/5", sol, (*big.Rat).RatString).claim("optimum", "0", "1/10").String(), "not valid"},
		{strings.TrimSuffix(valid.String(), "\n"), "not valid"},
		{p.draft("epsilon 1/2", sol, hex).claim("optimum", "0", "2").String(), "not rational"},
		{byTheorem(1000, 100, "2", "paper", "dual-recurrence").claim("optimum", "0", "100").String(), certificate.ErrLimit.Error()},
	} {
		var out strings.Builder
		if err := exportVIPR(&out, c.text, evidence.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %v\n%.300s", err, c.want, c.text)
		}
		if out.Len() > 0 {
			t.Errorf("wrote %d bytes with an error", out.Len())
		}
	}
}
