package secretary

import (
	"cmp"
	"fmt"
	"math/big"

	"optratio/number"
)

// CheckDistance reports whether d_l is a metric on orders of n candidates: 1 <= l <= n-1
// (any l >= 1 is let pass for n = 1, where there is nothing to swap).
func CheckDistance(n, l int) error {
	if l < 1 || n > 1 && l > n-1 {
		return fmt.Errorf("l = %d: %w, need 1 to n-1 = %d", l, ErrRange, n-1)
	}
	return nil
}

// CheckDelta reports whether 0 <= δ <= 1.
func CheckDelta(delta *big.Rat) error {
	if delta == nil || delta.Sign() < 0 || delta.Cmp(big.NewRat(1, 1)) > 0 {
		return fmt.Errorf("δ: %w, need 0 to 1", ErrRange)
	}
	return nil
}

// A Pair names the ranks I, J (from 1) of the worst inequality q_I <= e^ε q_J + δ.
// The zero Pair means that there is none.
type Pair struct{ I, J int }

// Tight is the least e^ε, at least 1, for which a law is (ε, δ)-private:
// Lower = Upper for an exact law, nil where it is +∞.
type Tight struct {
	Lower, Upper *big.Rat
	Pair         Pair // attains it; zero where ε = 0 is enough
}

// Eps returns ε = ln of the bounds as a number object.
func (t Tight) Eps() number.Number { return logBetween(t.Lower, t.Upper) }

// TightEps returns the least ε for which q is (ε, δ)-private under d_l:
//
//	e^ε = max(1, max_{|i-j| <= l} (q_i - δ)/q_j),   +∞ where q_j = 0 < q_i - δ
//
// (Grining, Klonowski & Sulkowska, Theorem 3.2 of the newer version). Events
// with more than one candidate ask for less: a swap changes the probability of
// two candidates only, and at most one of them grows by more than a factor e^ε.
func TightEps(q Law, l int, delta *big.Rat) (Tight, error) {
	if err := checkQuery(q, l, delta); err != nil {
		return Tight{}, err
	}
	lower, _ := q.worstRatio(q.lo, q.hi, l, delta)
	upper, pair := q.worstRatio(q.hi, q.lo, l, delta)
	return Tight{Lower: lower, Upper: upper, Pair: pair}, nil
}

func checkQuery(q Law, l int, delta *big.Rat) error {
	if err := CheckDelta(delta); err != nil {
		return err
	}
	return CheckDistance(q.N(), l)
}

// worstRatio returns max(1, max (up_i - δ)/down_j) over |i-j| <= l, i != j, nil for +∞; up and down are in units of the law.
func (q Law) worstRatio(up, down []*big.Int, l int, delta *big.Rat) (*big.Rat, Pair) {
	// In units of 1/(den·d), δ = c/d: the ratio so far is num/base, base > 0.
	c, d := new(big.Int).Mul(delta.Num(), q.den), delta.Denom()
	num, base, pair := big.NewInt(1), big.NewInt(1), Pair{}
	least := windowMin(down, l)
	excess, left, right := new(big.Int), new(big.Int), new(big.Int)
	for i, x := range up {
		j := least[i]
		excess.Sub(excess.Mul(x, d), c)
		if left.Mul(excess, base).Cmp(right.Mul(right.Mul(down[j], d), num)) <= 0 {
			continue
		}
		pair = Pair{I: i + 1, J: j + 1}
		if down[j].Sign() == 0 {
			return nil, pair
		}
		num.Set(excess)
		base.Mul(down[j], d)
	}
	return new(big.Rat).SetFrac(num, base), pair
}

// windowMin returns for every i the index of the least x_j with |i-j| <= l
// (the leftmost of equals), by the usual monotone queue: O(len(x)) comparisons.
func windowMin(x []*big.Int, l int) []int {
	n := len(x)
	least := make([]int, n)
	queue := make([]int, 0, n) // indices, values strictly increasing
	head, next := 0, 0
	for i := range n {
		for ; next < n && next <= i+l; next++ {
			for len(queue) > head && x[queue[len(queue)-1]].Cmp(x[next]) > 0 {
				queue = queue[:len(queue)-1]
			}
			queue = append(queue, next)
		}
		for queue[head] < i-l {
			head++
		}
		least[i] = queue[head]
	}
	return least
}

// worstExcess returns max over |i-j| <= l of up_i - e·down_j, which may be negative, and where; up and down are in units of the law.
func (q Law) worstExcess(up, down []*big.Int, l int, e *big.Rat) (*big.Rat, Pair) {
	least := windowMin(down, l)
	unit := new(big.Int).Mul(q.den, e.Denom())
	var worst *big.Int
	var pair Pair
	d, loss := new(big.Int), new(big.Int)
	for i, x := range up {
		d.Sub(d.Mul(x, e.Denom()), loss.Mul(down[least[i]], e.Num()))
		if worst == nil || d.Cmp(worst) > 0 {
			worst, pair = new(big.Int).Set(d), Pair{I: i + 1, J: least[i] + 1}
		}
	}
	return new(big.Rat).SetFrac(worst, unit), pair
}

