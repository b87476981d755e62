package certificate_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"optratio/verify/certificate"
)

// question is an inner node of a tree, or, with count 0, a class with its multiplier.
type question struct {
	depth, count int
	fewer, more  *question
	y            *big.Rat
}

// class returns the class of a count vector.
func (q *question) class(m []int) *question {
	for q.count > 0 {
		if m[q.depth] < q.count {
			q = q.fewer
		} else {
			q = q.more
		}
	}
	return q
}

// lines lists the tree as a certificate does, and classes its classes in that order.
func (q *question) lines() []string {
	if q.count == 0 {
		return []string{"class " + hex(q.y)}
	}
	return slices.Concat([]string{fmt.Sprintf("ask %d %d", q.depth, q.count)}, q.fewer.lines(), q.more.lines())
}

func (q *question) classes() []*question {
	if q.count == 0 {
		return []*question{q}
	}
	return append(q.fewer.classes(), q.more.classes()...)
}

// randomTree divides these count vectors by random questions that none of the parts is left empty by, and gives the classes random multipliers.
func randomTree(rng *rand.Rand, orbits [][]int, questions int) *question {
	for range 50 {
		if questions == 0 {
			break
		}
		q := &question{depth: rng.IntN(len(orbits[0])), count: 1 + rng.IntN(3)}
		var fewer, more [][]int
		for _, m := range orbits {
			if m[q.depth] < q.count {
				fewer = append(fewer, m)
			} else {
				more = append(more, m)
			}
		}
		if len(fewer) > 0 && len(more) > 0 {
			left := rng.IntN(questions)
			q.fewer, q.more = randomTree(rng, fewer, left), randomTree(rng, more, questions-1-left)
			return q
		}
	}
	return &question{y: new(big.Rat).SetFloat64(float64(rng.IntN(2000)-200) / 1024)}
}

// lumpedValue is the mean that the multipliers of a tree prove, from the definition, over all chains of the lattice and in exact arithmetic.
func (p *problem) lumpedValue(tree *question) *big.Rat {
	after := make([]int, len(p.Vars))
	for i := range after {
		after[i] = -1
	}
	for i, b := range p.Before {
		if b >= 0 {
			after[b] = i
		}
	}
	least := map[*question]*big.Rat{}
	for i := range p.Vars {
		if after[i] >= 0 {
			continue
		}
		lambda := new(big.Rat)
		for ; i >= 0; i = p.Before[i] { // from the deep end
			c := tree.class(p.Vars[i].M)
			v := new(big.Rat).Mul(p.Z, lambda)
			v.Add(v, p.Cost(i))
			lambda = new(big.Rat)
			if p.Before[i] >= 0 && v.Cmp(c.y) > 0 {
				lambda.Sub(v, c.y)
			}
			if v.Sub(v, lambda); least[c] == nil || v.Cmp(least[c]) < 0 {
				least[c] = v
			}
		}
	}
	sum := new(big.Rat)
	for _, m := range p.Orbits {
		sum.Add(sum, new(big.Rat).Mul(p.Multiplicity(m), least[tree.class(m)]))
	}
	return sum.Quo(sum, p.ScoreVectors())
}

// classDraft is a certificate with a tree, without claims.
func (p *problem) classDraft(epsilon string, tree *question) *draft {
	d := lumpedDraft(p.N, p.K, tree.lines()...)
	d.header[4], d.header[6] = epsilon, "constraints "+p.Level
	if p.Box {
		d.header[5] = "objective box"
	}
	return d
}

