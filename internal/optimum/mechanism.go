package optimum

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/decimal"
	"optratio/internal/table"
	"optratio/number"
)

// Mechanism is an optimal mechanism in dyadic probabilities, private as it is written, from which one can draw exactly.
type Mechanism struct {
	Bits    uint          `json:"bits"`     // probabilities are multiples of 2^-bits
	Value   number.Number `json:"value"`    // its loss, exactly
	GivenUp number.Number `json:"given_up"` // by how much that exceeds the optimum

	inputs, outputs []string
	count           [][]*big.Int // of each output at each input, in units of 2^-bits
}

// Sample draws an output at an input, with exactly the probabilities of the table if the bits of random are fair and independent. It takes the same number of them
// every time, Bits rounded up to whole bytes, but the time it takes depends on the input and the output.
func (m *Mechanism) Sample(input string, random io.Reader) (output string, err error) {
	x := slices.Index(m.inputs, input)
	if x < 0 {
		return "", fmt.Errorf("no such input: %q", input)
	}
	raw := make([]byte, (m.Bits+7)/8)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", err
	}
	at := new(big.Int).SetBytes(raw)
	at.Rsh(at, uint(len(raw))*8-m.Bits)
	for o, c := range m.count[x] {
		if at.Sub(at, c).Sign() < 0 {
			return m.outputs[o], nil
		}
	}
	return "", fmt.Errorf("optimum: the probabilities at %q sum to less than 1", input)
}

// WriteCSV writes the table with the columns input, output and probability, as exact decimals. ReadTable reads it.
func (m *Mechanism) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"input", "output", "probability"}) // Error tells of all errors
	for x, row := range m.Table() {
		for o, p := range row {
			_ = c.Write([]string{m.inputs[x], m.outputs[o], decimal.Text(p)})
		}
	}
	c.Flush()
	return c.Error()
}

// WriteJSONL writes the table as audits read it, a line {"input":…,"pmf":{…}} for each input, in exact fractions.
func (m *Mechanism) WriteJSONL(w io.Writer) error {
	for x, row := range m.Table() {
		pmf := map[string]string{}
		for o, p := range row {
			pmf[m.outputs[o]] = p.RatString()
		}
		if _, err := fmt.Fprintf(w, "{\"input\":%s,\"pmf\":%s}\n", jsonText(m.inputs[x]), jsonText(pmf)); err != nil {
			return err
		}
	}
	return nil
}

var errNotRounded = errors.New("no private table of dyadic probabilities was found near the optimum")

