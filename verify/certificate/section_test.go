package certificate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/certtext"
	"optratio/internal/evidence/evidencetest"
	"optratio/internal/heterogeneous"
	"optratio/internal/linear"
	lpstopping "optratio/internal/stopping"
	"optratio/internal/table"
	"optratio/internal/topk"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify/certificate"
)

// Certificates of all sections but program and interval are forged here. What is true is told by oracles that share nothing with the checker: the solvers and the registered mechanisms.

// lines is a certificate taken apart.
type lines []string

func (l lines) String() string { return strings.Join(l, "\n") + "\n" }

func (l lines) ended() lines { return evidencetest.Ended(l) }

func (l lines) field(word string) string { return evidencetest.Field(l, word) }

var rational = evidencetest.Rational

func rationals(s string) (out []*big.Rat) {
	for _, f := range strings.Fields(s) {
		out = append(out, rational(f))
	}
	return out
}

func (l lines) whole(word string) int { i, _ := strconv.Atoi(l.field(word)); return i }

func (l lines) epsilon() (number.Epsilon, error) {
	if s := l.field("exp-epsilon"); s != "" {
		return number.FromExp(rational(s))
	}
	return number.FromEpsilon(rational(l.field("epsilon")))
}

// writer is an answer that certificates are written of.
type proof struct {
	lower, upper *big.Rat
	write        func(*bytes.Buffer) error
}

func enclosure(x interface {
	Lower() (*big.Rat, bool)
	Upper() (*big.Rat, bool)
}, write func(*bytes.Buffer) error) (*proof, error) {
	low, _ := x.Lower()
	high, _ := x.Upper()
	return &proof{low, high, write}, nil
}

// solve answers the question that the header of a certificate asks, by the solver for its kind.
func (l lines) solve() (*proof, error) {
	eps, err := l.epsilon()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // few questions that are made up take long
	defer cancel()
	switch l.field("problem") {
	case "heterogeneous":
		r := heterogeneous.Request{Epsilon: eps, Grid: heterogeneous.Grid{
			Sensitivities: rationals(l.field("sensitivities")), From: rational(l.field("from")), Step: rational(l.field("step")), Steps: l.whole("steps"),
			ShiftInvariant: l.field("mechanisms") == "shift-invariant",
		}}
		if l.field("loss") == "mse" {
			r.Squared = true
		}
		if l.field("prior") == "worst" {
			r.Worst = true
		}
		a, err := heterogeneous.Solve(ctx, r)
		if err != nil {
			return nil, err
		}
		return enclosure(a.Optimum, func(b *bytes.Buffer) error { return a.WriteCertificate(b) })
	case "lattice":
		return l.solveLattice(ctx, eps)
	case "stopping":
		p := &lpstopping.Problem{Payoff: rationals(l.field("payoff")), L: l.whole("distance"), Eps: eps, Delta: rational(l.field("delta"))}
		s, err := lpstopping.Solve(ctx, p, lpstopping.Options{})
		if err != nil {
			return nil, err
		}
		return &proof{s.Lower, s.Upper, func(b *bytes.Buffer) error { return s.WriteCertificate(b) }}, nil
	case "table":
		return l.solveTable(ctx, eps)
	}
	return nil, errors.New("no such problem")
}

// solveLattice solves a problem on the lattice by the solver of its kind. Where several candidates are chosen the problem is also written out, score vector by score
// vector and set by set, and that is what counts.
func (l lines) solveLattice(ctx context.Context, eps number.Epsilon) (*proof, error) {
	if l.whole("top") > 1 {
		p, err := l.writtenOut().solveTable(ctx, eps)
		if err != nil {
			return nil, err
		}
		p.write = func(b *bytes.Buffer) error {
			a, err := topk.Solve(context.Background(), topk.Request{N: l.whole("n"), K: l.whole("k"), Top: l.whole("top"), Epsilon: eps})
			if err != nil {
				return err
			}
			return a.WriteCertificate(b)
		}
		return p, nil
	}
	q := lp.Request{N: l.whole("n"), K: l.whole("k"), Step: l.whole("step"), Epsilon: eps, Method: "lp", Mechanisms: []mechanisms.Mechanism{}}
	var err error
	if level := l.field("constraints"); level == "approximate" {
		q.Delta = rational(l.field("delta"))
	} else if q.Level, err = lp.ParseLevel(level); err != nil {
		return nil, err
	}
	if q.Loss, err = lp.Losses(rationals(l.field("loss"))); err != nil {
		return nil, err
	}
	switch l.field("prior") {
	case "box":
		q.Prior = lp.Box()
	case "worst":
		q.Worst = true
	case "weights":
		return nil, errors.New("not solved here")
	}
	a, err := lp.Ratio(ctx, q)
	if err != nil {
		return nil, err
	}
	low, high := a.Optimum.Ends()
	return &proof{low, high, func(b *bytes.Buffer) error { return a.WriteCertificate(b) }}, nil
}

