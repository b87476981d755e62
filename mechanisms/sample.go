package mechanisms

import (
	crypto "crypto/rand"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"sort"

	"optratio/number"
)

// Draws returns a function that runs m once and returns the index of the candidate taken, for uniform random words of a source. A mechanism may have a sampler of
// its own, a method Draws(in *Instance, src rand.Source) (func() int, error). For any other Draws has exactly the stated probabilities: it draws a uniform real number u word by word until it is decided between which sums p_0 + … + p_r it lies. Enclosures of these are refined as far
// as that takes. No float64 is involved, so that no gap between floating-point numbers can show which outcomes were possible (Mironov 2012).
//
// A nil source stands for crypto/rand. The function is not safe for concurrent use. The error is that of Enclose where m has no enclosures that narrow at will: many
// candidates with Laplace noise have none, nor have mechanisms of FromEnclosure and FromFloat. Random stopping is enclosed to 128 bits; where these do not
// decide, with a probability below n·2^-120, the function panics.
func Draws(m Mechanism, in *Instance, src rand.Source) (func() int, error) {
	if s, ok := m.(interface {
		Draws(in *Instance, src rand.Source) (func() int, error)
	}); ok {
		return s.Draws(in, src)
	}
	switch m.(type) {
	case *enclosed, *floating:
		return nil, fmt.Errorf("%w: %s states no exact probabilities; write a sampler with its own", ErrNoEnclosure, m.Info().Name)
	case *rational:
		if _, err := ExactDistribution(m, in); err != nil {
			return nil, err
		}
	}
	if src == nil {
		src = newSecure()
	}
	known := map[int]*partialSums{}
	sums := func(words int) (*partialSums, error) {
		if s, ok := known[words]; ok {
			return s, nil
		}
		p, err := EnclosedDistribution(m, in, uint(64*words))
		if err != nil {
			return nil, err
		}
		known[words] = newPartialSums(p, words)
		return known[words], nil
	}
	if _, err := sums(1); err != nil {
		return nil, err
	}
	u, word := new(big.Int), new(big.Int)
	return func() int {
		u.SetUint64(src.Uint64())
		for drawn, words := 1, 1; ; words *= 2 {
			for ; drawn < words; drawn++ {
				u.Lsh(u, 64).Add(u, word.SetUint64(src.Uint64()))
			}
			s, err := sums(words)
			if err != nil {
				panic(err)
			}
			if r, ok := s.place(u); ok {
				return r
			}
		}
	}, nil
}

// partialSums holds enclosures of p_0 + … + p_r for every candidate r but the last, rounded outward to multiples of 2^-64words.
type partialSums struct{ low, high []*big.Int }

func newPartialSums(p []number.Interval, words int) *partialSums {
	s := &partialSums{}
	sum := number.FromInt(0, uint(64*words+32))
	for _, x := range p[:len(p)-1] {
		sum = sum.Add(x)
		low, _ := new(big.Float).SetMantExp(sum.Lo(), 64*words).Int(nil)
		high, accuracy := new(big.Float).SetMantExp(sum.Hi(), 64*words).Int(nil)
		if accuracy == big.Below {
			high.Add(high, oneInt)
		}
		s.low, s.high = append(s.low, low), append(s.high, high)
	}
	return s
}

// place returns the candidate whose share holds all numbers from u to u+1, in the sums' units, if that is proved.
func (s *partialSums) place(u *big.Int) (candidate int, ok bool) {
	candidate = sort.Search(len(s.low), func(r int) bool { return u.Cmp(s.low[r]) < 0 })
	return candidate, candidate == 0 || u.Cmp(s.high[candidate-1]) >= 0
}

var oneInt = big.NewInt(1)

// secure is a Source that reads crypto/rand. It buffers, and is not safe for concurrent use.
type secure struct {
	buffer [512]byte
	used   int
}

func newSecure() *secure { return &secure{used: 512} }

// Uint64 returns the next word. crypto/rand does not fail: it ends the program instead.
func (s *secure) Uint64() uint64 {
	if s.used == len(s.buffer) {
		_, _ = crypto.Read(s.buffer[:])
		s.used = 0
	}
	s.used += 8
	return binary.LittleEndian.Uint64(s.buffer[s.used-8:])
}
