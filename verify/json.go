package verify

import (
	"encoding/json"
	"math/big"

	"optratio/number"
)

// MarshalJSON writes the result; the fields on ratios only where the property has them.
func (r Result) MarshalJSON() ([]byte, error) {
	type order struct {
		Alpha number.Number `json:"alpha"`
		Eps   number.Number `json:"eps"`
	}
	type common struct {
		Name    Property `json:"name"`
		Verdict Verdict  `json:"verdict"`
		Asked   *bool    `json:"asked,omitempty"` // false of facts
		Checked int64    `json:"checked"`
		Total   any      `json:"total,omitempty"` // where it was stopped
		Reason  string   `json:"reason,omitempty"`
		Witness *Witness `json:"witness"`
	}
	var asked *bool
	if r.Fact {
		asked = new(bool)
	}
	head := common{r.Name, r.Verdict, asked, r.Checked, r.total(), r.Reason, r.Witness}
	var orders []order
	for _, o := range r.Orders {
		orders = append(orders, order{number.Exact(o.Alpha), o.Eps})
	}
	switch r.Name {
	case DP:
		return json.Marshal(struct {
			common
			TightEps    number.Number `json:"tight_eps"`
			TightExpEps *string       `json:"tight_exp_eps"`
			Range       number.Number `json:"range"`
			Relaxed     *Relaxed      `json:"with_delta,omitempty"`
			Attained    *Witness      `json:"attained"`
		}{head, r.TightEps, fraction(r.TightExpEps), r.Range, r.Relaxed, r.Attained})
	case ApproximateDP:
		return json.Marshal(struct {
			common
			TightDelta number.Number  `json:"tight_delta"`
			Target     *number.Number `json:"target,omitempty"`
			Attained   *Witness       `json:"attained"`
		}{head, r.TightDelta, r.target(), r.Attained})
	case BoundedRange:
		return json.Marshal(struct {
			common
			Range  number.Number  `json:"range"`
			Target *number.Number `json:"target,omitempty"`
		}{head, r.Range, r.target()})
	case RDP:
		return json.Marshal(struct {
			common
			Orders []order `json:"orders"`
		}{head, orders})
	case ZCDP:
		return json.Marshal(struct {
			common
			Rho      number.Number  `json:"rho"`
			Target   *number.Number `json:"target,omitempty"`
			Orders   []order        `json:"orders"`
			Attained *Witness       `json:"attained"`
		}{head, r.Rho, r.target(), orders, r.Attained})
	}
	return json.Marshal(head)
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

// target is Target for JSON, nil for none.
func (r *Result) target() *number.Number {
	if !r.Target.IsValid() {
		return nil
	}
	return &r.Target
}

// fraction writes a rational as "p/q", nil for none.
func fraction(r *big.Rat) *string {
	if r == nil {
		return nil
	}
	s := r.String()
	return &s
}

// precision is Precision as a number object, nil for none.
func (r *Report) precision() *number.Number {
	if r.Precision == nil {
		return nil
	}
	x := number.Exact(r.Precision)
	return &x
}

// MarshalJSON writes the report.
func (r *Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mechanism  string         `json:"mechanism"`
		Domain     string         `json:"domain"`
		Lattice    Where          `json:"lattice,omitzero"`
		Claimed    number.Number  `json:"claimed_eps"`
		Precision  *number.Number `json:"precision,omitempty"`
		Properties []Result       `json:"properties"`
	}{r.Mechanism, r.Domain, r.Lattice, r.Claimed, r.precision(), r.Properties})
}
