package certificate

import (
	"context"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/evidence"
	"optratio/number"
)

// checkText checks a certificate of the given lines.
func checkText(t *testing.T, lines ...string) *Report {
	t.Helper()
	rep, err := Check(strings.NewReader(strings.Join(lines, "\n")+"\n"), Options{})
	require.NoError(t, err)
	return rep
}

func headerLines(epsilon, proof string) []string {
	return []string{"optratio-certificate 3", "problem program", "n 3", "k 2", epsilon, "objective paper", "constraints paper", "proof " + proof, "precision 0"}
}

// TestNoPrivacyLoss: at ε = 0 the mechanisms are uniform, and claims on them are decided exactly. Over the vectors of three candidates
// at depths 0, 1 and 2, one of them at 0, the mean error is the mean of a third of the sum of depths.
func TestNoPrivacyLoss(t *testing.T) {
	sum, count := int64(0), int64(0)
	for q := range 27 {
		a, b, c := q%3, q/3%3, q/9
		if min(a, b, c) == 0 {
			sum, count = sum+int64(a+b+c), count+1
		}
	}
	mean := big.NewRat(sum, 3*count).RatString()
	for _, epsilon := range []string{"epsilon 0", "exp-epsilon 1"} {
		lines := append(headerLines(epsilon, "dual-closed-form"), "claim optimum 0 "+mean, "claim error pf "+mean+" "+mean, "end 11")
		rep := checkText(t, lines...)
		assert.True(t, rep.Valid, rep.Reason)
		assert.Equal(t, "1", rep.Problem.ExpEps.String())
		assert.Equal(t, "0", rep.Problem.Eps.String())
		above := new(big.Rat).Add(big.NewRat(sum, 3*count), new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(2000), nil)))
		lines[10] = "claim error pf " + above.RatString() + " 2"
		assert.False(t, checkText(t, lines...).Valid)
	}
}

// TestReasonsNameTheLine: what is wrong is said with the number of the line, also where a line is missing.
func TestReasonsNameTheLine(t *testing.T) {
	head := headerLines("exp-epsilon 3/2", "lp")
	dual := []string{"claim optimum 0 1", "dual 3 0 0 0", "dual 2 1 0 0", "dual 2 0 1 0", "dual 1 2 0 0", "dual 1 1 1 0", "dual 1 0 2 0"}
	with := func(tail ...string) []string { return append(append([]string(nil), head...), tail...) }
	for _, c := range []struct {
		lines  []string
		reason string
	}{
		{with(), `line 10: the file ends where a line "claim optimum" was expected`},
		{with("end 9"), `line 10: "end 9" where a line "claim optimum" was expected`},
		{with("claim error pf 0 1", "end 10"), `line 10: "claim error pf 0 1" where a line "claim optimum" was expected`},
		{with("claim optimum 0"), "line 10: claim optimum: 1 fields where 2 were expected"},
		{with("claim optimum 2 1"), "line 10: claim optimum: the lower bound exceeds the upper bound"},
		{with("claim optimum x 1"), "line 10: claim optimum: not a number"},
		{with("claim optimum 0 1/"), "line 10: claim optimum: not a number"},
		{with("claim optimum 0 1", "dual 2 1 0 0"), "line 11: dual: the count vector is not the next one, \"[3 0 0]\""},
		{with(dual[:2]...), `line 12: the file ends where a line "dual" was expected`},
		{with(dual...), `line 17: the file ends where a line "end" was expected`},
		{with(append(dual[:7:7], "dual 0 0 3 0")...), `line 17: "dual 0 0 3 0" where a line "end" was expected`},
		{with(append(dual[:7:7], "inject 1 2 1 0")...), "line 17: inject: 4 fields where 5 were expected"},
		{with(append(dual[:7:7], "inject 1 2 1 0 0")...), "line 17: inject: the value is not positive"},
		{with(append(dual[:7:7], "inject 2 2 1 0 1")...), "line 17: inject: no variable at depth 2"},
		{with(append(dual[:7:7], "inject 0 2 1 0 1")...), "line 17: inject: no variable at depth 0"},
		{with(append(dual[:7:7], "inject 1 2 1 0 1", "inject 1 2 1 0 1")...), "line 18: inject: not after the variable of the line before"},
		{with(append(dual[:7:7], "cut p 1 2 1 0 0 3 0 0 1")...), `line 17: cut: kind "p" is not a row of level paper`},
		{with(append(dual[:7:7], "end 15")...), `line 17: end "15" after 16 lines`},
		{with(append(dual[:7:7], "end 16", "end 16")...), "line 18: a line after the end"},
	} {
		rep := checkText(t, c.lines...)
		assert.False(t, rep.Valid)
		assert.True(t, strings.HasPrefix(rep.Reason, c.reason), "%q, want %q", rep.Reason, c.reason)
	}
	torn, err := Check(strings.NewReader(strings.Join(with("claim optimum 0 1", "end"), "\n")), Options{})
	require.NoError(t, err)
	assert.Equal(t, "line 11: the file ends within the line", torn.Reason)
	rep := checkText(t, with(append(dual[:7:7], "end 16")...)...)
	assert.True(t, rep.Valid, rep.Reason)
}

