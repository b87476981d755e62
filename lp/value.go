package lp

import (
	"math/big"

	"optratio/number"
)

// value is a nonnegative quantity: exact, enclosed, or an estimate.
type value struct {
	exact    *big.Rat
	box      number.Interval
	estimate float64
	method   string // of the estimate, empty for rigorous values
}

func exactValue(r *big.Rat) value      { return value{exact: r} }
func boxValue(x number.Interval) value { return value{box: x} }
func (v value) rigorous() bool         { return v.method == "" }
func (v value) enclosure(prec uint) number.Interval {
	if v.exact != nil {
		return number.FromRat(v.exact, prec)
	}
	return v.box
}

// over returns v/d for a positive integer d.
func (v value) over(d *big.Int, prec uint) value {
	switch {
	case !v.rigorous():
		f, _ := new(big.Float).SetInt(d).Float64()
		return value{estimate: v.estimate / f, method: v.method}
	case v.exact != nil:
		return exactValue(new(big.Rat).Quo(v.exact, new(big.Rat).SetInt(d)))
	}
	return boxValue(v.box.Quo(number.FromBig(d, prec)))
}
