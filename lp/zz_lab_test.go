package lp

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"optratio/lattice"
	"optratio/lp/linear"
	"optratio/mechanisms"
)

func TestLab(t *testing.T) {
	for _, c := range strings.Split(os.Getenv("LAB"), ";") {
		var n, k int
		var e string
		fmt.Sscan(c, &n, &k, &e)
		eps, err := mechanisms.ParseEpsilon(e)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := enumerate(context.Background(), n, k, lattice.Paper, Paper, eps)
		begin := time.Now()
		o := p.firstOrder(big.NewRat(1, 1e9))
		m := p.Model()
		o.run(context.Background(), nil, func() {})
		fmt.Printf("bound %.12f pf %.3e primal %.3e infeas %.3e omega %.3g\n", o.ascent.Bound, o.flip/o.ascent.Bound-1, o.ascent.Primal/o.ascent.Bound-1, o.ascent.Infeasible, o.ascent.Omega)
		fmt.Println(c, "need", o.need, "found", len(o.injections()), "its", o.ascent.Iterations, time.Since(begin))
		begin = time.Now()
		r, err := linear.Embedded{}.Crossover(context.Background(), m, o.start(), func(q linear.Progress) {
			fmt.Printf("   %d obj %.10f primal %.3e dual %.3e\n", q.Pivots, q.Objective, q.PrimalInfeasible, q.DualInfeasible)
		})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(r.Outcome, r.Pivots, time.Since(begin))
		prop := p.fromResult(r)
		b := p.enclose(prop, 128)
		lo, _ := b.lower.Float64()
		up, _ := b.upper.Float64()
		fmt.Printf("lower %.12g rel %.3e objective %.12g\n", lo, up/lo-1, r.Objective)
	}
}
