// Package optimum finds the best private mechanism of any finite problem: inputs, pairs of inputs that are neighbors, outputs, what each output costs at each
// input, and a prior over the inputs or the worst of them. It is the program
//
//	minimise   Σ_x π(x) Σ_o ℓ(x,o) p(o|x),    or the largest Σ_o ℓ(x,o) p(o|x) of any x
//	           Σ_o p(o|x) = 1, p >= 0, and 0 where forbidden
//	           Σ_o max(0, p(o|x) - e^{dε} p(o|x')) <= δ      for neighbors x, x' at distance d
//
// What is returned is proved: an exact optimum or an enclosure of it, with a table that attains its upper end and a certificate that package verify/certificate
// checks. A table of one's own is compared with the optimum, and Mechanism is a table near the optimal one, private as it is written, with an exact sampler.
package optimum

import (
	"context"
	"io"
	"math/big"

	engine "optratio/internal/optimum"
	"optratio/number"
	"optratio/verify"
)

// Problem is a private choice on finitely many inputs.
type Problem struct {
	Inputs, Outputs []string
	Pairs           []Pair
	OneWay          bool         // of a pair only Pr[From in S] <= e^{dε} Pr[To in S] + δ is asked, not the reverse
	Loss            [][]*big.Rat // of each output at each input, >= 0
	Prior           []*big.Rat   // of each input, >= 0, sums to 1; nil: the largest loss of any input is minimised
	Forbidden       [][]bool     // outputs that an input must not have; nil: none
}

// Pair says that two inputs, by their places, are neighbors at a distance d >= 0, 1 where it is nil: what one may do with a probability is at most e^{dε} times
// what the other does, plus δ.
type Pair = struct {
	From, To int
	Distance *big.Rat
}

// ReadJSON reads a problem:
//
//	{"inputs":["0","1"], "outputs":["0","1"], "pairs":[["0","1"],["0","1","3/2"]], "loss":[["0","1"],["1","0"]], "prior":["1/2","1/2"], "forbidden":[["0","1"]]}
//
// loss may also be "abs", "square" or "zero-one", prior "uniform" or "worst" (which it also is where there is none), and outputs may be missing, for those of
// the inputs. With "directed":true a pair [x,x'] says Pr[x] <= e^{dε} Pr[x'] + δ alone. Numbers are rationals or decimals in strings, or JSON numbers, taken
// exactly. Errors begin with name, line and field.
func ReadJSON(name string, text io.Reader) (*Problem, error) {
	p, err := engine.ReadJSON(name, text)
	return (*Problem)(p), err
}

// Preset returns a ready problem: count:N, krr:K, grid:WxH, partition:N, selection:N,K or histogram:W,N, which "optratio optimum --help" describes.
func Preset(text string) (*Problem, error) {
	p, err := engine.Preset(text)
	return (*Problem)(p), err
}

// Request says what is asked of a problem. Epsilon is required.
type Request struct {
	Epsilon number.Epsilon
	Delta   *big.Rat          // from 0 to 1; nil: 0
	Gap     *big.Rat          // (upper-lower)/upper wanted where e^{dε} is irrational; nil for 1e-9
	Rate    [][]number.Number // a table to be compared with the optimum, the probability of each output at each input; nil: none
}

// Result is the answer to a Request.
type Result struct {
	Optimum   number.Number
	Table     [][]number.Number // a mechanism that attains the upper end of Optimum: the exact probability of each output at each input; nil where nothing was solved
	Rated     *Rating           // of Request.Rate
	Undecided string            // which limit was met before the answer was as good as asked; empty where it was

	whole *engine.Result
}

// Rating says how private a table is and how far it is from the optimum.
type Rating struct {
	TightEps number.Number  // the least ε at which it is (ε,δ)-DP on the pairs
	DP       verify.Verdict // at the ε and δ asked
	Value    number.Number  // its loss
	Ratio    number.Number  // to the optimum; none where that is 0
}

// Solve answers a request: exactly where e^{dε} is rational for every distance d, else in bounds that are as close as Gap asks. An error is bad input; where
// the context ended the work, the Result holds the best certified bounds so far and says so in Undecided.
func Solve(ctx context.Context, p *Problem, r Request) (*Result, error) {
	question := engine.Request{Problem: (*engine.Problem)(p), Epsilon: r.Epsilon, Delta: r.Delta, Gap: r.Gap}
	if r.Rate != nil {
		question.Rate = engine.NewTable(question.Problem, r.Rate)
	}
	a, err := engine.Solve(ctx, question)
	if err != nil {
		return nil, err
	}
	out := &Result{Optimum: a.Optimum, Table: exact(a.Table()), Undecided: a.Undecided, whole: a}
	if t := a.Rated; t != nil {
		out.Rated = &Rating{t.TightEps, t.DP, t.Value, t.Ratio}
	}
	return out, nil
}

// exact returns a table as numbers.
func exact(table [][]*big.Rat) (out [][]number.Number) {
	for _, row := range table {
		numbers := make([]number.Number, len(row))
		for o, p := range row {
			numbers[o] = number.Exact(p)
		}
		out = append(out, numbers)
	}
	return out
}

// WriteCertificate writes the proof of the enclosure of the optimum, as a section of docs/reference/certificate.md: the problem, a table and multipliers. The same
// answer gives the same bytes.
func (r *Result) WriteCertificate(w io.Writer) error { return r.whole.WriteCertificate(w) }

// Mechanism is a mechanism near the optimal one, in dyadic probabilities, private as it is written, from which one can draw exactly.
type Mechanism struct {
	Bits    uint              // probabilities are multiples of 2^-Bits
	Table   [][]number.Number // the exact probability of each output at each input
	GivenUp number.Number     // by how much its loss exceeds the optimum

	whole *engine.Mechanism
}

// Round returns the optimal mechanism in dyadic probabilities. It is verified after rounding, for all pairs of the problem, that it is (ε,δ)-DP and has no forbidden
// output.
func (r *Result) Round(ctx context.Context) (*Mechanism, error) {
	m, err := r.whole.Round(ctx)
	if err != nil {
		return nil, err
	}
	return &Mechanism{m.Bits, exact(m.Table()), m.GivenUp, m}, nil
}

// Sample draws an output at an input, with exactly the probabilities of the table if the bits of random are fair and independent. It takes the same number of them
// every time, Bits rounded up to whole bytes, but the time it takes depends on the input and the output.
func (m *Mechanism) Sample(input string, random io.Reader) (output string, err error) {
	return m.whole.Sample(input, random)
}
