package certificate_test

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"optratio/internal/evidence"
	"optratio/internal/slowtest"
	"optratio/verify/certificate"
)

// hex rounds to the nearest float64 and writes it as certificates do.
func hex(r *big.Rat) string {
	f, _ := r.Float64()
	if f == 0 {
		return "0"
	}
	return big.NewFloat(f).Text('x', -1)
}

// truth holds the values of a problem, lower and upper, the same if they are known exactly.
type truth map[string][2]*big.Rat

func (p *problem) truth() truth {
	sol := p.solve()
	mean := func(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, p.ScoreVectors()) }
	em := p.exponential()
	v := map[string]*big.Rat{
		"optimum": mean(sol.minimum), "error pf": mean(sol.flip), "error em": mean(em),
		"ratio pf": big.NewRat(1, 1), "ratio em": big.NewRat(1, 1),
	}
	if sol.minimum.Sign() > 0 {
		v["ratio pf"] = new(big.Rat).Quo(sol.flip, sol.minimum)
		v["ratio em"] = new(big.Rat).Quo(em, sol.minimum)
	}
	t := truth{}
	for on, x := range v {
		t[on] = [2]*big.Rat{x, x}
	}
	return t
}

// span is the truth at an ε between those of t and u.
func (t truth) span(u truth) truth {
	s := truth{}
	for on := range t {
		s[on] = [2]*big.Rat{t[on][0], t[on][0]}
		if u[on][0].Cmp(t[on][0]) < 0 {
			s[on] = [2]*big.Rat{u[on][0], t[on][0]}
		} else {
			s[on] = [2]*big.Rat{t[on][0], u[on][0]}
		}
	}
	return s
}

// expBounds returns rationals around e^ε, of some 40 digits, from the Taylor series.
func expBounds(eps *big.Rat) (lo, hi string) {
	sum, term := new(big.Rat), big.NewRat(1, 1)
	for i := int64(1); i < 60; i++ {
		sum.Add(sum, term)
		term.Mul(term, eps)
		term.Quo(term, big.NewRat(i, 1))
	}
	scale := rat("1e40")
	n := new(big.Int)
	s := new(big.Rat).Mul(sum, scale)
	n.Quo(s.Num(), s.Denom())
	return n.String() + "/1" + strings.Repeat("0", 40), new(big.Int).Add(n, big.NewInt(1)).String() + "/1" + strings.Repeat("0", 40)
}

var truths = map[string]truth{}

// truthOf reads the header of a text and returns the truth about its problem; ok is false if it is too large.
func truthOf(text string) (t truth, ok bool) {
	_, text, _ = strings.Cut(text, "\n")
	lines := strings.SplitN(text, "\n", 8)
	head := strings.Join(lines[1:6], "\n")
	if t, ok := truths[head]; ok {
		return t, t != nil
	}
	field := func(i int) string { _, v, _ := strings.Cut(lines[i], " "); return v }
	n, _ := strconv.Atoi(field(1))
	k, _ := strconv.Atoi(field(2))
	truths[head] = nil
	if n*k > 16 || k > 5 || n > 5 {
		return nil, false
	}
	at := func(exp string) truth { return newProblem(n, k, exp, field(4), field(5)).truth() }
	if strings.HasPrefix(lines[3], "exp-epsilon") {
		t = at(field(3))
	} else if eps := rat(field(3)); eps.Cmp(big.NewRat(8, 1)) > 0 {
		return nil, false
	} else {
		lo, hi := expBounds(eps)
		t = at(lo).span(at(hi))
	}
	truths[head] = t
	return t, true
}

// mustBeTrue fails if a claim of the text is wrong.
func mustBeTrue(t *testing.T, text, what string) {
	t.Helper()
	known, ok := truthOf(text)
	if !ok {
		t.Fatalf("%s: valid, but the truth is not known\n%s", what, text)
	}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "claim ")
		if !ok {
			continue
		}
		f := strings.Split(rest, " ")
		v := known[strings.Join(f[:len(f)-2], " ")]
		if parse(f[len(f)-2]).Cmp(v[1]) > 0 || parse(f[len(f)-1]).Cmp(v[0]) < 0 {
			t.Fatalf("%s: a false claim was found valid: %s\n%s", what, line, text)
		}
	}
}