// TightDelta returns bounds for the least δ >= 0 for which q is (ε, δ)-private
// under d_l, δ = max(0, max_{|i-j| <= l} q_i - e^ε q_j): equal bounds where the law and e^ε are
// exact. The pair is zero where δ = 0 is enough.
func TightDelta(q Law, l int, e number.Epsilon) (lo, hi *big.Rat, pair Pair, err error) {
	if err := cmp.Or(CheckDistance(q.N(), l), e.Check()); err != nil {
		return nil, nil, Pair{}, err
	}
	below, above := e.ExpBounds(logBits)
	lo, _ = q.worstExcess(q.lo, q.hi, l, above)
	hi, pair = q.worstExcess(q.hi, q.lo, l, below)
	if lo.Sign() < 0 {
		lo = new(big.Rat)
	}
	if hi.Sign() <= 0 {
		hi, pair = new(big.Rat), Pair{}
	}
	return lo, hi, pair, nil
}

// Violated returns the first pair of ranks whose inequality q_i <= e^ε q_j + δ
// fails, or the zero Pair if q is (ε, δ)-private under d_l. The verdict is
// exact, whether e^ε is rational or not. The law must be exact.
func Violated(q []*big.Rat, l int, e number.Epsilon, delta *big.Rat) (Pair, error) {
	law := ExactLaw(q)
	if err := cmp.Or(checkQuery(law, l, delta), e.Check()); err != nil {
		return Pair{}, err
	}
	least := windowMin(law.lo, l)
	for i, x := range q {
		if compareExp(e, new(big.Rat).Sub(x, delta), q[least[i]]) > 0 {
			return Pair{I: i + 1, J: least[i] + 1}, nil
		}
	}
	return Pair{}, nil
}

// LargestP returns bounds for the largest p in [0, 1] at which the p-mix of a rule
// with law r and the blind choice is (ε, δ)-private under d_l:
//
//	p = (δ + (e^ε-1)/n) / (D + (e^ε-1)/n),   D = max_{|i-j| <= l} r_i - e^ε r_j
//
// or 1 if D <= δ. With D = r_1 - e^ε r_{l+1} this is Corollary 3 of Grining,
// Klonowski & Sulkowska.
func LargestP(r Law, l int, e number.Epsilon, delta *big.Rat) (lo, hi *big.Rat, err error) {
	if err := cmp.Or(checkQuery(r, l, delta), e.Check()); err != nil {
		return nil, nil, err
	}
	below, above := e.ExpBounds(logBits)
	at := func(up, down []*big.Int, e *big.Rat) *big.Rat {
		worst, _ := r.worstExcess(up, down, l, e)
		return mixLimit(worst, delta, e, r.N())
	}
	// A larger e^ε lets p grow; a larger excess makes it shrink.
	return at(r.hi, r.lo, below), at(r.lo, r.hi, above), nil
}

// mixLimit is the formula of LargestP for a given worst excess D.
func mixLimit(worst, delta, e *big.Rat, n int) *big.Rat {
	one := big.NewRat(1, 1)
	if worst.Cmp(delta) <= 0 {
		return one
	}
	blind := new(big.Rat).Sub(e, one)
	blind.Quo(blind, big.NewRat(int64(n), 1))
	num := new(big.Rat).Add(delta, blind)
	return num.Quo(num, new(big.Rat).Add(worst, blind))
}

// logBits is the precision of printed logarithms and of e^ε.
const logBits = 192

// logBetween returns the number object for ln x, where lo <= x <= hi and lo >= 1; nil stands for +∞.
func logBetween(lo, hi *big.Rat) number.Number {
	if lo == nil {
		return number.Infinity()
	}
	one := big.NewRat(1, 1)
	if hi != nil && hi.Cmp(one) == 0 {
		return number.Exact(new(big.Rat))
	}
	a := number.LogRat(lo, logBits)
	b := a
	if hi == nil {
		b = number.NewInterval(a.Hi(), new(big.Float).SetInf(false))
	} else if hi.Cmp(lo) != 0 {
		b = number.LogRat(hi, logBits)
	}
	return number.Enclosed(number.Hull(a, b))
}

// compareExp returns the sign of a - e^ε·b, exactly. It always ends: where ε != 0 is
// rational, no logarithm of a rational is equal to it (Lindemann 1882), so that some enclosure tells them apart.
func compareExp(e number.Epsilon, a, b *big.Rat) int {
	lo, hi := e.ExpBounds(64)
	switch {
	case b.Sign() == 0:
		return a.Sign()
	case a.Sign() != b.Sign():
		return a.Cmp(b)
	case lo == hi:
		return a.Cmp(new(big.Rat).Mul(lo, b))
	}
	quotient := new(big.Rat).Quo(a, b) // a - e^ε b has the sign of b·(a/b - e^ε)
	for prec := uint(64); ; prec *= 2 {
		if c, ok := number.LogRat(quotient, prec).Cmp(e.Value(prec)); ok {
			return c * b.Sign()
		}
	}
}
