package variant

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/totals"
	"optratio/lattice"
)

// Prior is how much each score vector counts in a mean. It is symmetric: permutations of a vector count alike. The zero value
// is Uniform.
type Prior struct {
	kind    string // "" for uniform
	rho     *big.Rat
	factors []*big.Rat          // product: by number of the depth
	vectors map[string]*big.Rat // weighted: total weight of a count vector
	total   int                 // number of vectors given
}

// Uniform weighs all score vectors of Q(n,k) alike.
func Uniform() Prior { return Prior{} }

// Box weighs a vector by how many vectors of the box {-k, …, 0}^n, in steps of the lattice, are shifts of it.
func Box() Prior { return Prior{kind: "box"} }

// Geometric weighs a vector with the product of rho^v over the numbers v of its candidates' depths (for L = 1 depths in steps of
// 2Δ), rho > 0.
func Geometric(rho *big.Rat) (Prior, error) {
	if rho.Sign() <= 0 {
		return Prior{}, fmt.Errorf("%w: the prior's ratio is %s, want more than 0", ErrQuestion, rho.RatString())
	}
	return Prior{kind: "geometric", rho: new(big.Rat).Set(rho)}, nil
}

// Product weighs a vector with the product of the given factors, one for each depth 0, 1/L, 2/L, …, k, over its candidates. Factors
// are >= 0, and the first one is not 0.
func Product(factors []*big.Rat) (Prior, error) {
	for v, x := range factors {
		if x.Sign() < 0 || v == 0 && x.Sign() == 0 {
			return Prior{}, fmt.Errorf("%w: factor %d of the prior is %s, want >= 0, and > 0 for depth 0", ErrQuestion, v, x.RatString())
		}
	}
	return Prior{kind: "product", factors: factors}, nil
}

// Weighted gives score vectors the given weights, each spread evenly over the vector's permutations. depths holds the numbers of
// each vector's depths, the least one 0; vectors may repeat.
func Weighted(depths [][]int, weights []*big.Rat) (Prior, error) {
	p := Prior{kind: "weighted", vectors: map[string]*big.Rat{}, total: len(depths)}
	sum := new(big.Rat)
	for i, d := range depths {
		if len(d) == 0 || slices.Min(d) != 0 {
			return Prior{}, fmt.Errorf("%w: vector %d of the prior has no candidate at depth 0", ErrQuestion, i+1)
		}
		if weights[i].Sign() < 0 {
			return Prior{}, fmt.Errorf("%w: the weight of vector %d is %s, want >= 0", ErrQuestion, i+1, weights[i].RatString())
		}
		key := orbitKey(d)
		if p.vectors[key] == nil {
			p.vectors[key] = new(big.Rat)
		}
		p.vectors[key].Add(p.vectors[key], weights[i])
		sum.Add(sum, weights[i])
	}
	if sum.Sign() == 0 {
		return Prior{}, fmt.Errorf("%w: the prior's weights are all 0", ErrQuestion)
	}
	return p, nil
}

// orbitKey names the multiset of depths.
func orbitKey(depths []int) string { return fmt.Sprint(slices.Sorted(slices.Values(depths))) }

// ParsePrior reads "uniform", "box" or "geometric:R", R a fraction or a decimal.
func ParsePrior(s string) (Prior, error) {
	switch name, rest, _ := strings.Cut(s, ":"); name {
	case "", "uniform":
		return Uniform(), nil
	case "box":
		return Box(), nil
	case "geometric":
		rho, err := decimal.ParseNumber(rest)
		if err != nil {
			return Prior{}, fmt.Errorf("%w: prior %q: %w", ErrQuestion, s, err)
		}
		return Geometric(rho)
	}
	return Prior{}, fmt.Errorf("%w: prior %q is none of uniform, box, geometric:R", ErrQuestion, s)
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

// Objective returns the objective of package lattice that a uniform or box prior is, and false for any other prior.
func (p Prior) Objective() (o totals.Objective, ok bool) {
	if p.kind == "box" {
		return totals.Box, true
	}
	return totals.Paper, p.kind == ""
}

// product returns the factor of each depth, and false where the prior is no product.
func (p Prior) product(q *Question) (factors []*big.Rat, ok bool, err error) {
	switch p.kind {
	case "product":
		if len(p.factors) != q.Depths()+1 {
			return nil, false, fmt.Errorf("%w: %d factors for the depths 0, 1/%d, …, %d, want %d", ErrQuestion, len(p.factors), q.L, q.K, q.Depths()+1)
		}
		return p.factors, true, nil
	case "", "geometric":
		factors = []*big.Rat{big.NewRat(1, 1)}
		for range q.Depths() {
			next := factors[len(factors)-1]
			if p.kind == "geometric" {
				next = new(big.Rat).Mul(next, p.rho)
			}
			factors = append(factors, next)
		}
		return factors, true, nil
	}
	return nil, false, nil
}

// of returns the weight of each orbit of the question's lattice: that of one of its vectors times their number.
func (p Prior) of(q *Question, lat *lattice.Lattice) ([]*big.Rat, error) {
	factors, _, err := p.product(q)
	if err != nil {
		return nil, err
	}
	out, found := make([]*big.Rat, lat.Len()), 0
	for i, m := range lat.All() {
		switch p.kind {
		case "weighted":
			out[i] = new(big.Rat)
			if w, ok := p.vectors[orbitKey(lattice.Depths(m))]; ok {
				out[i], found = w, found+1
			}
			continue
		case "box":
			out[i] = new(big.Rat).SetInt(totals.Box.Weight(m))
			continue
		}
		out[i] = new(big.Rat).SetInt(lattice.Multiplicity(m))
		for v, c := range m {
			for range c {
				if p.kind != "" {
					out[i].Mul(out[i], factors[v])
				}
			}
		}
	}
	if found < len(p.vectors) {
		return nil, fmt.Errorf("%w: %d of the prior's score vectors are not on the lattice of %d candidates with depths 0, 1/%d, …, %d",
			ErrQuestion, len(p.vectors)-found, q.N, q.L, q.K)
	}
	return out, nil
}
