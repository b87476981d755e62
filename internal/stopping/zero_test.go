package stopping

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"optratio/internal/linear"
	"optratio/internal/secretary"
	"optratio/number"
)

// What is left out has a default, what is required is asked for, and nothing panics.
func TestZeroProblem(t *testing.T) {
	ctx, eps := context.Background(), must(number.ParseEpsilon("0.5"))
	payoff := must(TopK(5, 1))
	short := &Problem{Payoff: payoff, Eps: eps}
	sol, err := Solve(ctx, short, Options{})
	if err != nil || sol.Stopped != nil || !strings.HasPrefix(sol.Optimum().String(), "0.") {
		t.Fatal(sol, err)
	}
	long := must(Solve(ctx, &Problem{Payoff: payoff, L: 1, Eps: eps, Delta: new(big.Rat)}, Options{Solvers: []linear.Solver{linear.Embedded{}}, Gap: 1e-9}))
	if sol.Lower.Cmp(long.Lower) != 0 || sol.Upper.Cmp(long.Upper) != 0 {
		t.Errorf("%s, written out %s", sol.Optimum(), long.Optimum())
	}
	if short.L != 0 || short.Delta != nil {
		t.Error("the caller's problem was changed")
	}
	if _, err := short.FreeMix(sol); err != nil {
		t.Error(err)
	}
	if _, _, err := Model(short); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		p    *Problem
		want error
	}{
		"nothing":       {&Problem{}, secretary.ErrRange},
		"no ε":          {&Problem{Payoff: payoff}, number.ErrEpsilon},
		"no payoff":     {&Problem{Eps: eps}, secretary.ErrRange},
		"a nil payoff":  {&Problem{Eps: eps, Payoff: []*big.Rat{nil, payoff[0]}}, secretary.ErrRange},
		"far neighbors": {&Problem{Eps: eps, Payoff: payoff, L: 5}, secretary.ErrRange},
		"negative δ":    {&Problem{Eps: eps, Payoff: payoff, Delta: big.NewRat(-1, 2)}, secretary.ErrRange},
	} {
		if _, err := Solve(ctx, c.p, Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := Model(c.p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
