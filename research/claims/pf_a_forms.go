package claims

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

func init() {
	register(PF, map[string]check{
		"Lemma 1 | supplement":          form("mean over permutations", byPermutations),
		"Lemma 2 | supplement":          form("sum over subsets", func(p []*big.Rat, r int) *big.Rat { return bySubsets(p, r, 1) }),
		"Lemma 2, proof | supplement":   form("printed line", func(p []*big.Rat, r int) *big.Rat { return bySubsets(p, r, -1) }),
		"Theorem 1, proof | supplement": derivative,
		"Lemma 4 | supplement":          factorsRise,
		"Lemma 5 | supplement":          partialSums,
		"Appendix E | supplement":       form("Appendix E", func(p []*big.Rat, r int) *big.Rat { x, _ := bySubsetSizes(p); return x[r] }),
	})
}

// form checks a formula for permute-and-flip's probabilities.
func form(name string, pmf func(p []*big.Rat, r int) *big.Rat) check {
	return func(t *tally) Finding {
		for p := range vectors(t.ctx, 5) {
			want := distribution(pf, p)
			for r := range p {
				got := pmf(p, r)
				t.expect(got.Cmp(want[r]) == 0, "weights %s, candidate %d: %s %s, the probability is %s", text(p), r, name, short(got, 6), short(want[r], 6))
			}
		}
		return t.finding("n <= 5, "+wideDomain+", exact", fmt.Sprintf("%d probabilities", t.checked))
	}
}

func byPermutations(p []*big.Rat, r int) *big.Rat {
	total := new(big.Rat)
	for _, order := range combin.Permutations(len(p), len(p)) {
		product := rat(1, 1)
		for _, s := range order[:slices.Index(order, r)] {
			product = mul(product, sub(rat(1, 1), p[s]))
		}
		total.Add(total, product)
	}
	return mul(p[r], quo(total, factorial(len(p))))
}

// subsets calls visit with every set of the candidates other than r, its size and the product of its weights.
func subsets(p []*big.Rat, r int, visit func(size int, product *big.Rat)) {
	for set := range uint(1) << len(p) {
		if set>>r&1 == 1 {
			continue
		}
		size, product := 0, rat(1, 1)
		for s := range p {
			if set>>s&1 == 1 {
				size++
				product = mul(product, p[s])
			}
		}
		visit(size, product)
	}
}

func sign(n int) int64 { return 1 - 2*int64(n%2) }

// bySubsets returns p_r (1 + direction · Σ_{|S| >= 1} (-1)^|S|/(|S|+1) Π p_s).
func bySubsets(p []*big.Rat, r int, direction int64) *big.Rat {
	total := rat(1, 1)
	subsets(p, r, func(size int, product *big.Rat) {
		if size > 0 {
			total.Add(total, mul(rat(direction*sign(size), int64(size)+1), product))
		}
	})
	return mul(p[r], total)
}

// bySubsetSizes is Appendix E, with the number of its additions.
func bySubsetSizes(p []*big.Rat) (law []*big.Rat, steps int) {
	n := len(p)
	sums := make([]*big.Rat, n+1) // S(k, r) for the r candidates so far
	for k := range sums {
		sums[k] = new(big.Rat)
	}
	sums[0] = rat(1, 1)
	for _, x := range p {
		for k := n; k >= 1; k-- {
			sums[k] = add(sums[k], mul(x, sums[k-1]))
			steps++
		}
	}
	law = make([]*big.Rat, n)
	for r, x := range p {
		without, total := rat(1, 1), rat(1, 1) // T(0, r)
		for k := 1; k <= n; k++ {
			without = sub(sums[k], mul(x, without))
			total = add(total, mul(rat(sign(k), int64(k)+1), without))
			steps++
		}
		law[r] = mul(x, total)
	}
	return law, steps
}

func derivative(t *tally) Finding {
	for p := range vectors(t.ctx, 5) {
		x := distribution(pf, p)
		for r := range p {
			if p[r].Cmp(rat(1, 1)) < 0 {
				continue
			}
			left := x[r]
			subsets(p, r, func(size int, product *big.Rat) {
				left = add(left, mul(rat(sign(size)*int64(size), int64(size)+1), product))
			})
			right := rat(1, 1)
			for s := range p {
				if s != r {
					right = mul(right, sub(rat(1, 1), p[s]))
				}
			}
			t.expect(left.Cmp(right) == 0 && right.Sign() >= 0, "weights %s, candidate %d: %s against %s", text(p), r, left.RatString(), right.RatString())
		}
	}
	return t.finding("n <= 5, "+wideDomain+", exact", "")
}

func factorsRise(t *tally) Finding {
	for p := range vectors(t.ctx, 6) {
		x := distribution(pf, p)
		for r := 1; r < len(p); r++ { // weights rise along the vector
			t.expect(quo(x[r-1], p[r-1]).Cmp(quo(x[r], p[r])) <= 0, "weights %s: g_%d > g_%d", text(p), r-1, r)
		}
	}
	return t.finding("n <= 6, "+wideDomain+", exact", "")
}

func partialSums(t *tally) Finding {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		f := make([]int, 1+rng.IntN(12))
		total := 0
		for i := range f {
			f[i] = rng.IntN(41) - 20
			total += f[i]
		}
		for i := range f { // times n, less the sum: the new sum is 0
			f[i] = f[i]*len(f) - total
		}
		slices.Sort(f)
		part := 0
		for s, x := range f {
			part += x
			t.expect(part <= 0, "%v: the first %d sum to %d", f, s+1, part)
		}
	}
	return t.finding("2000 random sequences of at most 12 integers, exact", "")
}
