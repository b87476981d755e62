package verify

import (
	"encoding/json"
	"math/big"

	"optratio/internal/inquiry"
	"optratio/number"
)

// resultJSON is a result as JSON: of the numbers those that its property has, null where they are not known.
type resultJSON struct {
	Name     Property `json:"name"`
	Verdict  Verdict  `json:"verdict"`
	Asked    *bool    `json:"asked,omitempty"` // false of facts
	Checked  int64    `json:"checked"`
	Total    any      `json:"total,omitempty"` // where it was stopped
	Reason   string   `json:"reason,omitempty"`
	Witness  *Witness `json:"witness"`
	Eps      any      `json:"tight_eps,omitempty"`
	Exp      any      `json:"tight_exp_eps,omitempty"`
	Delta    any      `json:"tight_delta,omitempty"`
	Rho      any      `json:"rho,omitempty"`
	Range    any      `json:"range,omitempty"`
	Relaxed  any      `json:"with_delta,omitempty"`
	Target   any      `json:"target,omitempty"`
	Orders   any      `json:"orders,omitempty"`
	Attained any      `json:"attained,omitempty"`
}

// MarshalJSON writes the result.
func (r Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{Name: r.Name, Verdict: r.Verdict, Checked: r.Checked, Total: r.total(), Reason: r.Reason, Witness: r.Witness}
	if r.Fact {
		out.Asked = new(bool)
	}
	switch inquiry.Kind(r.Name) {
	case DP:
		out.Eps, out.Exp, out.Range, out.Attained = r.TightEps, fraction(r.TightExpEps), r.Range, r.Attained
		if d := r.Relaxed; d != nil {
			out.Relaxed = struct {
				Delta number.Number `json:"delta"`
				Eps   number.Number `json:"eps"`
			}{d[0], d[1]}
		}
	case ApproximateDP:
		out.Delta, out.Attained = r.TightDelta, r.Attained
	case BoundedRange:
		out.Range = r.Range
	case RDP:
		out.Orders = r.orders()
		if r.Name != RDP {
			out.Attained = r.Attained
		}
	case ZCDP:
		out.Rho, out.Orders, out.Attained = r.Rho, r.orders(), r.Attained
	}
	if r.Target.IsValid() {
		out.Target = r.Target
	}
	return json.Marshal(out)
}

// order is an order, and the ε there, as JSON.
type order struct {
	Alpha number.Number `json:"alpha"`
	Eps   number.Number `json:"eps"`
}

func (r *Result) orders() (all []order) {
	for _, o := range r.Orders {
		all = append(all, order{o[0], o[1]})
	}
	return all
}

// total is Total for JSON: nil where the check was not stopped, null where how many comparisons there are is not known.
func (r *Result) total() any {
	switch {
	case !r.Stopped:
		return nil
	case r.Total == 0:
		return json.RawMessage("null")
	}
	return r.Total
}

// fraction writes a rational as "p/q", nil for none.
func fraction(r *big.Rat) *string {
	if r == nil {
		return nil
	}
	s := r.String()
	return &s
}

// MarshalJSON writes the report.
func (r *Report) MarshalJSON() ([]byte, error) {
	var precision *number.Number
	if r.Precision != nil {
		x := number.Exact(r.Precision)
		precision = &x
	}
	profile, renyi := inquiry.Profiled(r.Profile, r.Renyi)
	return json.Marshal(struct {
		Mechanism  string         `json:"mechanism"`
		Domain     string         `json:"domain"`
		Lattice    where          `json:"lattice,omitzero"`
		Claimed    number.Number  `json:"claimed_eps"`
		Precision  *number.Number `json:"precision,omitempty"`
		Properties []Result       `json:"properties"`

		Profile []inquiry.DeltaAt      `json:"profile,omitempty"`
		Renyi   []inquiry.DivergenceOf `json:"renyi,omitempty"`
	}{r.Mechanism, r.Domain, r.lattice, r.Claimed, precision, r.Properties, profile, renyi})
}
