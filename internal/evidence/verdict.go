package evidence

import "optratio/number"

// Verdict is the answer to whether a claim follows.
type Verdict int

const (
	Undecided Verdict = iota
	Holds
	Fails
)

// AtMost decides v <= w.
func AtMost(v, w number.Number) Verdict {
	switch holds, ok := v.LessEq(w); {
	case !ok:
		return Undecided
	case holds:
		return Holds
	}
	return Fails
}

// And returns fails if one fails, and holds if both hold.
func (a Verdict) And(b Verdict) Verdict {
	switch {
	case a == Fails || b == Fails:
		return Fails
	case a == Holds && b == Holds:
		return Holds
	}
	return Undecided
}