// TestBitsOfEpsilon: 4096 bits of either part of e^ε, or of ε, are accepted, one more is not.
func TestBitsOfEpsilon(t *testing.T) {
	power := func(e uint) string { return new(big.Int).Lsh(big.NewInt(1), e).String() }
	less := func(e uint) string { n := new(big.Int).Lsh(big.NewInt(1), e); return n.Sub(n, big.NewInt(1)).String() }
	for _, c := range []struct {
		epsilon string
		ok      bool
	}{
		{"exp-epsilon " + power(4095), true}, {"exp-epsilon " + power(4096), false},
		{"exp-epsilon " + power(4095) + "/" + less(4095), true}, {"exp-epsilon " + power(4096) + "/" + less(4096), false},
		{"exp-epsilon " + less(4097) + "/" + power(4096), false},
		{"epsilon 1/" + power(4095), true}, {"epsilon 1/" + power(4096), false}, {"epsilon " + strings.Repeat("9", 4097), false},
		{"exp-epsilon 1/2", false}, {"epsilon -1", false}, {"epsilon 1", true},
	} {
		rep := checkText(t, append(headerLines(c.epsilon, "dual-closed-form"), "claim optimum 0 2", "end 10")...)
		assert.Equal(t, c.ok, rep.Valid, "%.40s: %s", c.epsilon, rep.Reason)
	}
}

// TestWhereTheExponentialIsExact: the exact error of the exponential mechanism is worked out for a claim of one number, or at the last
// precision, while its denominator has at most 2^23 bits.
func TestWhereTheExponentialIsExact(t *testing.T) {
	claim := func(upper *big.Rat) *evidence.Claim {
		return &evidence.Claim{Value: number.Bounds(big.NewRat(1, 2), upper)}
	}
	point, wide := claim(big.NewRat(1, 2)), claim(big.NewRat(2, 3))
	for _, c := range []struct {
		n, k, bits int
		q          *evidence.Claim
		prec       uint
		want       bool
	}{
		{3, 3, 10, point, 128, true}, {3, 3, 10, wide, 128, false}, {3, 3, 10, wide, 512, true}, {3, 3, 0, point, 512, false},
		{8, 8, 162, point, 128, true}, {8, 8, 163, point, 128, false}, // 6435·(8·162 + 4 or 5) is less than 2^23, 6435·(8·163) more
		{20, 20, 2, point, 128, false},
	} {
		ck := &certificate{n: c.n, k: c.k, o: evidence.Options{MaxPrecision: 512}}
		if c.bits > 0 {
			q := new(big.Int).Lsh(big.NewInt(1), uint(c.bits-1))
			ck.z = new(big.Rat).SetFrac(big.NewInt(1), q)
		}
		assert.Equal(t, c.want, ck.exactEM(c.q, c.prec), "%+v", c)
	}
}