// classDrafts are certificates with classes, of problems whose truth is known.
func classDrafts() map[string]*draft {
	rng := rand.New(rand.NewPCG(3, 4))
	ds := map[string]*draft{}
	for _, c := range []struct {
		n, k                           int
		epsilon, exp, objective, level string
	}{
		{2, 3, "exp-epsilon 4/3", "4/3", "box", "dp"},
		{3, 3, "exp-epsilon 6/5", "6/5", "paper", "paper"}, {4, 2, "exp-epsilon 5/4", "5/4", "box", "full"}, {3, 2, "epsilon 1/3", "", "paper", "paper"},
	} {
		exp := c.exp
		if exp == "" {
			_, exp = expBounds(big.NewRat(1, 3))
		}
		p := newProblem(c.n, c.k, exp, c.objective, c.level)
		tree := randomTree(rng, p.Orbits, 5)
		d := p.classDraft(c.epsilon, tree)
		margin, known := big.NewRat(1, 1e6), p.truth()
		around := func(on string, low *big.Rat) {
			d.claim(on, new(big.Rat).Sub(low, margin).FloatString(7), new(big.Rat).Add(known[on][1], margin).FloatString(7))
		}
		known["optimum"] = known["error pf"] // which is what is proved
		around("optimum", p.lumpedValue(tree))
		around("error pf", known["error pf"][0])
		around("error em", known["error em"][0])
		ds[fmt.Sprint("classes ", c)] = d
	}
	return ds
}

// TestLumpedBoundIsTheDualFunction: for any classes and multipliers, exactly what is at most the dual function's value over all chains of the lattice is proved.
func TestLumpedBoundIsTheDualFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	hair := big.NewRat(1, 1e15)
	for _, s := range [][2]int{{2, 1}, {2, 4}, {3, 1}, {3, 3}, {4, 2}, {5, 3}, {4, 4}, {7, 2}} {
		for _, objective := range []string{"paper", "box"} {
			for _, level := range []string{"paper", "full"} {
				for _, exp := range []string{"1", "7/5"} {
					p := newProblem(s[0], s[1], exp, objective, level)
					for trial := range 6 {
						tree := randomTree(rng, p.Orbits, trial*trial)
						value := p.lumpedValue(tree)
						for _, miss := range []*big.Rat{new(big.Rat).Neg(hair), hair} {
							low := new(big.Rat).Add(value, miss)
							text := p.classDraft("exp-epsilon "+exp, tree).claim("optimum", low, "100").String()
							if rep := check(t, text); rep.Valid != (miss.Sign() < 0) {
								t.Fatalf("a claim %s off the value %s: %+v\n%s", miss, value.FloatString(9), rep, text)
							}
						}
					}
				}
			}
		}
	}
}

// TestOneCandidate: there is no error, whatever the multipliers.
func TestOneCandidate(t *testing.T) {
	if rep := check(t, lumpedDraft(1, 3, "class 7").claim("optimum", "0", "0").String()); !rep.Valid {
		t.Error(rep.Reason)
	}
	if rep := check(t, lumpedDraft(1, 3, "class 7").claim("optimum", "1e-9", "1").String()); rep.Valid {
		t.Errorf("%+v", rep)
	}
}

// TestDoctoredClasses changes one multiplier, swaps two, merges two classes and moves a question: valid is what then still is at most the dual function's value.
func TestDoctoredClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	valid, invalid := 0, 0
	for _, s := range [][2]int{{3, 3}, {5, 2}, {4, 4}} {
		p := newProblem(s[0], s[1], "3/2", "paper", "paper")
		tree := randomTree(rng, p.Orbits, 14)
		for _, c := range tree.classes() { // near the best, so that most changes lose
			c.y = big.NewRat(3, 8)
			if rng.IntN(2) == 0 {
				c.y = big.NewRat(1, 2)
			}
		}
		low := p.lumpedValue(tree)
		low.Sub(low, big.NewRat(1, 1e15))
		verdict := func(what string) {
			rep := check(t, p.classDraft("exp-epsilon 3/2", tree).claim("optimum", low, "100").String())
			if want := low.Cmp(p.lumpedValue(tree)) <= 0; rep.Valid != want {
				t.Fatalf("%v %s: valid = %v", s, what, rep.Valid)
			}
			if rep.Valid {
				valid++
			} else {
				invalid++
			}
		}
		cs := tree.classes()
		for i, a := range cs {
			y := a.y
			for _, d := range []int64{-1, 1} {
				a.y = new(big.Rat).Add(y, big.NewRat(d, 1<<20))
				verdict("a multiplier changed")
			}
			a.y = y
			b := cs[(i+1)%len(cs)]
			a.y, b.y = b.y, a.y
			verdict("two classes swapped")
			a.y, b.y = b.y, a.y
		}
	}
	if valid == 0 || invalid < 10 {
		t.Errorf("%d valid, %d invalid", valid, invalid)
	}
}

