package product

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/number"
)

const prec = 128

func atExp(t testing.TB, s string) (number.Epsilon, *big.Rat) {
	t.Helper()
	eps, err := number.ParseExp(s)
	require.NoError(t, err)
	z, ok := eps.Z()
	require.True(t, ok)
	return eps, z
}

// amount returns s(m,v) by the definition of injections: the product over the other candidates of m at depths >= 1.
func (q *Injection) amount(m []int, v int, z *big.Rat) *big.Rat {
	s := new(big.Rat)
	if m[0] != q.Tops || v != q.Depth {
		return s
	}
	others := append([]int(nil), m...)
	others[v]--
	if q.Deepest && others[len(m)-1] == 0 {
		return s
	}
	s.Set(q.Amount)
	for u := 1; u < len(m); u++ {
		g := new(big.Rat)
		if u > q.Empty {
			g.Set(q.Ratio)
			for range u - q.Empty - 1 {
				g.Mul(g, z)
			}
			g.Sub(big.NewRat(1, 1), g)
		}
		for range others[u] {
			s.Mul(s, g)
		}
	}
	return s
}

// evaluate works out the whole point orbit by orbit in rationals, and returns the least slack of any row of the program and the objective.
func evaluate(t testing.TB, n, k int, z *big.Rat, list []Injection) (least, objective *big.Rat) {
	t.Helper()
	l, err := lattice.New(n, k)
	require.NoError(t, err)
	vs := l.Number()
	x := make([]*big.Rat, len(vs.Orbit))
	objective = new(big.Rat)
	for i, m := range l.All() {
		rest := big.NewRat(1, 1)
		for j := vs.First[i] + 1; j < vs.First[i+1]; j++ {
			v := int(vs.Depth[j])
			x[j] = new(big.Rat).Mul(z, x[vs.Up[j]])
			for q := range list {
				x[j].Add(x[j], list[q].amount(m, v, z))
			}
			mass := new(big.Rat).Mul(x[j], big.NewRat(int64(m[v]), 1))
			rest.Sub(rest, mass)
			mass.Mul(mass, new(big.Rat).SetInt(lattice.Multiplicity(m)))
			objective.Add(objective, mass.Mul(mass, big.NewRat(int64(v), 1)))
		}
		x[vs.First[i]] = rest.Quo(rest, big.NewRat(int64(m[0]), 1))
	}
	for j := range x {
		slack := new(big.Rat).Set(x[j])
		if up := vs.Up[j]; up >= 0 {
			slack.Sub(slack, new(big.Rat).Mul(z, x[up]))
		}
		if least == nil || slack.Cmp(least) < 0 {
			least = slack
		}
	}
	return least, objective
}

// random returns injections of all kinds, with amounts beyond what is feasible. Half of the time depths are small, so that there are many between the places that decide.
func random(rng *rand.Rand, n, k int) []Injection {
	var list []Injection
	most := k
	if rng.IntN(2) == 0 {
		most = min(k, 2)
	}
	for range 1 + rng.IntN(3) {
		q := Injection{
			Tops: 1 + rng.IntN(n-1), Depth: 1 + rng.IntN(most), Empty: rng.IntN(most), Deepest: rng.IntN(2) == 0,
			Ratio: big.NewRat(int64(rng.IntN(9)), 8), Amount: big.NewRat(1+rng.Int64N(1000), 10),
		}
		list = append(list, q)
	}
	return list
}

func times(list []Injection, share *big.Rat) []Injection {
	scaled := make([]Injection, len(list))
	for i, q := range list {
		q.Amount = new(big.Rat).Mul(q.Amount, share)
		scaled[i] = q
	}
	return scaled
}

