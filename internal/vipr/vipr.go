// Package vipr writes certificates in the VIPR format, version 1.0, which independent checkers read. What it writes need not be trusted: they check it.
//
// Source: Cheung, Gleixner & Steffy, Verifying Integer Programming Results (IPCO 2017).
package vipr

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"strings"

	"optratio/verify/certificate"
)

// Export checks the certificate in and writes what it proves about the program's minimum, that is the optimum
// times ΣW: the program, a feasible point, and one derivation of the lower bound from the rows. The rows of levels above paper are those that the
// certificate has multipliers of, so that the point is feasible for more than the file says.
//
// The certificate must be valid and e^ε rational; proofs without multipliers get theirs from the theorems they
// rest on. The errors are those of certificate.ReadProof.
func Export(out io.Writer, in io.Reader, o certificate.Options) error {
	p, err := certificate.ReadProof(in, o)
	if err != nil {
		return err
	}
	w := newWriter(out, p)
	y := p.Dual
	if p.Kind != "lp" {
		y = w.byTheorem()
	}
	w.walk(y)
	w.header()
	w.constraints()
	w.bounds()
	w.derivation()
	return w.Flush()
}

// writer writes the sections of a VIPR file. Its constraints are, in this order, u_i >= 0 for every variable, (E) for every
// count vector, (P) and (T) for every variable that has one before it, and the cuts' rows.
type writer struct {
	*bufio.Writer
	*certificate.Proof
	orbits    [][]int
	many      []*big.Int     // N(m)
	variables []variable     // by orbit, then depth
	number    map[string]int // of a variable

	lambda, slack []*big.Rat // per variable: of (P) or (T), and of u_i >= 0
	least         []*big.Rat // y', per count vector
}

// variable is (m, v).
type variable struct {
	orbit, v int
	before   int // the variable before it on its chain, or -1
}

func newWriter(out io.Writer, p *certificate.Proof) *writer {
	w := &writer{Writer: bufio.NewWriter(out), Proof: p, number: map[string]int{}}
	m := make([]int, p.K+1)
	w.enumerate(m, 0, p.N)
	for i := range w.variables {
		q := &w.variables[i]
		copy(m, w.orbits[q.orbit])
		q.before = -1
		switch {
		case q.v > 0:
			m[q.v]--
			m[q.v-1]++
			q.before = w.number[name(m, q.v-1)]
		case p.K > 0 && m[p.K] == 0: // all others go down by a step
			copy(m[1:], w.orbits[q.orbit])
			m[0] = 1
			m[1]--
			q.before = w.number[name(m, 0)]
		}
		if q.before == i {
			q.before = -1
		}
	}
	return w
}

// enumerate adds the count vectors that begin like m, with left candidates at depth v and below, in descending lexicographic order.
func (w *writer) enumerate(m []int, v, left int) {
	if v < w.K {
		least := 0
		if v == 0 {
			least = 1
		}
		for m[v] = left; m[v] >= least; m[v]-- {
			w.enumerate(m, v+1, left-m[v])
		}
		m[v] = 0
		return
	}
	m[v] = left
	many := new(big.Int).MulRange(1, int64(w.N))
	for v, count := range m {
		if count > 0 {
			w.number[name(m, v)] = len(w.variables)
			w.variables = append(w.variables, variable{orbit: len(w.orbits), v: v})
			many.Quo(many, new(big.Int).MulRange(1, int64(count)))
		}
	}
	w.orbits, w.many = append(w.orbits, append([]int(nil), m...)), append(w.many, many)
}

// name is u_M_V in the file.
func name(m []int, v int) string {
	return fmt.Sprintf("u_%s_d%d", strings.ReplaceAll(strings.Trim(fmt.Sprint(m), "[]"), " ", "_"), v)
}

// deepest returns the greatest depth of a count vector.
func deepest(m []int) int {
	v := len(m) - 1
	for m[v] == 0 {
		v--
	}
	return v
}

// cost returns f(m) v.
func (w *writer) cost(q variable) int {
	if w.Objective == "box" {
		return q.v * (w.K - deepest(w.orbits[q.orbit]) + 1)
	}
	return q.v
}

