package optimum

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"optratio/internal/decimal"
	"optratio/number"
)

// Mechanism is a table of dyadic probabilities, from which one can draw exactly.
type Mechanism struct {
	Inputs, Outputs []string
	Bits            uint
	Count           [][]*big.Int // of each output at each input, in units of 2^-Bits
}

// Drawn is an output that a mechanism drew at an input.
type Drawn struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

// Probability returns the probability of an output at an input, by their places.
func (m *Mechanism) Probability(x, o int) *big.Rat {
	return new(big.Rat).SetFrac(m.Count[x][o], new(big.Int).Lsh(unit, m.Bits))
}

// ErrInput says that a mechanism has no such input.
var ErrInput = errors.New("no such input")

// Sample draws an output at an input, with exactly the probabilities of the table if the bits of random are fair and independent. It takes the same number of them
// every time, Bits rounded up to whole bytes, but the time it takes depends on the input and the output.
func (m *Mechanism) Sample(input string, random io.Reader) (output string, err error) {
	x := slices.Index(m.Inputs, input)
	if x < 0 {
		return "", fmt.Errorf("%w: %q", ErrInput, input)
	}
	raw := make([]byte, (m.Bits+7)/8)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", err
	}
	at := new(big.Int).SetBytes(raw)
	at.Rsh(at, uint(len(raw))*8-m.Bits)
	for o, c := range m.Count[x] {
		if at.Sub(at, c).Sign() < 0 {
			return m.Outputs[o], nil
		}
	}
	return "", fmt.Errorf("optimum: the probabilities at %q sum to less than 1", input)
}

// WriteCSV writes the table with the columns input, output and probability, as exact decimals. ReadTable reads it.
func (m *Mechanism) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"input", "output", "probability"}) // Error tells of all errors
	for x, row := range m.Count {
		for o := range row {
			_ = c.Write([]string{m.Inputs[x], m.Outputs[o], decimal.Text(m.Probability(x, o))})
		}
	}
	c.Flush()
	return c.Error()
}

// WriteJSONL writes the table as audits read it, a line {"input":…,"pmf":{…}} for each input, in exact fractions.
func (m *Mechanism) WriteJSONL(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for x, row := range m.Count {
		pmf := map[string]string{}
		for o := range row {
			pmf[m.Outputs[o]] = m.Probability(x, o).RatString()
		}
		if err := e.Encode(struct {
			Input string            `json:"input"`
			PMF   map[string]string `json:"pmf"`
		}{m.Inputs[x], pmf}); err != nil {
			return err
		}
	}
	return nil
}

// Rounded is an optimal mechanism in dyadic probabilities: private as it is written, for a little loss.
type Rounded struct {
	Mechanism *Mechanism    `json:"-"`
	Bits      uint          `json:"bits"`     // probabilities are multiples of 2^-bits
	Value     number.Number `json:"value"`    // its loss, exactly
	GivenUp   number.Number `json:"given_up"` // by how much that exceeds the optimum
}

// ErrNotRounded says that no table of dyadic probabilities that is private was found.
var ErrNotRounded = errors.New("no private table of dyadic probabilities was found near the optimum")

// Round returns the optimal mechanism in dyadic probabilities. It is verified after rounding, for all pairs of the problem, that it is (ε,δ)-DP and has no forbidden
// output. Where the table of the optimum has no slack, as much of a table with slack is mixed in as rounding needs.
func (a *Result) Round(ctx context.Context) (*Rounded, error) {
	if a.program == nil {
		return nil, ErrNotRounded
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
			_, z[i] = enclose(q.epsilon, d, 2*bits+128)
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
			if !m.private(arcs, z, a.request.Delta) {
				continue
			}
			value := q.problem.value(m.Table())
			low, _ := a.Optimum.Ends()
			given := number.Exact(new(big.Rat).Sub(value, low))
			if !a.Optimum.IsExact() {
				given = number.Between(number.Int(0), given)
			}
			a.rounded = &Rounded{m, bits, number.Exact(value), given}
			return a.rounded, nil
		}
	}
	return nil, ErrNotRounded
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
	m := &Mechanism{Inputs: p.Inputs, Outputs: p.Outputs, Bits: bits}
	whole := new(big.Int).Lsh(unit, bits)
	floor, rest := make([]*big.Int, len(values)), make([]*big.Rat, len(values))
	for j, x := range values {
		n, r := new(big.Int).QuoRem(new(big.Int).Lsh(x.Num(), bits), x.Denom(), new(big.Int))
		floor[j], rest[j] = n, new(big.Rat).SetFrac(r, x.Denom())
	}
	for _, cells := range q.cell {
		row, order, missing := make([]*big.Int, len(cells)), make([]int, len(cells)), new(big.Int).Set(whole)
		for o, j := range cells {
			row[o], order[o] = floor[j], o
			missing.Sub(missing, floor[j])
		}
		slices.SortStableFunc(order, func(a, b int) int { return rest[cells[b]].Cmp(rest[cells[a]]) })
		for _, o := range order[:min(int(missing.Int64()), len(order))] {
			row[o] = new(big.Int).Add(row[o], unit)
		}
		m.Count = append(m.Count, row)
	}
	return m
}

// private reports whether the table is (ε,δ)-DP at upper ends z of the factors e^{-dε}, for all arcs.
func (m *Mechanism) private(arcs []arc, z []*big.Rat, delta *big.Rat) bool {
	room := make([]*big.Rat, len(z)) // zδ 2^Bits times the denominator of z
	for i, x := range z {
		room[i] = new(big.Rat).Mul(new(big.Rat).SetInt(x.Num()), delta)
		room[i].Mul(room[i], new(big.Rat).SetInt(new(big.Int).Lsh(unit, m.Bits)))
	}
	var left, right big.Int
	for _, a := range arcs {
		sum := new(big.Int)
		for o, b := range m.Count[a.below] {
			right.Mul(b, z[a.distance].Num())
			left.Mul(m.Count[a.above][o], z[a.distance].Denom())
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
	out := make([][]*big.Rat, len(m.Count))
	for x, row := range m.Count {
		for o := range row {
			out[x] = append(out[x], m.Probability(x, o))
		}
	}
	return out
}
