package secretary

import (
	"math/big"
	"testing"
)

// TestSecretaryLawIsLogConvex: r_{k-1} r_{k+1} >= r_k² for 5 <= n <= 130, which research/docs/stopping.md proves from n = 61 on; at n = 3 and 4 it fails.
func TestSecretaryLawIsLogConvex(t *testing.T) {
	for n := 3; n <= 130; n++ {
		r := secretary(t, n)
		convex := true
		for k := 1; k+1 < n; k++ {
			convex = convex && new(big.Rat).Mul(r[k-1], r[k+1]).Cmp(new(big.Rat).Mul(r[k], r[k])) >= 0
		}
		if convex != (n >= 5) {
			t.Errorf("n = %d: log-convex is %v", n, convex)
		}
	}
}

// TestBoundsOfLogConvexity: the numbers that the proof for n >= 61 uses, for n up to 400: with ν = n-1, N = n-t+1 and ρ_k the quotients of x_k = C(N,k)/(k C(ν,k)), wherever
// ρ_k < ρ_{k-1} there is ν <= 1.284 k², N/ν <= 0.66, and ν x_k ρ_{k-1} <= 1 - ρ_{k-1}.
func TestBoundsOfLogConvexity(t *testing.T) {
	for n := 61; n <= 400; n += 13 {
		first := must(Threshold(n))
		nu, left := int64(n-1), int64(n-first+1)
		if 100*left > 66*nu {
			t.Errorf("n = %d: N = %d", n, left)
		}
		quotient := func(k int64) *big.Rat { return big.NewRat(k*(left-k), (k+1)*(nu-k)) }
		x := big.NewRat(left, nu) // x_1
		for k := int64(2); k <= left; k++ {
			before := quotient(k - 1)
			if x.Mul(x, before); quotient(k).Cmp(before) >= 0 {
				continue
			}
			if 1000*nu > 1284*k*k {
				t.Errorf("n = %d: ρ falls at k = %d", n, k)
			}
			gain := new(big.Rat).Mul(big.NewRat(nu, 1), new(big.Rat).Mul(x, before))
			if gain.Cmp(new(big.Rat).Sub(big.NewRat(1, 1), before)) > 0 {
				t.Errorf("n = %d, k = %d: the floor is too low", n, k)
			}
		}
	}
}

// TestWorstOrderOfArrival: of the n orders in which the best so far comes at each of the times 1 to m and nobody better later, m = 1, …, n, no rule that decides by
// relative ranks takes the best on more than one. So the worst order leaves a success of at most 1/n, which the choice of a random time has.
func TestWorstOrderOfArrival(t *testing.T) {
	for n := 2; n <= 4; n++ {
		var histories [][]int // before time n
		var extend func(h []int)
		extend = func(h []int) {
			if len(h) == n-1 {
				return
			}
			for j := 1; j <= len(h)+1; j++ {
				next := append(append([]int{}, h...), j)
				histories = append(histories, next)
				extend(next)
			}
		}
		extend(nil)
		key := func(h []int) (s string) {
			for _, j := range h {
				s += string(rune('0' + j))
			}
			return s
		}
		place := map[string]int{}
		for i, h := range histories {
			place[key(h)] = i
		}
		most := 0
		for rule := range 1 << len(histories) { // a bit for each history at which it stops; at time n it does
			wins := 0
			for m := 1; m <= n; m++ {
				var seen []int
				for i := 1; i <= n; i++ {
					if seen = append(seen, 1); i > m {
						seen[i-1] = i
					}
					if i == n || rule>>place[key(seen)]&1 == 1 {
						if i == m {
							wins++
						}
						break
					}
				}
			}
			most = max(most, wins)
		}
		if most != 1 {
			t.Errorf("n = %d: a rule takes the best on %d of the orders", n, most)
		}
	}
}
