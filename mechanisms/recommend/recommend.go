// Package recommend says which mechanism suits given scores and sensitivities: the error of each
// registered one on them, statistics that predict it without looking at any mechanism, and
// the synthetic scenarios on which such predictions are tried.
//
// A choice that looks at private scores is itself not private; combined-gem is the mechanism that
// pays for such a look. The package checks no privacy claim, it repeats those of the registry.
package recommend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"optratio/mechanisms"
	"optratio/number"
)

// Rated is a mechanism and its error on an instance.
type Rated struct {
	Name          string        `json:"name"`
	MSE           number.Number `json:"mse"`
	ExpectedError number.Number `json:"expected_error"`
	Private       bool          `json:"private"`
}

// Recommendation is the answer to "which mechanism".
type Recommendation struct {
	Mechanisms  []Rated    `json:"mechanisms"`
	Recommended string     `json:"recommended"`
	Heuristics  Heuristics `json:"heuristics"`
	Unanswered  []string   `json:"unanswered,omitempty"` // why a mechanism has no errors here, one line each
	Warning     string     `json:"warning"`
	// Undecided says why mechanisms were not asked: the end of the context; empty otherwise.
	Undecided string `json:"undecided,omitempty"`
}

// Warning comes with every recommendation.
const Warning = "choosing a mechanism by looking at private scores is itself not private: decide from public knowledge, or pay for the look as combined-gem does"

// For rates the mechanisms on an instance, least mean squared error first (ties by expected error, then by
// name), and recommends the first one that claims ε-DP. One among several that has no answer is named as such, and so is
// one that was not asked before the context ended.
func For(ctx context.Context, in *mechanisms.Instance, candidates []mechanisms.Mechanism) (*Recommendation, error) {
	heuristics, err := NewHeuristics(in)
	if err != nil {
		return nil, err
	}
	out := &Recommendation{Heuristics: heuristics, Warning: Warning}
	for _, m := range candidates {
		if cause := context.Cause(ctx); cause != nil {
			out.Undecided = cause.Error()
			out.Unanswered = append(out.Unanswered, fmt.Sprintf("%s: %v", m.Info().Name, cause))
			continue
		}
		a, err := mechanisms.Ask(mechanisms.Within(ctx, m), in)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			out.Undecided = cause.Error()
			err = fmt.Errorf("%w: %w", mechanisms.ErrNoAnswer, cause)
		}
		if errors.Is(err, mechanisms.ErrNoAnswer) && len(candidates) > 1 {
			out.Unanswered = append(out.Unanswered, fmt.Sprintf("%s: %v", m.Info().Name, err))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Info().Name, err)
		}
		out.Mechanisms = append(out.Mechanisms, Rated{m.Info().Name, a.MSE, a.ExpectedError, m.Info().Private})
	}
	slices.SortFunc(out.Mechanisms, func(a, b Rated) int {
		return cmp.Or(cmp.Compare(a.MSE.Float64(), b.MSE.Float64()),
			cmp.Compare(a.ExpectedError.Float64(), b.ExpectedError.Float64()), cmp.Compare(a.Name, b.Name))
	})
	for _, r := range out.Mechanisms {
		if r.Private {
			out.Recommended = r.Name
			break
		}
	}
	return out, nil
}