// byTheorem returns the multipliers that the proof by theorem says there are.
func (w *writer) byTheorem() []*big.Rat {
	// f(m) = Σ over the lesser depths of the objective box, and one term otherwise.
	least := w.K
	if w.Objective == "box" {
		least = 0
	}
	byBest := make(map[[2]int]*big.Rat) // multiplier, by depth and m_0
	slope := make(map[int]*big.Rat)     // by depth j: what it falls by for each step that the deepest is above j; none if it depends on m_0
	a, sum, power := new(big.Rat), new(big.Rat), big.NewRat(1, 1)
	one := big.NewRat(1, 1)
	for j := 0; j <= w.K; j++ {
		if j > 0 {
			power = new(big.Rat).Mul(power, w.Z)
			sum = new(big.Rat).Add(sum, power)
			a = new(big.Rat).Add(a, new(big.Rat).Mul(big.NewRat(int64(j), 1), power))
		}
		if j < least {
			continue
		}
		mean := new(big.Rat).Quo(a, new(big.Rat).Add(one, sum)) // A/(1+B')
		y := new(big.Rat)
		crowded := w.N >= 2 && sum.Cmp(one) >= 0 && new(big.Rat).Mul(big.NewRat(int64(w.N), 1), sum).Cmp(big.NewRat(int64(j), 1)) >= 0
		if w.Kind == "dual-closed-form" && crowded {
			y = mean
			slope[j] = new(big.Rat).Quo(y, sum)
		}
		for best := 1; best <= w.N; best++ {
			byBest[[2]int{j, best}] = y
			if y = mean; w.Kind == "dual-recurrence" {
				y = new(big.Rat).Sub(a, new(big.Rat).Mul(sum, byBest[[2]int{j, best}]))
			}
		}
	}
	var dual []*big.Rat
	for _, m := range w.orbits {
		y := new(big.Rat)
		for j := max(deepest(m), least); j <= w.K; j++ {
			y.Add(y, byBest[[2]int{j, m[0]}])
			if slope[j] != nil {
				y.Sub(y, new(big.Rat).Mul(slope[j], big.NewRat(int64(j-deepest(m)), 1)))
			}
		}
		dual = append(dual, y)
	}
	return dual
}

// row returns the variables a and b of a cut's row u_a >= ρ u_b, and ρ.
func (w *writer) row(q certificate.Cut) (a, b int, rho *big.Rat) {
	a, b = w.number[name(q.M, q.V)], w.number[name(q.L, q.W)]
	weight := func(i int) *big.Int {
		x := w.variables[i]
		return new(big.Int).Mul(w.many[x.orbit], big.NewInt(int64(w.orbits[x.orbit][x.v])))
	}
	if rho = new(big.Rat).SetFrac(weight(a), weight(b)); q.Privacy {
		rho.Mul(rho, w.Z)
	}
	return a, b, rho
}

// walk works out all multipliers: λ_i = max(0, c_i + z λ_{i+1} - y_i) along each chain from its deep end, λ = 0 at the first position, and y'(m), the least
// c_i + z λ_{i+1} - λ_i among the variables of m.
func (w *writer) walk(y []*big.Rat) {
	costs := make([]*big.Rat, len(w.variables))
	ends := make([]bool, len(w.variables)) // of chains, at the deep end
	for i, q := range w.variables {
		costs[i], ends[i] = big.NewRat(int64(w.cost(q)), 1), true
	}
	for _, q := range w.Cuts {
		a, b, rho := w.row(q)
		costs[a].Sub(costs[a], q.Mu)
		costs[b].Add(costs[b], rho.Mul(rho, q.Mu))
	}
	for _, q := range w.variables {
		if q.before >= 0 {
			ends[q.before] = false
		}
	}
	w.lambda, w.slack = make([]*big.Rat, len(w.variables)), make([]*big.Rat, len(w.variables))
	w.least = make([]*big.Rat, len(w.orbits))
	for end := range w.variables {
		if !ends[end] {
			continue
		}
		lambda := new(big.Rat)
		for i := end; i >= 0; i = w.variables[i].before {
			q := w.variables[i]
			reduced := new(big.Rat).Mul(w.Z, lambda)
			reduced.Add(reduced, costs[i])
			if lambda = new(big.Rat).Sub(reduced, y[q.orbit]); lambda.Sign() < 0 || q.before < 0 {
				lambda.SetInt64(0)
			}
			w.lambda[i], w.slack[i] = lambda, reduced.Sub(reduced, lambda)
			if least := w.least[q.orbit]; least == nil || least.Cmp(reduced) > 0 {
				w.least[q.orbit] = reduced
			}
		}
	}
	for i, q := range w.variables {
		w.slack[i] = new(big.Rat).Sub(w.slack[i], w.least[q.orbit])
	}
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w.Writer, format, args...) }

