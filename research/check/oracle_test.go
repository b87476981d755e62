package check_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/evidence/evidencetest"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// The oracle of these tests has multipliers from the solver, whose own certificate the other checker checks.

// problem is an instance, whose ranges are looked at.
type problem struct{ *evidencetest.Program }

type levelRow = evidencetest.Row

var key, rat = evidencetest.Key, evidencetest.Rat

func newProblem(n, k int, expEps, level string) *problem {
	return &problem{evidencetest.New(n, k, expEps, "paper", level)}
}

// answer is the optimum at z, exactly.
func answer(n, k int, level string, z *big.Rat) *lp.Answer {
	eps, err := number.FromExp(new(big.Rat).Inv(z))
	if err != nil {
		panic(err)
	}
	l, err := lp.ParseLevel(level)
	if err != nil {
		panic(err)
	}
	a, err := lp.Ratio(context.Background(), lp.Request{
		N: n, K: k, Epsilon: eps, Method: "lp", Level: l, Exact: true, Certified: true, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()},
	})
	if err != nil {
		panic(err)
	}
	return a
}

// multipliers are optimal ones at z, one for each orbit, without rows of a level.
func multipliers(n, k int, z *big.Rat) []*big.Rat {
	var b bytes.Buffer
	if err := answer(n, k, "paper", z).WriteCertificate(&b); err != nil {
		panic(err)
	}
	var y []*big.Rat
	for _, line := range split(b.String()) {
		if f := strings.Fields(line); f[0] == "dual" {
			x, _ := new(big.Rat).SetString(f[len(f)-1])
			y = append(y, x)
		}
	}
	return y
}

func counts(m []int) string { return strings.Trim(fmt.Sprint(m), "[]") }

func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