// TestShareIsTheLargest works out random points on whole lattices, orbit by orbit: with the share of the injections that is called feasible no row is violated, and with any
// larger share some row is. So the count vectors that are looked at are those that decide, no less and no more.
func TestShareIsTheLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	partial := 0
	for _, c := range []struct {
		n, k int
		exp  string
	}{{2, 3, "3/2"}, {3, 1, "3/2"}, {3, 2, "6/5"}, {3, 5, "3/2"}, {4, 4, "3/2"}, {4, 6, "9/8"}, {5, 3, "5/4"}, {6, 4, "3/2"}, {7, 2, "4/3"}, {4, 3, "4"}, {3, 7, "8/7"}, {4, 5, "6/5"}, {5, 5, "8/7"}, {3, 4, "5/4"}} {
		_, z := atExp(t, c.exp)
		for range 50 {
			list := random(rng, c.n, c.k)
			share, err := feasible(context.Background(), c.n, c.k, number.FromRat(z, prec), list)
			require.NoError(t, err)
			at := fmt.Sprint(c, list, share)
			least, _ := evaluate(t, c.n, c.k, z, times(list, share))
			require.GreaterOrEqual(t, least.Sign(), 0, at)
			if share.Cmp(big.NewRat(99, 100)) < 0 {
				partial++
				more := new(big.Rat).Mul(share, big.NewRat(1_000_000_001, 1_000_000_000))
				least, _ = evaluate(t, c.n, c.k, z, times(list, more))
				require.Negative(t, least.Sign(), at)
			}
		}
	}
	require.Greater(t, partial, 400)
}

// TestSaving compares what points save with their objective, summed over whole lattices.
func TestSaving(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	better := 0
	for _, c := range []struct{ n, k int }{{3, 4}, {4, 3}, {5, 4}, {6, 2}} {
		_, z := atExp(t, "5/4")
		_, flip := evaluate(t, c.n, c.k, z, nil)
		for range 24 {
			list := random(rng, c.n, c.k)
			r, err := prove(context.Background(), c.n, c.k, number.FromRat(z, prec), list)
			require.NoError(t, err)
			_, value := evaluate(t, c.n, c.k, z, r.Injections)
			saving := new(big.Rat).Sub(flip, value)
			if len(r.Injections) > 0 {
				better++
				require.True(t, r.Saving.Contains(saving), "%v %v: %v", c, list, r.Saving)
				require.Less(t, r.Saving.RelWidth(), 1e-25)
			} else {
				require.Zero(t, saving.Sign())
			}
		}
	}
	require.Greater(t, better, 10)
}

// TestBoundIsFeasible works out what Bound returns on whole lattices.
func TestBoundIsFeasible(t *testing.T) {
	for _, c := range []struct {
		n, k int
		exp  string
	}{{3, 8, "4/3"}, {4, 4, "3/2"}, {5, 5, "3/2"}, {6, 3, "6/5"}, {8, 4, "7/4"}} {
		eps, z := atExp(t, c.exp)
		r, err := Bound(context.Background(), c.n, c.k, eps, 128, quiet)
		require.NoError(t, err)
		require.Positive(t, r.Saving.Lo().Sign(), "%v", c)
		least, _ := evaluate(t, c.n, c.k, z, r.Injections)
		require.GreaterOrEqual(t, least.Sign(), 0, "%v", c)
	}
}

// TestNothingToSave has the lattices where permute-and-flip is optimal, or the limits are met.
func TestNothingToSave(t *testing.T) {
	for _, c := range []struct {
		n, k int
		exp  string
	}{{1, 3, "3/2"}, {2, 3, "3/2"}, {5, 1, "3/2"}, {5, 5, "2"}, {5, 5, "1"}, {4, 2, "9/5"}, {5000, 4, "3/2"}} {
		eps, _ := atExp(t, c.exp)
		r, err := Bound(context.Background(), c.n, c.k, eps, 128, quiet)
		require.NoError(t, err)
		require.Zero(t, r.Saving.Hi().Sign(), "%v", c)
		require.Empty(t, r.Injections)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	eps, _ := atExp(t, "3/2")
	_, err := Bound(ctx, 5, 5, eps, 128, quiet)
	require.ErrorIs(t, err, context.Canceled)
}

func quiet(int, int) {}
