package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"optratio/internal/decimal"
)

// Parameters tell a row from all others of its file.
type Parameters struct {
	N           int
	K           int
	Eps         string // a decimal, or empty
	ExpEps      string // a fraction, or empty
	Objective   string
	Constraints string
	Mechanism   string
}

// String names the parameters in a message.
func (p Parameters) String() string {
	eps := "ε = " + p.Eps
	if p.ExpEps != "" {
		eps = "e^ε = " + p.ExpEps
	}
	return fmt.Sprintf("n = %d, k = %d, %s, objective %s, constraints %s, %s", p.N, p.K, eps, p.Objective, p.Constraints, p.Mechanism)
}

// Row is a mechanism's error and ratio at one point. Bounds are decimals rounded outward, "inf" or "-inf"; or fractions, where results were asked to be
// exact.
type Row struct {
	Parameters
	ErrorLower string
	ErrorUpper string
	RatioLower string
	RatioUpper string
	Proof      string
	Solver     string
	Seconds    float64

	value *big.Rat // of ε or e^ε
}

// same reports whether two rows are the same apart from their seconds.
func (r Row) same(other Row) bool {
	r.Seconds, r.value = other.Seconds, other.value
	return r == other
}

// compare orders rows: by n, k, ε, objective, constraints and the mechanism's name.
func compare(a, b Row) int {
	return cmp.Or(
		cmp.Compare(a.N, b.N), cmp.Compare(a.K, b.K), cmp.Compare(min(1, len(a.ExpEps)), min(1, len(b.ExpEps))), a.value.Cmp(b.value),
		strings.Compare(a.Objective, b.Objective), strings.Compare(a.Constraints, b.Constraints), strings.Compare(a.Mechanism, b.Mechanism),
	)
}

var columns = []string{
	"n", "k", "eps", "exp_eps", "objective", "constraints", "mechanism",
	"error_lower", "error_upper", "ratio_lower", "ratio_upper", "proof", "solver", "seconds",
}

// fields returns what a line of a file has.
func (r Row) fields() []string {
	return []string{
		strconv.Itoa(r.N), strconv.Itoa(r.K), r.Eps, r.ExpEps, r.Objective, r.Constraints, r.Mechanism,
		r.ErrorLower, r.ErrorUpper, r.RatioLower, r.RatioUpper, r.Proof, r.Solver, strconv.FormatFloat(r.Seconds, 'f', 6, 64),
	}
}

// parseRow reads what a line of a file has.
func parseRow(f []string) (Row, error) {
	n, err1 := strconv.Atoi(f[0])
	k, err2 := strconv.Atoi(f[1])
	seconds, err3 := strconv.ParseFloat(f[13], 64)
	if errors.Join(err1, err2, err3) != nil {
		return Row{}, fmt.Errorf("n = %q, k = %q or seconds = %q is not a number", f[0], f[1], f[13])
	}
	r := Row{
		Parameters: Parameters{n, k, f[2], f[3], f[4], f[5], f[6]},
		ErrorLower: f[7], ErrorUpper: f[8], RatioLower: f[9], RatioUpper: f[10], Proof: f[11], Solver: f[12], Seconds: seconds,
	}
	return r, r.complete()
}

// complete checks a row that was read and fills in its value.
func (r *Row) complete() error {
	text := r.Eps + r.ExpEps
	value, err := decimal.ParseNumber(text)
	switch {
	case r.N < 1 || r.K < 1:
		return fmt.Errorf("n = %d and k = %d, want at least 1", r.N, r.K)
	case err != nil || (r.Eps == "") == (r.ExpEps == ""):
		return fmt.Errorf("eps = %q and exp_eps = %q, want a number and nothing", r.Eps, r.ExpEps)
	case r.ExpEps != "" && value.RatString() != text || r.Eps != "" && (strings.Contains(text, "/") || decimal.Text(value) != text):
		return fmt.Errorf("%s is not written as a sweep writes it", text)
	case r.Objective == "" || r.Constraints == "" || r.Mechanism == "" || r.Proof == "" || r.Solver == "":
		return errors.New("an empty field")
	}
	for _, ends := range [][2]string{{r.ErrorLower, r.ErrorUpper}, {r.RatioLower, r.RatioUpper}} {
		lower, upper := bound(ends[0]), bound(ends[1])
		if lower == nil && !isInfinite(ends[0]) || upper == nil && ends[1] != "inf" || lower != nil && upper != nil && lower.Cmp(upper) > 0 {
			return fmt.Errorf("%q and %q are not bounds", ends[0], ends[1])
		}
	}
	r.value = value
	return nil
}

func isInfinite(text string) bool { return text == "inf" || text == "-inf" }

// bound reads a bound, nil where it is infinite or none.
func bound(text string) *big.Rat {
	x, err := decimal.ParseNumber(text)
	if err != nil {
		return nil
	}
	return x
}