// writtenOut returns the choice of several candidates as a table: its inputs are score vectors, by depths in steps of 2Δ/L, its outputs sets of candidates.
func (l lines) writtenOut() lines {
	n, depths, step, top := l.whole("n"), l.whole("k")*l.whole("step"), l.whole("step"), l.whole("top")
	cost := rationals(l.field("loss"))
	var vectors [][]int
	scores(n, depths, func(q []int) { vectors = append(vectors, slices.Clone(q)) })
	var sets []int // bits are candidates
	for s := range 1 << n {
		if bits.OnesCount(uint(s)) == top {
			sets = append(sets, s)
		}
	}
	prior := "prior"
	var loss, pairs lines
	for i, q := range vectors {
		weight := 1
		if l.field("prior") == "box" {
			weight = depths - slices.Max(q) + 1
		}
		prior += fmt.Sprint(" ", weight)
		var sums []*big.Rat
		for _, s := range sets {
			sum := new(big.Rat)
			for r := range n {
				if s>>r&1 == 1 {
					sum.Add(sum, cost[q[r]])
				}
			}
			sums = append(sums, sum)
		}
		least, line := slices.MinFunc(sums, (*big.Rat).Cmp), "loss"
		for _, x := range sums {
			line += " " + new(big.Rat).Sub(x, least).RatString()
		}
		loss = append(loss, line)
		for j, other := range vectors[:i] {
			change := make([]int, n)
			for r := range n {
				change[r] = q[r] - other[r]
			}
			if slices.Max(change)-slices.Min(change) <= step {
				pairs = append(pairs, fmt.Sprintf("pair %d %d 1", j, i))
			}
		}
	}
	if l.field("prior") == "worst" {
		prior = "prior worst"
	}
	out := append(lines{fmt.Sprint("inputs ", len(vectors)), fmt.Sprint("outputs ", len(sets)), "delta 0", prior}, loss...)
	return append(out, pairs...)
}

