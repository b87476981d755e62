package heterogeneous

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/arith"
)

// differences returns the mean loss over the box of two candidates, given the probability of taking the worse one where it
// is j steps below.
func differences(k int, wrong func(j int) *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for j := 1; j <= k; j++ {
		// 2(k+1-j) vectors of the box have this gap.
		sum.Add(sum, new(big.Rat).Mul(big.NewRat(int64(2*(k+1-j)*j), 1), wrong(j)))
	}
	return sum.Quo(sum, big.NewRat(int64((k+1)*(k+1)), 1))
}

func pow(z *big.Rat, n int) *big.Rat { return arith.Pow(arith.Field[*big.Rat](arith.Rat{}), z, n) }

// Two candidates, shift-invariant mechanisms. Only D = ⌊(Δ_1+Δ_2)/step⌋ matters, and by exchanging the candidates the
// best mechanism takes the worse candidate j steps below with a probability w(j), w(0) = 1/2.
//
// D = 1: w(j) >= z w(j-1), so w(j) >= z^j/2, attained by permute-and-flip.
//
// D = 2: differences 1 and -1 are neighbors, so w(1) >= z(1 - w(1)), w(1) >= z/(1+z); further w(j) >= z w(j-2) gives
// w(j) >= z^{j/2}/2 for even j and z^{(j+1)/2}/(1+z) for odd j. That is private: the sequence of w(-j) = 1 - w(j)
// and w(j) decreases, and each term is at least z times the term two before it.
func TestTwoCandidatesInClosedForm(t *testing.T) {
	for _, k := range []int{1, 2, 3, 5, 8} {
		for _, e := range []string{"9/8", "3/2", "2", "5"} {
			z := new(big.Rat).Inv(rat(e))
			half := func(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, big.NewRat(2, 1)) }
			one := func(j int) *big.Rat { return half(pow(z, j)) }
			two := func(j int) *big.Rat {
				if j%2 == 0 {
					return half(pow(z, j/2))
				}
				return new(big.Rat).Quo(pow(z, (j+1)/2), new(big.Rat).Add(z, big.NewRat(1, 1)))
			}
			for _, c := range []struct {
				a, b  string
				wrong func(int) *big.Rat
			}{
				{"1/2", "1/2", one}, {"1", "0", one}, {"0", "5/4", one}, {"1/8", "7/8", one}, {"3/4", "1", one},
				{"1", "1", two}, {"3/2", "1/2", two}, {"0", "2", two}, {"5/4", "3/2", two},
			} {
				got := solved(t, Request{Grid: grid(k, true, c.a, c.b), Epsilon: exp(t, e)})
				want := differences(k, c.wrong)
				assert.Zero(t, got.Cmp(want), "k = %d, e^ε = %s, Δ = %s, %s: got %s, want %s", k, e, c.a, c.b, got.RatString(), want.RatString())
			}
		}
	}
}

// Where exchanging two candidates' scores gives a neighbor, every mechanism has w(q) + w(q̄) >= 2z/(1+z) for the probabilities of
// taking the worse: add w(q) >= z(1 - w(q̄)) and w(q̄) >= z(1 - w(q)). Randomised response attains that
// everywhere, and is optimal where the sensitivities exceed the width of the grid.
func TestRandomisedResponseIsOptimalForTwoCloseCandidates(t *testing.T) {
	for _, k := range []int{1, 2, 4} {
		for _, shift := range []bool{false, true} {
			for _, e := range []string{"9/8", "2", "7"} {
				d := fmt.Sprint(k)
				z := new(big.Rat).Inv(rat(e))
				wrong := new(big.Rat).Quo(z, new(big.Rat).Add(z, big.NewRat(1, 1)))
				want := differences(k, func(int) *big.Rat { return wrong })
				got := solved(t, Request{Grid: grid(k, shift, d, d), Epsilon: exp(t, e)})
				assert.Zero(t, got.Cmp(want), "k = %d, e^ε = %s: got %s, want %s", k, e, got.RatString(), want.RatString())
			}
		}
	}
}

// With Δ = (0, 1) the first score is public: each of its values is a problem of its own. With one step, always taking the second
// costs nothing at q_1 = 0, where it is never worse, and always taking the first costs nothing at q_1 = 1.
func TestPublicScoresOfOneStepCostNothing(t *testing.T) {
	assert.Zero(t, solved(t, Request{Grid: grid(1, false, "0", "1"), Epsilon: exp(t, "2")}).Sign())
	// With two steps the vectors with q_1 = 0 and q_1 = 2 cost nothing either. With q_1 = 1 let m be the probability of the
	// second at (1,1): it is at least zm at (1,0), where it costs 1, and the first's is at least z(1-m) at
	// (1,2), where that costs 1. Together z, whatever m is, over 9 vectors.
	for _, e := range []string{"9/8", "3/2", "4"} {
		want := new(big.Rat).Mul(rat(e), big.NewRat(9, 1))
		want.Inv(want)
		got := solved(t, Request{Grid: grid(2, false, "0", "1"), Epsilon: exp(t, e)})
		assert.Zero(t, got.Cmp(want), "e^ε = %s: got %s, want %s", e, got.RatString(), want.RatString())
	}
}
