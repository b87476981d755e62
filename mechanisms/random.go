package mechanisms

import (
	"crypto/rand"
	"encoding/binary"
	"math/big"
	"math/bits"

	"optratio/number"
)

// Source yields uniform random words; sources of math/rand/v2 are such, for reproducible tests.
type Source interface{ Uint64() uint64 }

// secure is a Source that reads crypto/rand. It buffers, and is not safe for concurrent use.
type secure struct {
	buffer [512]byte
	used   int
}

func newSecure() *secure { return &secure{used: 512} }

// Uint64 returns the next word. crypto/rand does not fail: it ends the program instead.
func (s *secure) Uint64() uint64 {
	if s.used == len(s.buffer) {
		_, _ = rand.Read(s.buffer[:])
		s.used = 0
	}
	s.used += 8
	return binary.LittleEndian.Uint64(s.buffer[s.used-8:])
}

// dice draws from discrete distributions exactly: uniform bits in, integer and rational
// arithmetic, nothing rounded. No float64 is involved, so that no gap between floating-point numbers
// can show which noise was possible (Mironov 2012). Running times depend on what is drawn and on
// the probabilities.
type dice struct {
	src Source
}

// below returns a uniform integer in [0, n), n > 0, by rejection.
func (d dice) below(n uint64) uint64 {
	mask := ^uint64(0) >> bits.LeadingZeros64(n-1|1)
	for {
		if x := d.src.Uint64() & mask; x < n {
			return x
		}
	}
}

// belowBig is below for integers of any size.
func (d dice) belowBig(n *big.Int) *big.Int {
	if n.IsUint64() {
		return new(big.Int).SetUint64(d.below(n.Uint64()))
	}
	size := n.BitLen()
	bytes := make([]byte, (size+63)/64*8)
	for {
		for i := 0; i < len(bytes); i += 8 {
			binary.BigEndian.PutUint64(bytes[i:], d.src.Uint64())
		}
		x := new(big.Int).SetBytes(bytes)
		if x.Rsh(x, uint(len(bytes)*8-size)); x.Cmp(n) < 0 {
			return x
		}
	}
}

// bernoulli returns true with probability num/den, 0 <= num <= den.
func (d dice) bernoulli(num, den *big.Int) bool {
	if num.IsUint64() && den.IsUint64() {
		return d.below(den.Uint64()) < num.Uint64()
	}
	return d.belowBig(den).Cmp(num) < 0
}

// bernoulliExp returns true with probability e^{-x}, x >= 0 (Canonne, Kamath & Steinke 2020, Alg. 1): for
// x <= 1 it counts how many coins of probability x/1, x/2, … show heads in a row, an even
// number with probability 1 - x + x²/2 - … = e^{-x}; larger x are so many e^{-1} in a row, and a rest.
func (d dice) bernoulliExp(x *big.Rat) bool {
	if x.Num().CmpAbs(x.Denom()) > 0 {
		whole, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
		for whole.Sign() > 0 {
			if !d.heads(oneInt, oneInt) {
				return false
			}
			whole.Sub(whole, oneInt)
		}
		return d.heads(rest, x.Denom())
	}
	return d.heads(x.Num(), x.Denom())
}

var oneInt = big.NewInt(1)

// heads is bernoulliExp for x = num/den in [0, 1].
func (d dice) heads(num, den *big.Int) bool {
	scaled := new(big.Int)
	for k := int64(1); ; k++ {
		if !d.bernoulli(num, scaled.Mul(den, big.NewInt(k))) {
			return k%2 == 1
		}
	}
}

// bernoulliEnclosed returns true with the probability in [0, 1] that enclose gives enclosures of: it draws
// a uniform real bit by bit until the enclosure, refined as far as needed, lies on one side of it.
func (d dice) bernoulliEnclosed(enclose func(prec uint) number.Interval) bool {
	u := uniform{dice: d}
	for prec := uint(64); ; prec *= 2 {
		p := enclose(prec)
		lo, hi := u.bounds(prec)
		switch {
		case hi.Cmp(p.Lo()) <= 0:
			return true
		case lo.Cmp(p.Hi()) >= 0:
			return false
		}
	}
}

// uniform is a real number drawn uniformly from [0, 1], of which only as many words are drawn as someone asks for.
type uniform struct {
	dice
	words []uint64
}

// word returns the i-th word of the binary expansion.
func (u *uniform) word(i int) uint64 {
	for len(u.words) <= i {
		u.words = append(u.words, u.src.Uint64())
	}
	return u.words[i]
}

// bounds encloses u by an interval of width 2^-prec, prec rounded up to whole words.
func (u *uniform) bounds(prec uint) (lo, hi *big.Float) {
	count := int(prec+63) / 64
	bytes := make([]byte, 8*count)
	for i := range count {
		binary.BigEndian.PutUint64(bytes[8*i:], u.word(i))
	}
	size := 64 * count
	n := new(big.Int).SetBytes(bytes)
	lo = new(big.Float).SetPrec(uint(size + 1)).SetInt(n)
	hi = new(big.Float).SetPrec(uint(size + 1)).SetInt(n.Add(n, oneInt))
	return lo.SetMantExp(lo, -size), hi.SetMantExp(hi, -size)
}

// less reports whether u < v; equality has probability 0.
func (u *uniform) less(v *uniform) bool {
	for i := 0; ; i++ {
		if a, b := u.word(i), v.word(i); a != b {
			return a < b
		}
	}
}

// exponentialReal is a real number with density e^{-x}: an integer part and a fraction drawn as far as needed.
type exponentialReal struct {
	whole    int64
	fraction uniform
}

// exponential draws one (von Neumann 1951): the longest falling run u > v_1 > … that starts at
// a uniform u has odd length with probability e^{-u}; a failure, of probability e^{-1}, adds 1.
func (d dice) exponential() exponentialReal {
	for whole := int64(0); ; whole++ {
		first := &uniform{dice: d}
		last, length := first, 1
		for {
			next := &uniform{dice: d}
			if !next.less(last) {
				break
			}
			last = next
			length++
		}
		if length%2 == 1 {
			return exponentialReal{whole, *first}
		}
	}
}

// enclose returns an interval of width about 2^-prec around x.
func (x *exponentialReal) enclose(prec uint) number.Interval {
	lo, hi := x.fraction.bounds(prec)
	return number.NewInterval(lo, hi).SetPrec(prec + 64).Add(number.FromInt(x.whole, prec+64))
}