// solveTable solves a problem that the file states with distances 1, by internal/table.
func (l lines) solveTable(ctx context.Context, eps number.Epsilon) (*proof, error) {
	n, outputs := l.whole("inputs"), l.whole("outputs")
	p := &table.Program{First: []int32{0}, Worst: l.field("prior") == "worst", Delta: rational(l.field("delta"))}
	// Losses and weights are whole numbers there.
	unit := big.NewRat(1, 1)
	for _, line := range l {
		if f := strings.Fields(line); f[0] == "loss" || f[0] == "prior" {
			for _, x := range f[1:] {
				unit.Mul(unit, new(big.Rat).SetInt(new(big.Rat).Mul(unit, rational(x)).Denom()))
			}
		}
	}
	integer := func(x *big.Rat) *big.Int { return new(big.Rat).Mul(x, unit).Num() }
	prior := rationals(l.field("prior"))
	var pairs [][2]int32
	var row int
	for _, line := range l {
		f := strings.Fields(line)
		switch f[0] {
		case "loss":
			for _, x := range rationals(strings.TrimPrefix(line, "loss ")) {
				p.Loss = append(p.Loss, integer(x))
				p.Count = append(p.Count, 1)
				p.Interior = append(p.Interior, big.NewRat(1, int64(outputs)))
			}
			p.First = append(p.First, int32(len(p.Loss)))
			if !p.Worst {
				p.Weight = append(p.Weight, integer(prior[row]))
			}
			row++
		case "pair", "arrow":
			a, b := int32(rational(f[1]).Num().Int64()), int32(rational(f[2]).Num().Int64())
			if f[3] != "1" {
				return nil, errors.New("a distance other than 1")
			}
			if pairs = append(pairs, [2]int32{a, b}); f[0] == "pair" {
				pairs = append(pairs, [2]int32{b, a})
			}
		case "forbidden":
			return nil, errors.New("not solved here")
		}
	}
	rows := func(q [2]int32) (out table.Pair) {
		for k := range int32(outputs) {
			out = append(out, table.Part{Above: q[0]*int32(outputs) + k, Below: q[1]*int32(outputs) + k, Candidates: 1})
		}
		return out
	}
	p.Each = func(func(table.Row) bool) bool { return true }
	if p.Delta.Sign() > 0 {
		p.Pairs = func(visit func(table.Pair) bool) bool {
			return !slices.ContainsFunc(pairs, func(q [2]int32) bool { return !visit(rows(q)) })
		}
	} else {
		p.Each = func(visit func(table.Row) bool) bool {
			for _, q := range pairs {
				for _, r := range rows(q) {
					if !visit(table.Row{Above: r.Above, Below: r.Below, Private: true}) {
						return false
					}
				}
			}
			return true
		}
	}
	s, err := p.Solve(ctx, eps, linear.Embedded{}, big.NewRat(1, 1e9), nil)
	if err != nil || len(p.First) != n+1 {
		return nil, fmt.Errorf("not solved: %w", err)
	}
	scale := new(big.Rat).Inv(unit)
	low, high := new(big.Rat).Mul(s.Lower, scale), new(big.Rat).Mul(s.Upper, scale)
	return &proof{low, high, func(b *bytes.Buffer) error {
		w := certtext.NewWriter(b, l.field("problem"))
		for _, line := range l {
			switch {
			case line == l[0] || strings.HasPrefix(line, "problem "):
			case strings.HasPrefix(line, "precision "):
				w.Line("precision %d", s.Precision())
			case strings.HasPrefix(line, "claim "):
				w.Claim(low, high)
			default:
				w.Line("%s", line)
			}
		}
		// The multipliers are in the units of the weights as they stand in the file: those of the solver are unit times as large, and so are its losses.
		multiply := scale
		if !p.Worst {
			multiply = new(big.Rat).Mul(scale, scale)
		}
		p.Write(w, s, multiply, nil)
		return w.End()
	}}, nil
}

// asked returns the lines of a question.
func asked(s string) lines { return strings.Split(strings.TrimSpace(s), "\n") }