func lumpedDraft(n, k int, lines ...string) *draft {
	return &draft{body: lines, header: []string{
		"optratio-certificate 3", "problem program", fmt.Sprint("n ", n), fmt.Sprint("k ", k), "epsilon 1/2", "objective paper", "constraints paper", "proof lumped", "precision 128",
	}}
}

func lumpedText(n, k int, lines ...string) string {
	return lumpedDraft(n, k, lines...).claim("optimum", "0", "100").String()
}

// TestFormOfClasses: each breaks the form of decision trees in docs/reference/certificate.md.
func TestFormOfClasses(t *testing.T) {
	good := []string{"ask 0 2", "class 0", "class 1/2"}
	if rep := check(t, lumpedText(3, 2, good...)); !rep.Valid {
		t.Fatal(rep.Reason)
	}
	for name, c := range map[string]struct {
		lines  []string
		reason string
	}{
		"no tree":               {nil, `"end 10" where a line "ask" was expected`},
		"a class is missing":    {good[:2], `"end 12" where a line "ask" was expected`},
		"a class too many":      {append(good, "class 0"), `"class 0" where a line "end" was expected`},
		"a question at last":    {append(good, "ask 1 1"), `"ask 1 1" where a line "end" was expected`},
		"one field":             {[]string{"ask 0", "class 0", "class 1/2"}, "1 fields where 2 were expected"},
		"three fields":          {[]string{"ask 0 2 1", "class 0", "class 1/2"}, "3 fields where 2"},
		"no such depth":         {[]string{"ask 3 1", "class 0", "class 1/2"}, "depth"},
		"fewer than none":       {[]string{"ask 0 0", "class 0", "class 1/2"}, "only one answer is possible"},
		"none at depth 0":       {[]string{"ask 0 1", "class 0", "class 1/2"}, "only one answer is possible"},
		"all at depth 1":        {[]string{"ask 1 3", "class 0", "class 1/2"}, "only one answer is possible"},
		"more than n":           {[]string{"ask 0 4", "class 0", "class 1/2"}, "count"},
		"asked twice":           {[]string{"ask 0 2", "ask 0 2", "class 0", "class 0", "class 1/2"}, "only one answer is possible"},
		"known by the others":   {[]string{"ask 0 2", "ask 1 1", "class 0", "ask 1 2", "ask 2 1", "class 0", "class 0", "class 0", "class 1/2"}, "only one answer is possible"},
		"no number":             {[]string{"ask 0 2", "class x", "class 1/2"}, "class: not a number"},
		"not reduced":           {[]string{"ask 0 2", "class 0", "class 2/4"}, "lowest terms"},
		"too long":              {[]string{"ask 0 2", "class 0", "class " + strings.Repeat("1", 1<<17)}, "class: number too long"},
		"multipliers of orbits": {[]string{"dual 3 0 0 1"}, `where a line "ask" was expected`},
	} {
		rep := check(t, lumpedText(3, 2, c.lines...))
		if rep.Valid || !strings.Contains(rep.Reason, c.reason) {
			t.Errorf("%s: valid = %v, reason %q, want %q", name, rep.Valid, rep.Reason, c.reason)
		}
	}
	text := lumpedText(3, 2, good...)
	for _, torn := range []string{strings.TrimSuffix(text, "end 13\n"), strings.Replace(text, "end 13", "end 14", 1), text + "\n", text + "class 0\n"} {
		if check(t, torn).Valid {
			t.Errorf("valid:\n%s", torn)
		}
	}
	if rep := check(t, strings.Replace(text, "proof lumped", "proof lp", 1)); rep.Valid {
		t.Error("classes under proof lp")
	}
}