func parse(s string) *big.Rat {
	if strings.Contains(s, "x") {
		f, _, err := big.ParseFloat(s, 0, 4096, big.ToZero)
		if err != nil {
			panic(err)
		}
		r, _ := f.Rat(nil)
		return r
	}
	return rat(s)
}

// drafts are certificates of small problems in all kinds of numbers.
func drafts(t *testing.T) map[string]*draft {
	t.Helper()
	ds := map[string]*draft{}
	exact := func(n, k int, exp, objective, level string) {
		p := newProblem(n, k, exp, objective, level)
		d := p.exactDraft(exp, p.solve())
		ds[fmt.Sprint("exact ", n, k, exp, objective, level)] = d
	}
	exact(1, 2, "3/2", "paper", "paper")
	exact(2, 1, "3/2", "paper", "paper")
	exact(3, 2, "6/5", "paper", "paper")
	exact(3, 2, "6/5", "box", "full")
	exact(3, 3, "3/2", "paper", "dp")
	wide := func(n, k int, epsilon, objective, level string) {
		word, value, _ := strings.Cut(epsilon, " ")
		exp := value
		if word == "epsilon" {
			exp, _ = expBounds(rat(value))
		}
		p := newProblem(n, k, exp, objective, level)
		d := p.draft(epsilon, p.solve(), hex)
		known, _ := truthOf(d.String())
		for _, on := range []string{"optimum", "error pf", "error em", "ratio pf", "ratio em"} {
			margin := big.NewRat(1, 1000000)
			lo, hi := new(big.Rat).Sub(known[on][0], margin), new(big.Rat).Add(known[on][1], margin)
			d.claim(on, lo.FloatString(7), hi.FloatString(7))
		}
		ds["wide "+fmt.Sprint(n, k, epsilon, objective, level)] = d
	}
	wide(3, 2, "exp-epsilon 6/5", "paper", "paper")
	wide(3, 3, "exp-epsilon 3/2", "paper", "monotone")
	wide(3, 3, "exp-epsilon 4/3", "box", "paper")
	wide(2, 3, "epsilon 1/2", "paper", "paper")
	wide(3, 2, "epsilon 1/3", "paper", "full")
	wide(3, 3, "epsilon 2/5", "paper", "dp")
	wide(3, 3, "epsilon 3/10", "box", "monotone")
	for name, c := range classDrafts() {
		ds[name] = c
	}
	return ds
}

func TestDraftsAreValid(t *testing.T) {
	for name, d := range drafts(t) {
		if rep := check(t, d.String()); !rep.Valid {
			t.Errorf("%s: %s\n%s", name, rep.Reason, d)
		}
	}
}

// TestEveryChangedByte changes each byte of each certificate: what is still found valid must be true.
func TestEveryChangedByte(t *testing.T) {
	slowtest.Only(t)
	accepted, rejected := 0, 0
	for name, d := range drafts(t) {
		text := d.String()
		for i := range text {
			others := "0123456789"
			if !strings.ContainsRune(others, rune(text[i])) {
				others = "0 -\n"
			} else if len(text) > 400 {
				// One other digit each, in turn.
				r := i % 10
				others = others[r : r+1]
			}
			for _, b := range others {
				changed := text[:i] + string(b) + text[i+1:]
				if changed == text {
					continue
				}
				rep, err := certificate.CheckAt(strings.NewReader(changed), evidence.Options{MaxMemory: 1 << 22, MaxPrecision: 256})
				switch {
				case err != nil && !errors.Is(err, certificate.ErrUnreadable) && !errors.Is(err, certificate.ErrLimit):
					t.Fatalf("%s: byte %d: %v", name, i, err)
				case err != nil || !rep.Valid:
					rejected++
				default:
					accepted++
					mustBeTrue(t, changed, fmt.Sprintf("%s: byte %d to %q", name, i, b))
				}
			}
		}
	}
	t.Logf("%d changes rejected, %d accepted and true", rejected, accepted)
	if accepted == 0 || rejected == 0 {
		t.Error("the test is not probing anything")
	}
}