// Round returns the optimal mechanism in dyadic probabilities. It is verified after rounding, for all pairs of the problem, that it is (ε,δ)-DP and has no forbidden
// output. Where the table of the optimum has no slack, as much of a table with slack is mixed in as rounding needs.
func (a *Result) Round(ctx context.Context) (*Mechanism, error) {
	if a.program == nil {
		return nil, errNotRounded
	}
	if a.rounded != nil {
		return a.rounded, nil
	}
	q := a.program
	values, inside := make([]*big.Rat, len(q.table.Count)), q.table.Interior
	for j := range values {
		values[j] = a.solution.Table.At(j)
	}
	arcs, distances := q.problem.arcs()
	for _, bits := range []uint{53, 106, 212, 424} {
		z := make([]*big.Rat, len(distances))
		for i, d := range distances {
			_, z[i] = table.Between(q.epsilon, d, 2*bits+128)
		}
		for share := -int(bits) - 2; share < 0; share += 2 {
			if share > -30 && bits < 424 {
				break // more bits give up less
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			mixed := values
			if share >= -int(bits) {
				mixed = mix(values, inside, new(big.Rat).SetFrac(unit, new(big.Int).Lsh(unit, uint(-share))))
			}
			m := q.dyadic(mixed, bits)
			if !private(m.count, new(big.Int).Lsh(unit, bits), arcs, z, q.delta) {
				continue
			}
			value := q.problem.value(m.Table())
			low, _ := a.Optimum.Ends()
			given := number.Exact(new(big.Rat).Sub(value, low))
			if !arith.IsExact(a.Optimum) {
				given = number.Between(number.Int(0), given)
			}
			m.Value, m.GivenUp, a.rounded = number.Exact(value), given, m
			return m, nil
		}
	}
	return nil, errNotRounded
}

// mix returns (1-share) x + share y.
func mix(x, y []*big.Rat, share *big.Rat) []*big.Rat {
	out, rest := make([]*big.Rat, len(x)), new(big.Rat).Sub(one, share)
	for j := range out {
		out[j] = new(big.Rat).Mul(x[j], rest)
		out[j].Add(out[j], new(big.Rat).Mul(y[j], share))
	}
	return out
}

// dyadic rounds probabilities of cells down to multiples of 2^-bits, and the largest rests up, so that every input's sum to 1. Equal rows become equal ones, and
// what is 0 stays so.
func (q *program) dyadic(values []*big.Rat, bits uint) *Mechanism {
	p := q.problem
	m := &Mechanism{Bits: bits, inputs: p.Inputs, outputs: p.Outputs}
	whole := new(big.Int).Lsh(unit, bits)
	floor, rest := make([]*big.Int, len(values)), make([]*big.Rat, len(values))
	for j, x := range values {
		n, r := new(big.Int).QuoRem(new(big.Int).Lsh(x.Num(), bits), x.Denom(), new(big.Int))
		floor[j], rest[j] = n, new(big.Rat).SetFrac(r, x.Denom())
	}
	rank := ranks(rest)
	for _, cells := range q.inputs() {
		row, order, missing := make([]*big.Int, len(cells)), make([]int, len(cells)), new(big.Int).Set(whole)
		for o, j := range cells {
			row[o], order[o] = floor[j], o
			missing.Sub(missing, floor[j])
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[cells[a]], rank[cells[b]]) })
		for _, o := range order[:min(int(missing.Int64()), len(order))] {
			row[o] = new(big.Int).Add(row[o], unit)
		}
		m.count = append(m.count, row)
	}
	return m
}

// ranks numbers values from the largest down; equal ones have the same number.
func ranks(values []*big.Rat) []int {
	order, rank := make([]int, len(values)), make([]int, len(values))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int { return values[b].Cmp(values[a]) })
	for i, j := range order {
		if rank[j] = i; i > 0 && values[j].Cmp(values[order[i-1]]) == 0 {
			rank[j] = rank[order[i-1]]
		}
	}
	return rank
}

// private reports whether the table with the probabilities count/whole is (ε,δ)-DP on all arcs, at upper ends z of the factors e^{-dε}.
func private(count [][]*big.Int, whole *big.Int, arcs []arc, z []*big.Rat, delta *big.Rat) bool {
	room := make([]*big.Rat, len(z)) // zδ in units of one over whole and the denominator of z
	for i, x := range z {
		room[i] = new(big.Rat).SetInt(new(big.Int).Mul(x.Num(), whole))
		room[i].Mul(room[i], delta)
	}
	var left, right big.Int
	for _, a := range arcs {
		sum := new(big.Int)
		for o, b := range count[a.below] {
			right.Mul(b, z[a.distance].Num())
			left.Mul(count[a.above][o], z[a.distance].Denom())
			if right.Cmp(&left) > 0 {
				sum.Add(sum, right.Sub(&right, &left))
			}
		}
		if sum.Sign() > 0 && new(big.Rat).SetInt(sum).Cmp(room[a.distance]) > 0 {
			return false
		}
	}
	return true
}

// Table returns the probability of each output at each input.
func (m *Mechanism) Table() [][]*big.Rat {
	whole := new(big.Int).Lsh(unit, m.Bits)
	out := make([][]*big.Rat, len(m.count))
	for x, row := range m.count {
		for _, n := range row {
			out[x] = append(out[x], new(big.Rat).SetFrac(n, whole))
		}
	}
	return out
}
