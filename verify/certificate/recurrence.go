package certificate

import (
	"fmt"

	"optratio/internal/evidence"
	"optratio/number"
)

// recurrence reports whether permute-and-flip is optimal, and why that does not follow.
//
// With Y_1 = 0, Y_{j+1} = A - B' Y_j the point y(m) = Y_{m_0} is dual feasible if Y_j >= 0 for all j <= n: on the chain of
// others with j best ones, λ_t = Σ_{u=t}^k z^{u-t} (u - Y_j) for t >= 1 and z λ_1 = A - B' Y_j = Y_{j+1}, so that all reduced
// costs are 0 at depth 0 and above; and as the terms of λ_1 are first negative and then not, λ_1 >= 0 implies λ_t >= 0.
// It has permute-and-flip's value by complementary slackness, every (P) row being tight there. Y_2 = A >= 0, which is all for n <= 2. For k = 1, A =
// B' = z <= 1, and Y_j in [0, 1] implies Y_{j+1} = z (1 - Y_j) in [0, 1]. For B' <= 1, Y_j in [0, A] implies Y_{j+1} in [0, A].
// Under the objective box this holds for each lesser depth, for which B' is less; for n = 3 less is enough (threeInABox).
func (c *certificate) recurrence(sum number.Number, prec uint) (evidence.Verdict, string) {
	if c.n <= 2 || c.k <= 1 {
		return evidence.Holds, ""
	}
	v := evidence.AtMost(sum, number.Int(1))
	if v == evidence.Fails && c.box && c.n == 3 {
		return c.threeInABox(prec)
	}
	return v, fmt.Sprintf("proof dual-recurrence: needs n <= 2, k <= 1 or z + … + z^k <= 1, which is %v", sum)
}

// threeInABox decides the condition under which permute-and-flip is optimal for three candidates and the objective box.
//
// The program is the sum of those over the depths j <= k, and so is the dual point: y(m) = Σ_{j >= deepest(m)} Y^{(j)}_{m_0} with
// Y^{(j)}_1 = 0, Y^{(j)}_2 = A_j = Σ_{v<=j} v z^v. On a chain whose two others are not both best ones, λ_t is a sum of terms u z^{u-t} >= 0.
// On the chain where both are, λ_t = Σ_{u=t}^k z^{u-t} Σ_{j=u}^k (u - A_j) for t >= 1, which all have to be >= 0; the (E) row
// of the three tied then has z λ_1, so that no reduced cost is left.
func (c *certificate) threeInABox(prec uint) (evidence.Verdict, string) {
	k := c.k
	z := number.Enclosed(c.enclose(prec))
	if c.z != nil && c.closedBits() <= evidence.MaxClosedBits {
		z = number.Exact(c.z)
	}
	whole := func(i int) number.Number { return number.Int(int64(i)) }
	means := make([]number.Number, k+1) // A_j
	power := whole(1)
	means[0] = whole(0)
	for j := 1; j <= k; j++ {
		power = power.Mul(z)
		means[j] = means[j-1].Add(whole(j).Mul(power))
	}
	all := evidence.Holds
	tail, lambda := whole(0), whole(0)
	for u := k; u >= 1; u-- {
		tail = tail.Add(means[u])
		lambda = whole(u * (k - u + 1)).Sub(tail).Add(z.Mul(lambda))
		v := evidence.AtMost(whole(0), lambda)
		if v == evidence.Fails {
			return evidence.Fails, fmt.Sprintf("proof dual-recurrence: the multiplier at depth %d is %v", u, lambda)
		}
		all = all.And(v)
	}
	return all, "proof dual-recurrence: the signs of the multipliers are not decided"
}