// TestExactClaims changes the digits of exact claims: exactly those changes pass that widen a claim.
func TestExactClaims(t *testing.T) {
	p := newProblem(3, 3, "3/2", "paper", "paper")
	d := p.exactDraft("3/2", p.solve())
	known, _ := truthOf(d.String())
	widened := 0
	for i, line := range d.claims {
		f := strings.Split(line, " ")
		v := known[strings.Join(f[1:len(f)-2], " ")][0]
		for j := len(line) - len(f[len(f)-1]) - len(f[len(f)-2]) - 1; j < len(line); j++ {
			for b := byte('0'); b <= '9'; b++ {
				if line[j] < '0' || line[j] > '9' || line[j] == b {
					continue
				}
				d.claims[i] = line[:j] + string(b) + line[j+1:]
				f := strings.Split(d.claims[i], " ")
				wide := true
				for e, s := range f[len(f)-2:] {
					num, den, _ := strings.Cut(s, "/")
					canonical := num[0] != '0' && den != "" && den[0] != '0' && den != "1" && parse(s).RatString() == s
					wide = wide && canonical && (e == 0 && parse(s).Cmp(v) <= 0 || e == 1 && parse(s).Cmp(v) >= 0)
				}
				if got := check(t, d.String()).Valid; got != wide {
					t.Errorf("%s: valid = %v, widened = %v", d.claims[i], got, wide)
				}
				if wide {
					widened++
				}
			}
		}
		d.claims[i] = line
	}
	if widened == 0 {
		t.Error("no change widened a claim")
	}
}

func TestTornFiles(t *testing.T) {
	for name, d := range drafts(t) {
		text := d.String()
		for i := range len(text) {
			rep, err := certificate.Check(strings.NewReader(text[:i]), certificate.Options{})
			first := strings.Index(text, "\n")
			if i <= first {
				if !errors.Is(err, certificate.ErrUnreadable) {
					t.Fatalf("%s: first %d bytes: error %v, want ErrUnreadable", name, i, err)
				}
				continue
			}
			if err != nil || rep.Valid || rep.Reason == "" {
				t.Fatalf("%s: first %d bytes: %+v, %v", name, i, rep, err)
			}
		}
		if check(t, text+"end 1\n").Valid || check(t, text+"\n").Valid || check(t, text+" ").Valid {
			t.Fatalf("%s: trailing bytes accepted", name)
		}
	}
}

// TestLineOrder swaps, repeats and leaves out lines, and corrects the count.
func TestLineOrder(t *testing.T) {
	for name, d := range drafts(t) {
		lines := slices.Concat(d.header, d.claims, d.body)
		try := func(lines []string, what string) {
			text := (&draft{body: lines}).String()
			rep, err := certificate.Check(strings.NewReader(text), certificate.Options{})
			switch {
			case err != nil && !errors.Is(err, certificate.ErrUnreadable):
				t.Fatalf("%s: %s: %v", name, what, err)
			case err == nil && rep.Valid:
				mustBeTrue(t, text, name+": "+what)
				// Only claims on mechanisms, injections and cuts may be left out. Another order of multipliers is another point, of which the claims may be true.
				if slices.Contains(lines, "proof lumped") && strings.HasSuffix(what, "swapped") {
					return
				}
				if !strings.HasPrefix(what, "without claim error") && !strings.HasPrefix(what, "without claim ratio") &&
					!strings.HasPrefix(what, "without inject") && !strings.HasPrefix(what, "without cut") {
					t.Fatalf("%s: %s: valid", name, what)
				}
			}
		}
		for i := range lines {
			if i > 0 {
				swapped := slices.Clone(lines)
				swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
				try(swapped, fmt.Sprintf("lines %d and %d swapped", i, i+1))
			}
			try(slices.Insert(slices.Clone(lines), i, lines[i]), fmt.Sprintf("line %d twice", i+1))
			try(slices.Delete(slices.Clone(lines), i, i+1), "without "+lines[i])
		}
	}
}

