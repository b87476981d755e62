package compose

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"optratio/number"
)

// mostExported is about how many losses of a sign are exported.
const mostExported = 2000

// Export writes a pair of distributions whose privacy profile is an upper bound of that of all selections together, at every s, as JSON: "arguments" are those of
// dp_accounting's from_two_probability_mass_functions, which rounds each loss up to a multiple of the interval; here it is left where it is. The pair
// composes with those of other mechanisms.
func (a *Answer) Export(w io.Writer) error {
	var m *losses
	if k := a.only; k != nil {
		t := newTable(k.eps().Quo(number.FromInt(mostExported, prec)), mostExported, 1)
		for i := range mostExported {
			t.over[t.pad+i] = up(k.profile(t.dist.Mul(number.FromInt(int64(i), prec))))
		}
		m = t.losses(1)
	} else {
		m = a.table.sampled(mostExported).losses(1)
	}
	d := m.d.Near()
	type masses map[string]float64
	upper, lower := masses{}, masses{}
	for j, p := range m.p {
		if p < 0x1p-1000 {
			m.inf += p
			continue
		}
		i := m.from + j
		log := up(number.Log(exact(p)))
		below := log - float64(float64(i)*d)
		for math.Ceil((log-below)/d) > float64(i) {
			below = math.Nextafter(below, math.Inf(1))
		}
		for math.Ceil((log-below)/d) < float64(i) {
			below = math.Nextafter(below, math.Inf(-1))
		}
		key := strconv.Itoa(i)
		upper[key], lower[key] = log, below
	}
	if m.inf > 0 {
		upper["inf"] = up(number.Log(exact(m.inf * (1 + float64(float64(len(m.p)+4)*ulp)))))
	}
	return json.NewEncoder(w).Encode(map[string]any{
		"schema": "optratio.losses/1",
		"arguments": map[string]any{
			"log_probability_mass_function_lower": lower, "log_probability_mass_function_upper": upper,
			"pessimistic_estimate": true, "value_discretization_interval": d, "symmetric": true,
		},
	})
}

// sampled is a table with about so many nodes, whose distance is a floating-point number. They lie at those of t or a rounding behind, where V is no larger.
func (t *table) sampled(nodes int) *table {
	stride := (t.n + nodes - 1) / nodes
	d := exact(up(t.dist.Mul(number.FromInt(int64(stride), prec))))
	out := newTable(d, (t.n+stride-1)/stride, 1)
	for i := range out.n + 1 {
		out.over[out.pad+i] = t.over[t.pad+min(t.n, i*stride)]
	}
	return out
}