// TestLimitsOfClasses: what costs too much ends undecided, whatever it is that costs.
func TestLimitsOfClasses(t *testing.T) {
	good := []string{"ask 0 2", "class 0", "class 1/2"}
	for name, c := range map[string]struct {
		text string
		o    certificate.Options
	}{
		"n":       {lumpedText(1<<14+1, 2, good...), certificate.Options{}},
		"k":       {lumpedText(3, 1<<14+1, good...), certificate.Options{}},
		"memory":  {lumpedText(3, 2, good...), certificate.Options{MaxMemory: 1000}},
		"reading": {lumpedText(3, 2, good...), certificate.Options{MaxSteps: 5}},
		"chains":  {lumpedText(30, 30, good...), certificate.Options{MaxSteps: 1500}},
		// C(16000, 8000) takes as many steps as it has factors, times their words; with what it is multiplied by it takes few.
		"binomials":         {lumpedText(16000, 1, "ask 0 8000", "class 0", "ask 0 8001", "class 0", "class 0"), certificate.Options{MaxSteps: 4_000_000}},
		"counting":          {lumpedText(16000, 4, "ask 0 8000", "class 0", "class 1"), certificate.Options{MaxSteps: 100_000}},
		"counting the last": {lumpedText(16000, 4, "ask 0 2", "class 0", "class 1"), certificate.Options{MaxSteps: 100_000}},
	} {
		rep, err := certificate.Check(strings.NewReader(c.text), c.o)
		if !errors.Is(err, certificate.ErrLimit) {
			t.Errorf("%s: %v, %+v", name, err, rep)
		}
	}
	for _, s := range [][2]int{{30, 30}, {3000, 2}, {2, 16000}, {3, 300}} { // what is within the limits is decided
		if rep := check(t, lumpedText(s[0], s[1], good...)); !rep.Valid {
			t.Errorf("%v: %+v", s, rep)
		}
	}
}

// staircase asks whether fewer than most, most-1, …, 1 candidates are at a depth.
func staircase(depth, most int) []string {
	var lines []string
	for count := most; count > 0; count-- {
		lines = append(lines, fmt.Sprintf("ask %d %d", depth, count))
	}
	return append(lines, slices.Repeat([]string{"class 0"}, most+1)...)
}

// TestNestingOfDivisions: the staircase right below the greatest depth divides what is known of the others once a stair at every one of k
// positions of a chain, each division within those before, where fewer candidates are always looked at first. With 17 stairs and k = 2^14 these are 17·2^14
// divisions within each other, which is more than the 2^18 that are allowed. The limit is on nesting and not on the number of divisions: some half a million of
// them that are soon at their end are no hindrance.
func TestNestingOfDivisions(t *testing.T) {
	const n, k, limit = 20, 1 << 14, "divide chains more than 262144 times"
	_, err := certificate.Check(strings.NewReader(lumpedText(n, k, staircase(k-1, 17)...)), certificate.Options{})
	if !errors.Is(err, certificate.ErrLimit) || !strings.Contains(err.Error(), limit) {
		t.Error(err)
	}
	if rep := check(t, lumpedText(6, 40, staircase(20, 5)...)); !rep.Valid {
		t.Error(rep.Reason)
	}
}

// TestClassesStoppedAtAnyPoint: where the context ends the check says so, be it before the first class.
func TestClassesStoppedAtAnyPoint(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := certificate.Check(strings.NewReader(lumpedText(3, 2, "ask 0 2")), certificate.Options{Context: ended}); !errors.Is(err, context.Canceled) {
		t.Errorf("no class: %v", err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	p := newProblem(5, 4, "3/2", "paper", "paper")
	text := p.classDraft("exp-epsilon 3/2", randomTree(rng, p.Orbits, 60)).claim("optimum", "0", "4").String()
	for stop := 0; ; stop++ {
		f := &fading{Context: context.Background(), left: stop}
		_, err := certificate.Check(strings.NewReader(text), certificate.Options{Context: f})
		if f.left >= 0 {
			if err != nil || stop < 1 {
				t.Errorf("%d looks at the context: %v", stop, err)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stopped at look %d: %v", stop, err)
		}
	}
}