// questions are small problems of every kind, with optima that are theorems or are computed elsewhere where that is said.
var questions = []struct{ text, optimum string }{
	{"problem heterogeneous\nsensitivities 1 2\nfrom 0\nstep 1\nsteps 2\nmechanisms all\nloss error\nprior uniform\nexp-epsilon 2", ""},
	{"problem heterogeneous\nsensitivities 1 2\nfrom 0\nstep 1/2\nsteps 3\nmechanisms shift-invariant\nloss mse\nprior worst\nepsilon 1/2", ""},
	{"problem lattice\nn 3\nk 2\nstep 1\ntop 1\nconstraints dp\nloss 0 1 2\nprior uniform\nexp-epsilon 3/2", "329/684"}, // ratio --constraints dp
	{"problem lattice\nn 3\nk 1\nstep 2\ntop 1\nconstraints paper\nloss 0 1/4 1\nprior box\nepsilon 1/2", ""},
	{"problem lattice\nn 3\nk 1\nstep 2\ntop 1\nconstraints full\nloss 0 1/2 1\nprior worst\nexp-epsilon 2", ""},
	{"problem lattice\nn 3\nk 2\nstep 1\ntop 1\nconstraints approximate\ndelta 1/50\nloss 0 1 2\nprior uniform\nexp-epsilon 3/2", ""},
	{"problem lattice\nn 4\nk 1\nstep 1\ntop 2\nconstraints dp\nloss 0 1\nprior uniform\nepsilon 1", ""},
	{"problem lattice\nn 3\nk 2\nstep 1\ntop 2\nconstraints dp\nloss 0 1 2\nprior uniform\nexp-epsilon 2", ""},
	{"problem stopping\nn 4\ndistance 1\ndelta 0\npayoff 1 0 0 0\nexp-epsilon 3/2", ""},
	{"problem stopping\nn 5\ndistance 2\ndelta 1/100\npayoff 1 1/2 0 0 0\nepsilon 1/2", ""},
	// Ghosh, Roughgarden & Sundararajan: counts 0..3, mean absolute loss.
	{"problem table\ninputs 4\noutputs 4\ndelta 0\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\nprior 1 1 1 1\nloss 0 1 2 3\nloss 1 0 1 2\nloss 2 1 0 1\nloss 3 2 1 0\npair 0 1 1\npair 1 2 1\npair 2 3 1", "17/24"},
	// Gupte & Sundararajan: the largest loss, counts 0..4.
	{"problem table\ninputs 5\noutputs 5\ndelta 0\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\nprior worst\nloss 0 1 2 3 4\nloss 1 0 1 2 3\nloss 2 1 0 1 2\nloss 3 2 1 0 1\nloss 4 3 2 1 0\npair 0 1 1\npair 1 2 1\npair 2 3 1\npair 3 4 1", "36/43"},
	// Kairouz et al.: (k-1)(1-δ)/(k-1+E) at k = 3, E = 2, δ = 1/10.
	{"problem table\ninputs 3\noutputs 3\ndelta 1/10\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\nprior 1 1 1\nloss 0 1 1\nloss 1 0 1\nloss 1 1 0\npair 0 1 1\npair 0 2 1\npair 1 2 1", "9/20"},
	// A path whose middle has no prior: 1/4, and not 1/5 as without it.
	{"problem table\ninputs 3\noutputs 2\ndelta 0\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\nprior 1 0 1\nloss 0 1\nloss 0 0\nloss 1 0\npair 0 1 1\npair 1 2 1", ""},
}

// certified returns the certificate of a question.
func certified(t testing.TB, question string) (lines, *proof) {
	p, err := asked(question).solve()
	require.NoError(t, err, question)
	var b bytes.Buffer
	require.NoError(t, p.write(&b))
	l := asked(b.String())
	if l[0] != "optratio-certificate 3" { // of a table, which has no command yet
		l = append(lines{"optratio-certificate 3"}, l...)
	}
	return l.ended(), p
}

func checked(t testing.TB, l lines) (*certificate.Report, error) {
	return certificate.Check(strings.NewReader(l.String()), certificate.Options{MaxSteps: 1 << 24})
}

// Every kind of section is accepted as it is written, and what it proves is what the theorems say. It proves that and no more: a claim that is sharper by what
// separates the oracle's bounds is refused.
func TestSections(t *testing.T) {
	for _, q := range questions {
		l, p := certified(t, q.text)
		r, err := checked(t, l)
		require.NoError(t, err, "%s", l)
		require.True(t, r.Valid, "%s\n%s", r.Reason, l)
		if q.optimum != "" {
			assert.Equal(t, q.optimum, p.lower.RatString(), q.text)
			assert.Equal(t, q.optimum, p.upper.RatString(), q.text)
		}
		for i, line := range l {
			if !strings.HasPrefix(line, "claim ") {
				continue
			}
			for _, claim := range [][2]*big.Rat{
				{new(big.Rat).Add(p.upper, big.NewRat(1, 1e15)), big.NewRat(1e9, 1)},
				{new(big.Rat), new(big.Rat).Sub(p.lower, big.NewRat(1, 1e15))},
			} {
				other := slices.Clone(l)
				other[i] = "claim optimum " + claim[0].RatString() + " " + claim[1].RatString()
				r, err := checked(t, other)
				require.NoError(t, err)
				assert.False(t, r.Valid, "%s", other[i])
				assert.Contains(t, r.Reason, "is claimed")
			}
		}
	}
}

// question returns the lines that say what is asked.
func (l lines) question() (out lines) {
	for _, line := range l {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "claim", "precision", "input", "weight", "multiplier", "take", "end":
		default:
			out = append(out, line)
		}
	}
	return out
}
