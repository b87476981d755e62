package certificate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"optratio/number"
	"optratio/number/arith"
)

// Errors that ExportVIPR wraps.
var (
	// ErrInvalid: the certificate is not valid.
	ErrInvalid = errors.New("the certificate is not valid")
	// ErrIrrational: e^ε is not rational, so that the program has no exact form.
	ErrIrrational error = number.InputError("e^epsilon is not rational")
)

// ExportVIPR checks the certificate in and writes what it proves about the program's minimum, that is the optimum
// times ΣW, as a certificate in the VIPR format, version 1.0: the program, a feasible point, and one derivation of the
// lower bound from the rows. The rows of levels above paper are those that the certificate has multipliers of, so
// that the point is feasible for more than the file says.
//
// The certificate must be valid and e^ε rational; proofs without multipliers get theirs from the theorems they
// rest on. The errors are those of Check and ErrInvalid and ErrIrrational.
func ExportVIPR(out io.Writer, in io.Reader, o Options) error {
	o = o.withDefaults()
	r, _, s, err := open(in, o)
	if err != nil {
		return err
	}
	c, ok := s.(*certificate)
	if !ok && s != nil {
		return errors.New("only certificates of section program can be written in the VIPR format")
	}
	if ok {
		c.read(r, o)
		r.end()
	}
	var form malformed
	switch {
	case errors.As(r.err, &form):
		return fmt.Errorf("%w: %w", ErrInvalid, r.err)
	case r.err != nil:
		return r.err
	}
	if c.proof == "lumped" {
		return errors.New("proof lumped has no form in the VIPR format, which lists the rows of the whole program")
	}
	ck, err := newChecker(c, o)
	if err != nil {
		return err
	}
	if ck.z == nil {
		return ErrIrrational
	}
	if why, err := ck.decide(); err != nil {
		return err
	} else if why != "" {
		return fmt.Errorf("%w: %s", ErrInvalid, why)
	}
	if err := ck.expand(); err != nil {
		return err
	}
	dual, primal, err := ck.rings()
	if err != nil {
		return err
	}
	size := ck.number()
	keep := &multipliers[scaled]{
		lambda: make([]scaled, size), slack: make([]scaled, size), before: make([]int, size), y: make([]scaled, len(ck.dual)),
	}
	low, err := lower(ck.program, dual, keep)
	if err != nil {
		return err
	}
	x, err := upper(ck.program, primal)
	if err != nil {
		return err
	}
	w := &viprWriter{Writer: bufio.NewWriter(out), checker: ck, size: size, before: keep.before}
	w.header()
	w.constraints()
	w.printf("RTP range %s %s\n", dual.value(low).rat.RatString(), x.mixed.rat.RatString())
	w.solution(primal, x)
	w.derivation(dual, keep, low)
	return w.Flush()
}

// expand gives a proof by theorem the multipliers that the theorem says it has.
func (ck *checker) expand() error {
	if ck.cert.proof == "lp" {
		return nil
	}
	if err := ck.o.fits(ck.cert.n, ck.cert.k); err != nil {
		return err
	}
	if ck.lattice == nil {
		ck.lattice = newLattice(ck.cert.n, ck.cert.k)
	}
	// f(m) = Σ over the lesser depths of the objective box, and one term otherwise.
	least := ck.k
	if ck.box {
		least = 0
	}
	byBest := make(map[[2]int]*big.Rat) // multiplier, by depth and m_0
	slope := make(map[int]*big.Rat)     // by depth j: what it falls by for each step that the deepest is above j; none if it depends on m_0
	a, sum, power := new(big.Rat), new(big.Rat), big.NewRat(1, 1)
	one := big.NewRat(1, 1)
	for j := 0; j <= ck.k; j++ {
		if j > 0 {
			power = new(big.Rat).Mul(power, ck.z)
			sum = new(big.Rat).Add(sum, power)
			a = new(big.Rat).Add(a, new(big.Rat).Mul(big.NewRat(int64(j), 1), power))
		}
		if j < least {
			continue
		}
		y := new(big.Rat)
		if ck.cert.proof == "dual-closed-form" && crowded(arith.Rat{}, negative, sum, ck.n, j) {
			y.Quo(a, new(big.Rat).Add(one, sum))
			slope[j] = new(big.Rat).Quo(y, sum)
		}
		for best := 1; best <= ck.n; best++ {
			byBest[[2]int{j, best}] = y
			if ck.cert.proof == "dual-recurrence" {
				y = new(big.Rat).Sub(a, new(big.Rat).Mul(sum, y))
			} else {
				y = new(big.Rat).Quo(a, new(big.Rat).Add(one, sum))
			}
		}
	}
	for _, m := range ck.orbits() {
		y := new(big.Rat)
		for j := max(deepest(m), least); j <= ck.k; j++ {
			y.Add(y, byBest[[2]int{j, m[0]}])
			if slope[j] != nil {
				y.Sub(y, new(big.Rat).Mul(slope[j], big.NewRat(int64(j-deepest(m)), 1)))
			}
		}
		ck.dual = append(ck.dual, y)
	}
	return nil
}