// TestNothingProvesAFalseBound puts random multipliers, injections and rows of the level into
// certificates whose claim is just off the truth on either side.
func TestNothingProvesAFalseBound(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for _, epsilon := range []string{"exp-epsilon 6/5", "exp-epsilon 3/2", "epsilon 1/3"} {
		for _, level := range []string{"paper", "dp", "monotone", "full"} {
			for _, objective := range []string{"paper", "box"} {
				word, value, _ := strings.Cut(epsilon, " ")
				if word == "epsilon" {
					value, _ = expBounds(rat(value))
				}
				p := newProblem(3, 3, value, objective, level)
				sol := p.solve()
				rows := p.LevelRows()
				slices.SortFunc(rows, func(x, y levelRow) int {
					return slices.Compare([]int{int(x.Kind[0]), x.A, x.B}, []int{int(y.Kind[0]), y.A, y.B})
				})
				known, _ := truthOf(p.draft(epsilon, sol, hex).String())
				tiny := rat("1e-25")
				for range 6 {
					noise := func(x *big.Rat, size float64) *big.Rat {
						f, _ := x.Float64()
						r := new(big.Rat).SetFloat64(f + size*rng.NormFloat64())
						return r
					}
					size := []float64{0, 1e-9, 1e-3, 1, 100}[rng.IntN(5)]
					other := &solution{cuts: map[levelRow]*big.Rat{}}
					for _, y := range sol.y {
						other.y = append(other.y, noise(y, size))
					}
					for i, u := range sol.u {
						s := new(big.Rat).Set(u)
						if b := p.Before[i]; b >= 0 {
							s.Sub(s, new(big.Rat).Mul(p.Z, sol.u[b]))
						}
						if s = noise(s, size); s.Sign() < 0 {
							s.SetInt64(0)
						}
						if b := p.Before[i]; b >= 0 {
							s.Add(s, new(big.Rat).Mul(p.Z, otherU(other, b)))
						}
						other.u = append(other.u, s)
					}
					for _, r := range rows {
						if x := noise(new(big.Rat), size); x.Sign() > 0 && rng.IntN(4) == 0 {
							other.cuts[r] = x
						}
					}
					d := p.draft(epsilon, other, hex)
					for _, claim := range [][2]string{
						{new(big.Rat).Add(known["optimum"][1], tiny).FloatString(30), "1000"},
						{"0", new(big.Rat).Sub(known["optimum"][0], tiny).FloatString(30)},
					} {
						d.claims = nil
						if check(t, d.claim("optimum", claim[0], claim[1]).String()).Valid {
							t.Errorf("%s %s %s: proved [%s, %s], optimum %s\n%s", epsilon, level, objective,
								claim[0], claim[1], known["optimum"][0].FloatString(30), d)
						}
					}
				}
			}
		}
	}
}

// otherU returns u of a variable, which may come later in the order if it is at depth 0 and
// stands alone above the others: then there is no injection after it and any value does.
func otherU(s *solution, i int) *big.Rat {
	if i < len(s.u) {
		return s.u[i]
	}
	return new(big.Rat)
}

// failing ends with an error instead of the end of the file.
type failing struct{ io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("disk on fire")
	}
	return n, err
}

func TestReadError(t *testing.T) {
	p := newProblem(2, 1, "3/2", "paper", "paper")
	text := p.exactDraft("3/2", p.solve()).String()
	_, err := certificate.Check(failing{strings.NewReader(text)}, certificate.Options{})
	if !errors.Is(err, certificate.ErrUnreadable) || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("error %v", err)
	}
}