// TestDefaults are those that the documentation of Options states.
func TestDefaults(t *testing.T) {
	assert.Equal(t, evidence.Options{Context: context.Background(), MaxMemory: 2 << 30, MaxPrecision: 4096, MaxSteps: 1 << 29}, evidence.WithDefaults(evidence.Options{}))
	own := evidence.Options{Context: t.Context(), MaxMemory: 1, MaxPrecision: 1, MaxSteps: 1}
	least := own
	least.MaxPrecision = 128
	assert.Equal(t, least, evidence.WithDefaults(own))
}

// TestClosedBits: three candidates, depth 4 and z = 2^-9, whose denominator has 10 bits: 3·(4·10 + 3) with the 3 bits of k + 1 = 5, and under the
// objective box 4 times as much.
func TestClosedBits(t *testing.T) {
	ck := &certificate{n: 3, k: 4, z: big.NewRat(1, 512)}
	assert.Equal(t, 129.0, ck.closedBits())
	ck.box = true
	assert.Equal(t, 516.0, ck.closedBits())
}

// TestStoppedSumsOfTheExponential: a part of the sum is not the sum, exact or enclosed, and no claim is decided by it.
func TestStoppedSumsOfTheExponential(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, epsilon := range []string{"epsilon 1/3", "exp-epsilon 3/2"} {
		text := strings.Join(append(headerLines(epsilon, "dual-closed-form"), "claim optimum 0 2", "claim error em 0 2", "end 11"), "\n") + "\n"
		rep, err := Check(strings.NewReader(text), Options{})
		require.NoError(t, err)
		assert.True(t, rep.Valid, rep.Reason)
		_, err = Check(strings.NewReader(text), Options{Context: ctx})
		assert.ErrorIs(t, err, context.Canceled)
	}
}

// TestSmallestTable is a valid certificate of section lattice for one candidate, who is chosen without a loss.
func TestSmallestTable(t *testing.T) {
	lines := []string{evidence.Magic, "problem lattice", "n 1", "k 1", "step 1", "top 1", "constraints paper", "loss 0 1", "prior uniform", "exp-epsilon 3/2", "precision 0",
		"claim optimum 0 0", "input 1", "end 13"}
	rep := checkText(t, lines...)
	assert.True(t, rep.Valid, rep.Reason)
	lines[10] = "claim optimum 1/1000 1"
	assert.False(t, checkText(t, lines...).Valid)
}

// TestNonnegative: two candidates, depths 0 and 1, z = 1/2. Permute-and-flip is u = 3/2, 1/2 at (1, 1). An injection of 5
// makes it -7/2, 11/2, and 0, 2 needs the weight 7/10 of permute-and-flip; 2 of all three score vectors.
func TestNonnegative(t *testing.T) {
	c := &certificate{n: 2, k: 1, objective: "paper", constraints: "paper", cost: ample(), inject: []injection{{2, big.NewInt(2), big.NewRat(5, 1)}}}
	o := evidence.WithDefaults(evidence.Options{})
	c.enumerate(o)
	c.chains()
	value := c.upper(big.NewRat(1, 2), true, 0)
	assert.Equal(t, "2/3", value.RatString())
	value = c.upper(big.NewRat(1, 2), false, 100)
	assert.NotEqual(t, "2/3", value.RatString())
	assert.InDelta(t, 2.0/3, number.Exact(value).Float64(), 1e-15)
}

// ample is what a check may cost without options.
func ample() *evidence.Effort { return evidence.NewEffort(evidence.WithDefaults(evidence.Options{})) }

func TestMechanismsAreThoseWithFormulas(t *testing.T) {
	assert.Equal(t, slices.Sorted(maps.Keys(formulas)), evidence.Mechanisms)
}
