package optimum

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
	"optratio/verify/certificate"
)

// stated reads the problem that a certificate states; ok is false where it is none.
func stated(t testing.TB, lines []string) (p *Problem, e, delta *big.Rat, ok bool) {
	defer func() { ok = ok && recover() == nil }() // numbers that are none
	number := func(s string) *big.Rat {
		if f, _, err := big.ParseFloat(s, 0, 2000, big.ToZero); err == nil && strings.Contains(s, "x") {
			x, _ := f.Rat(nil)
			return x
		}
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s)
		}
		return x
	}
	p = &Problem{}
	for _, line := range lines {
		f := strings.Fields(line)
		whole := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
		switch f[0] {
		case "inputs":
			p.Inputs = numerals(whole(1))
		case "outputs":
			p.Outputs = numerals(whole(1))
		case "delta":
			delta = number(f[1])
		case "exp-epsilon":
			e = number(f[1])
		case "prior":
			sum := new(big.Rat)
			for _, s := range f[1:] {
				if s == "worst" {
					break
				}
				p.Prior = append(p.Prior, number(s))
				sum.Add(sum, number(s))
			}
			for i, w := range p.Prior {
				p.Prior[i] = new(big.Rat).Quo(w, sum)
			}
		case "loss":
			var row []*big.Rat
			for _, s := range f[1:] {
				row = append(row, number(s))
			}
			p.Loss = append(p.Loss, row)
		case "forbidden":
			p.forbid(whole(1), whole(2))
		case "pair":
			p.Pairs = append(p.Pairs, Pair{From: whole(1), To: whole(2), Distance: number(f[3])}, Pair{From: whole(2), To: whole(1), Distance: number(f[3])})
		case "arrow":
			p.Pairs = append(p.Pairs, Pair{From: whole(2), To: whole(1), Distance: number(f[3])})
		}
	}
	for _, q := range p.Pairs {
		if !q.Distance.IsInt() || q.Distance.Cmp(big.NewRat(12, 1)) > 0 {
			return nil, nil, nil, false // dense takes whole distances
		}
	}
	return p, e, delta, p.Check() == nil && e != nil && delta != nil
}

// TestForgedCertificates changes certificates at random. Whatever check accepts is true of the problem that the file states, as the dense program tells.
func TestForgedCertificates(t *testing.T) {
	count := 2_000
	if slowtest.Enabled {
		count = 80_000
	}
	rng := rand.New(rand.NewPCG(3, 5))
	far := preset(t, "count:2")
	far.forbid(0, 2)
	far.OneWay, far.Pairs = true, []Pair{{From: 0, To: 1, Distance: big.NewRat(2, 1)}, {From: 1, To: 0}, {From: 0, To: 1}, {From: 2, To: 1}, {From: 1, To: 2}}
	var originals [][]string
	for _, r := range []Request{
		{Problem: preset(t, "count:2"), Epsilon: exp(t, "2")},
		{Problem: with(t, preset(t, "krr:3"), "", nil), Epsilon: exp(t, "3/2"), Delta: big.NewRat(1, 10)},
		{Problem: preset(t, "partition:3"), Epsilon: exp(t, "2"), Delta: big.NewRat(1, 100)},
		{Problem: far, Epsilon: exp(t, "2")},
	} {
		originals = append(originals, strings.Split(strings.TrimSpace(string(checked(t, solve(t, r)))), "\n"))
	}
	truths := map[string]*big.Rat{}
	accepted, refused, unknown := 0, 0, 0
	for range count {
		lines := append([]string{}, originals[rng.IntN(len(originals))]...)
		for range 1 + rng.IntN(2) {
			i := 2 + rng.IntN(len(lines)-3)
			switch f := strings.Fields(lines[i]); rng.IntN(8) {
			case 0: // a line less
				lines = append(lines[:i:i], lines[i+1:]...)
			case 1: // two lines exchanged
				j := 2 + rng.IntN(len(lines)-3)
				lines[i], lines[j] = lines[j], lines[i]
			default: // another number
				k := 1 + rng.IntN(len(f)-1)
				if f[0] == "claim" {
					k = 2 + rng.IntN(2)
				}
				f[k] = []string{"0", "1", "2", "1/2", "1/3", "2/3", "3/4", "1/1000", f[1+rng.IntN(len(f)-1)]}[rng.IntN(9)]
				lines[i] = strings.Join(f, " ")
			}
		}
		lines[len(lines)-1] = fmt.Sprint("end ", len(lines)-1)
		text := strings.Join(lines, "\n") + "\n"
		r, err := certificate.Check(bytes.NewReader([]byte(text)), certificate.Options{})
		if err != nil || !r.Valid {
			refused++
			continue
		}
		p, e, delta, ok := stated(t, lines)
		if !ok {
			unknown++
			continue
		}
		accepted++
		key := fmt.Sprint(p.Inputs, p.Outputs, p.Prior, p.Loss, p.Forbidden, e, delta, strings.Join(lines[:min(len(lines), 40)], ";"))
		truth := truths[key]
		if truth == nil {
			if _, err := number.FromExp(e); err != nil {
				unknown++
				continue
			}
			truth = dense(t, p, e, delta)
			truths[key] = truth
		}
		require.NotNil(t, truth, text)
		low, _ := r.Optimum.Lower()
		high, _ := r.Optimum.Upper()
		require.True(t, low.Cmp(truth) <= 0 && truth.Cmp(high) <= 0, "the optimum is %s\n%s", truth.RatString(), text)
	}
	t.Logf("%d forgeries: %d refused, %d accepted and true, %d accepted whose truth is not known", count, refused, accepted, unknown)
	assert.Positive(t, accepted)
	assert.Greater(t, refused, count/2)
	assert.Less(t, unknown, count/100)
}
