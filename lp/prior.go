package lp

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/lattice"
)

// Prior is how much each score vector counts in a mean. It is symmetric: permutations of a vector count alike. The zero value
// weighs all score vectors of the lattice alike.
type Prior struct {
	kind    string // "" for uniform
	rho     *big.Rat
	factors []*big.Rat          // product: by number of the depth
	vectors map[string]*big.Rat // weighted: total weight of an orbit, by the key of its depths
	orbits  [][]int             // and the depths of these orbits
}

// Box weighs a vector by how many vectors of the box {-k, …, 0}^n, in steps of the lattice, are shifts of it.
func Box() Prior { return Prior{kind: "box"} }

// Product weighs a vector with the product of the given factors, one for each depth 0, 1/L, 2/L, …, k, over its candidates. Factors
// are >= 0, and the first one is not 0.
func Product(factors []*big.Rat) (Prior, error) {
	for v, x := range factors {
		if x.Sign() < 0 || v == 0 && x.Sign() == 0 {
			return Prior{}, fmt.Errorf("%w: factor %d of the prior is %s, want >= 0, and > 0 for depth 0", errRequest, v, x.RatString())
		}
	}
	return Prior{kind: "product", factors: factors}, nil
}

// Weighted gives score vectors the given weights, each spread evenly over the vector's permutations. depths holds the numbers of
// each vector's depths, the least one 0; vectors may repeat.
func Weighted(depths [][]int, weights []*big.Rat) (Prior, error) {
	p := Prior{kind: "weighted", vectors: map[string]*big.Rat{}}
	sum := new(big.Rat)
	for i, d := range depths {
		if len(d) == 0 || slices.Min(d) != 0 {
			return Prior{}, fmt.Errorf("%w: vector %d of the prior has no candidate at depth 0", errRequest, i+1)
		}
		if weights[i].Sign() < 0 {
			return Prior{}, fmt.Errorf("%w: the weight of vector %d is %s, want >= 0", errRequest, i+1, weights[i].RatString())
		}
		key := orbitKey(d)
		if p.vectors[key] == nil {
			p.vectors[key] = new(big.Rat)
			p.orbits = append(p.orbits, d)
		}
		p.vectors[key].Add(p.vectors[key], weights[i])
		sum.Add(sum, weights[i])
	}
	if sum.Sign() == 0 {
		return Prior{}, fmt.Errorf("%w: the prior's weights are all 0", errRequest)
	}
	return p, nil
}

// orbitKey names the multiset of depths.
func orbitKey(depths []int) string { return fmt.Sprint(slices.Sorted(slices.Values(depths))) }

// ParsePrior reads "uniform", "box" or "geometric:R", R a fraction or a decimal, which weighs a vector with the product of R^v over the numbers v of its candidates' depths (at
// step 2Δ depths in steps of 2Δ).
func ParsePrior(s string) (Prior, error) {
	switch name, rest, _ := strings.Cut(s, ":"); name {
	case "", "uniform":
		return Prior{}, nil
	case "box":
		return Box(), nil
	case "geometric":
		rho, err := decimal.ParseNumber(rest)
		if err != nil {
			return Prior{}, fmt.Errorf("%w: prior %q: %w", errRequest, s, err)
		}
		if rho.Sign() <= 0 {
			return Prior{}, fmt.Errorf("%w: the prior's ratio is %s, want more than 0", errRequest, rho.RatString())
		}
		return Prior{kind: "geometric", rho: rho}, nil
	}
	return Prior{}, fmt.Errorf("%w: prior %q is not one of uniform, box, geometric:R", errRequest, s)
}

// String names the prior as ParsePrior reads it, or by its kind where it was given by numbers.
func (p Prior) String() string {
	switch p.kind {
	case "":
		return "uniform"
	case "geometric":
		return "geometric:" + p.rho.RatString()
	}
	return p.kind
}

// flat reports whether the prior weighs score vectors alike, those of Q(n,k) or those of the box.
func (p Prior) flat() bool { return p.kind == "" || p.box() }

func (p Prior) box() bool { return p.kind == "box" }

// product returns the factor of each depth, and false where the prior is no product.
func (p Prior) product(q *Request) (factors []*big.Rat, ok bool) {
	switch p.kind {
	case "product":
		return p.factors, true
	case "", "geometric":
		factors = []*big.Rat{big.NewRat(1, 1)}
		for range q.depths() {
			next := factors[len(factors)-1]
			if p.kind == "geometric" {
				next = new(big.Rat).Mul(next, p.rho)
			}
			factors = append(factors, next)
		}
		return factors, true
	}
	return nil, false
}

// check reports what does not fit the lattice.
func (p Prior) check(q *Request) error {
	missing := 0
	for _, depths := range p.orbits {
		if len(depths) != q.N || slices.Max(depths) > q.depths() {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Errorf("%w: %d of the prior's score vectors are not on the lattice of %d candidates with depths 0, 1/%d, …, %d",
			errRequest, missing, q.N, q.parts(), q.K)
	}
	if want := q.depths() + 1; p.kind == "product" && len(p.factors) != want {
		return fmt.Errorf("%w: %d factors for the depths 0, 1/%d, …, %d, want %d", errRequest, len(p.factors), q.parts(), q.K, want)
	}
	return nil
}

// weigher returns the weight of one score vector of an orbit, given the orbit's counts, which may be shared between calls.
func (p Prior) weigher(q *Request) func(m []int) *big.Rat {
	one, zero := big.NewRat(1, 1), new(big.Rat)
	factors, _ := p.product(q)
	return func(m []int) *big.Rat {
		switch p.kind {
		case "":
			return one
		case "box":
			return big.NewRat(int64(len(m)-lattice.Deepest(m)), 1) // so many vectors of the box {-k..0}^n are shifts of one
		case "weighted":
			if w, ok := p.vectors[orbitKey(lattice.Depths(m))]; ok {
				return new(big.Rat).Quo(w, new(big.Rat).SetInt(lattice.Multiplicity(m)))
			}
			return zero
		}
		w := new(big.Rat).Set(one)
		for v, c := range m {
			for range c {
				w.Mul(w, factors[v])
			}
		}
		return w
	}
}