// viprWriter writes the sections of a VIPR file. Its constraints are, in this order, u_i >= 0 for every variable, (E) for every
// count vector, (P) and (T) for every variable that has one before it, and the cuts' rows.
type viprWriter struct {
	*bufio.Writer
	*checker
	size   int
	before []int // the variable before, or -1
}

func (w *viprWriter) printf(format string, args ...any) { fmt.Fprintf(w.Writer, format, args...) }

func (w *viprWriter) header() {
	c := w.cert
	w.printf("%% the optimal-mechanism program for n %d, k %d, exp-epsilon %s, objective %s, constraints %s\n",
		c.n, c.k, new(big.Rat).Inv(w.z).RatString(), c.objective, c.constraints)
	w.printf("%% u_M_V is N(M) M_V times the probability of one candidate at depth V\n")
	w.printf("VER 1.0\nVAR %d\n", w.size)
	costs := new(strings.Builder)
	count, i := 0, 0
	for _, m := range w.orbits() {
		name := strings.ReplaceAll(strings.Trim(fmt.Sprint(m), "[]"), " ", "_")
		for v, here := range m {
			if here == 0 {
				continue
			}
			w.printf("u_%s_d%d\n", name, v)
			if v > 0 {
				fmt.Fprintf(costs, " %d %d\n", i, v*w.factor(m))
				count++
			}
			i++
		}
	}
	w.printf("INT 0\nOBJ min\n%d\n%s", count, costs)
}

// chained returns the number of (P) and (T) rows.
func (w *viprWriter) chained() int {
	count := 0
	for _, b := range w.before {
		if b >= 0 {
			count++
		}
	}
	return count
}

func (w *viprWriter) constraints() {
	w.printf("CON %d %d\n", w.size+len(w.start)+w.chained()+len(w.cuts), w.size)
	for i := range w.size {
		w.printf("B%d G 0 1 %d 1\n", i, i)
	}
	for rank, m := range w.orbits() {
		i := w.start[rank]
		end := w.size
		if rank+1 < len(w.start) {
			end = w.start[rank+1]
		}
		w.printf("E%d E %v %d", rank, w.multiplicity(m), end-i)
		for ; i < end; i++ {
			w.printf(" %d 1", i)
		}
		w.printf("\n")
	}
	z := new(big.Rat).Neg(w.z).RatString()
	for i, b := range w.before {
		if b >= 0 {
			w.printf("P%d G 0 2 %d 1 %d %s\n", i, i, b, z)
		}
	}
	for i, q := range w.cuts {
		rho := q.ratio(w.lattice)
		if q.privacy {
			rho.Mul(rho, w.z)
		}
		w.printf("C%d G 0 2 %d 1 %d %s\n", i, w.variable(w.rank(q.m), q.m, q.v), w.variable(w.rank(q.l), q.l, q.w), rho.Neg(rho).RatString())
	}
}

// solution writes the feasible point: the mixture of the injections' with permute-and-flip.
func (w *viprWriter) solution(r *exact, x *primal[scaled]) {
	w.printf("SOL 1\npoint %d\n", w.size)
	for i := range x.u {
		u := r.value(x.u[i])
		if x.theta.rat.Sign() != 0 {
			u = u.add(x.theta.mul(r.value(x.flip[i]).sub(u)))
		}
		w.printf(" %d %s\n", i, u.rat.RatString())
	}
}

// derivation writes the lower bound as a combination of the constraints whose left-hand side is the objective: with
// the multipliers λ_i of (P) and (T), y' of (E), μ of the cuts, and c_i + z λ_{i+1} - λ_i - y'(m) of u_i >= 0.
func (w *viprWriter) derivation(r *exact, keep *multipliers[scaled], low scaled) {
	text := new(strings.Builder)
	count, row := 0, 0
	add := func(x *big.Rat) {
		if x.Sign() != 0 {
			fmt.Fprintf(text, " %d %s\n", row, x.RatString())
			count++
		}
		row++
	}
	for _, s := range keep.slack {
		add(r.value(s).rat)
	}
	for _, y := range keep.y {
		add(r.value(y).rat)
	}
	for i, b := range w.before {
		if b >= 0 {
			add(r.value(keep.lambda[i]).rat)
		}
	}
	for _, q := range w.cuts {
		add(q.mu)
	}
	w.printf("DER 1\nbound G %s OBJ { lin %d\n%s } -1\n", r.value(low).rat.RatString(), count, text)
}