func (w *writer) header() {
	w.printf("%% the optimal-mechanism program for n %d, k %d, exp-epsilon %s, objective %s, constraints %s\n",
		w.N, w.K, new(big.Rat).Inv(w.Z).RatString(), w.Objective, w.Constraints)
	w.printf("%% u_M_V is N(M) M_V times the probability of one candidate at depth V\n")
	w.printf("VER 1.0\nVAR %d\n", len(w.variables))
	costs, count := new(strings.Builder), 0
	for i, q := range w.variables {
		w.printf("%s\n", name(w.orbits[q.orbit], q.v))
		if q.v > 0 {
			fmt.Fprintf(costs, " %d %d\n", i, w.cost(q))
			count++
		}
	}
	w.printf("INT 0\nOBJ min\n%d\n%s", count, costs)
}

func (w *writer) constraints() {
	chained := 0
	for _, q := range w.variables {
		if q.before >= 0 {
			chained++
		}
	}
	size := len(w.variables)
	w.printf("CON %d %d\n", size+len(w.orbits)+chained+len(w.Cuts), size)
	for i := range size {
		w.printf("B%d G 0 1 %d 1\n", i, i)
	}
	i := 0
	for rank, many := range w.many {
		first := i
		for i < size && w.variables[i].orbit == rank {
			i++
		}
		w.printf("E%d E %v %d", rank, many, i-first)
		for j := first; j < i; j++ {
			w.printf(" %d 1", j)
		}
		w.printf("\n")
	}
	z := new(big.Rat).Neg(w.Z).RatString()
	for i, q := range w.variables {
		if q.before >= 0 {
			w.printf("P%d G 0 2 %d 1 %d %s\n", i, i, q.before, z)
		}
	}
	for i, q := range w.Cuts {
		a, b, rho := w.row(q)
		w.printf("C%d G 0 2 %d 1 %d %s\n", i, a, b, rho.Neg(rho).RatString())
	}
}

// low is the bound that the multipliers prove.
func (w *writer) low() *big.Rat {
	sum := new(big.Rat)
	for rank, many := range w.many {
		sum.Add(sum, new(big.Rat).Mul(w.least[rank], new(big.Rat).SetInt(many)))
	}
	return sum
}

// bounds writes what is proved, and the feasible point.
func (w *writer) bounds() {
	high := new(big.Rat)
	for i, q := range w.variables {
		high.Add(high, new(big.Rat).Mul(w.Point[i], big.NewRat(int64(w.cost(q)), 1)))
	}
	w.printf("RTP range %s %s\nSOL 1\npoint %d\n", w.low().RatString(), high.RatString(), len(w.Point))
	for i, u := range w.Point {
		w.printf(" %d %s\n", i, u.RatString())
	}
}

// derivation writes the lower bound as a combination of the constraints whose left-hand side is the objective: with
// the multipliers c_i + z λ_{i+1} - λ_i - y'(m) of u_i >= 0, y' of (E), λ_i of (P) and (T), and μ of the cuts.
func (w *writer) derivation() {
	text := new(strings.Builder)
	count, row := 0, 0
	add := func(x *big.Rat) {
		if x.Sign() != 0 {
			fmt.Fprintf(text, " %d %s\n", row, x.RatString())
			count++
		}
		row++
	}
	for _, s := range w.slack {
		add(s)
	}
	for _, y := range w.least {
		add(y)
	}
	for i, q := range w.variables {
		if q.before >= 0 {
			add(w.lambda[i])
		}
	}
	for _, q := range w.Cuts {
		add(q.Mu)
	}
	w.printf("DER 1\nbound G %s OBJ { lin %d\n%s } -1\n", w.low().RatString(), count, text)
}
