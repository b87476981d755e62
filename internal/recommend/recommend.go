// Package recommend says which mechanism suits given scores and sensitivities: the error of each
// registered one on them, and statistics that predict it without looking at any mechanism.
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
	"strings"
	"time"

	"optratio/internal/patience"
	"optratio/mechanisms"
	"optratio/number"
)

// Rated is a mechanism and its error on an instance.
type Rated struct {
	Name          string        `json:"name"`
	MSE           number.Number `json:"mse"`
	ExpectedError number.Number `json:"expected_error"`
	Private       bool          `json:"private"`
	Declared      bool          `json:"declared,omitempty"` // of a claim of ε-DP: it is the word of whoever wrote the mechanism
}

// Recommendation is the answer to "which mechanism".
type Recommendation struct {
	Criterion   string     `json:"criterion"`   // what ranks them: Error or MSE
	Mechanisms  []Rated    `json:"mechanisms"`  // that claim ε-DP; of these, Declared ones are not recommended
	NotPrivate  []Rated    `json:"not_private"` // the others, which are never recommended
	Recommended string     `json:"recommended"`
	Monotonic   bool       `json:"monotonic_scores,omitempty"`
	Heuristics  Heuristics `json:"heuristics"`
	Unanswered  []string   `json:"unanswered,omitempty"` // why a mechanism has no errors here, one line each
	Warning     string     `json:"warning"`
	// Undecided says why mechanisms were not asked: the end of the context; empty otherwise.
	Undecided string `json:"undecided,omitempty"`
}

// Schema names the form of the JSON document.
func (Recommendation) Schema() string { return "optratio.recommend/1" }

// What ranks mechanisms: the expected error, or the mean squared one.
const (
	Error = "error"
	MSE   = "mse"
)

// By says in words what ranks the mechanisms.
func (r *Recommendation) By() string {
	if r.Criterion == MSE {
		return "mean squared error"
	}
	return "expected error"
}

// Warning comes with every recommendation.
const Warning = "choosing a mechanism by looking at private scores is itself not private: decide from public knowledge (combined-gem chooses between two privately, for a part of ε)"

// For rates the mechanisms on an instance, the least error by the criterion first (ties by the other one, then by
// name), and recommends the first one that is ε-DP, not one of which that is only declared. One among several that has no answer is named as such, and so is
// one that was not asked before the context ended. With monotonic, scores are monotonic, and each mechanism runs with
// mechanisms.MonotonicSensitivities; one for which these are not known has no answer.
//
// After the end of the context For returns within a second, with what is done. A mechanism that has not answered by then goes on in the
// background.
func For(ctx context.Context, in *mechanisms.Instance, candidates []mechanisms.Mechanism, criterion string, monotonic bool) (*Recommendation, error) {
	heuristics, err := NewHeuristics(in)
	if err != nil {
		return nil, err
	}
	out := &Recommendation{Criterion: criterion, Mechanisms: []Rated{}, NotPrivate: []Rated{}, Heuristics: heuristics, Monotonic: monotonic, Warning: Warning}
	unanswered := func(m mechanisms.Mechanism, why string) {
		out.Unanswered = append(out.Unanswered, m.Info().Name+": "+why)
	}
	for _, m := range candidates {
		if cause := context.Cause(ctx); cause != nil {
			out.Undecided = cause.Error()
			unanswered(m, cause.Error())
			continue
		}
		at, err := question(m, *in, monotonic)
		if err != nil {
			if len(candidates) == 1 {
				return nil, err
			}
			unanswered(m, strings.TrimPrefix(err.Error(), mechanisms.ErrInstance.Error()+": "))
			continue
		}
		a, err := askWithin(ctx, m, at)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			out.Undecided = cause.Error()
			err = fmt.Errorf("%w: %w", mechanisms.ErrNoAnswer, cause)
		}
		if errors.Is(err, mechanisms.ErrNoAnswer) && len(candidates) > 1 {
			unanswered(m, err.Error())
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Info().Name, err)
		}
		rated := Rated{m.Info().Name, a.MSE, a.ExpectedError, m.Info().Private, declared(m)}
		if rated.Private {
			out.Mechanisms = append(out.Mechanisms, rated)
		} else {
			out.NotPrivate = append(out.NotPrivate, rated)
		}
	}
	compare := func(a, b Rated) int {
		square, plain := cmp.Compare(a.MSE.Float64(), b.MSE.Float64()), cmp.Compare(a.ExpectedError.Float64(), b.ExpectedError.Float64())
		if criterion == Error {
			return cmp.Or(plain, square, cmp.Compare(a.Name, b.Name))
		}
		return cmp.Or(square, plain, cmp.Compare(a.Name, b.Name))
	}
	slices.SortFunc(out.Mechanisms, compare)
	slices.SortFunc(out.NotPrivate, compare)
	if i := slices.IndexFunc(out.Mechanisms, func(m Rated) bool { return !m.Declared }); i >= 0 {
		out.Recommended = out.Mechanisms[i].Name
	}
	return out, nil
}

// declared reports whether a mechanism's claim of ε-DP has no proof that is known here: it is a function of the user's own, or names no source.
func declared(m mechanisms.Mechanism) bool {
	_, own := m.(interface{ Declared() })
	return m.Info().Private && (own || m.Info().Source == "")
}

// question is what a mechanism is asked: for monotonic scores at the sensitivities that these allow.
func question(m mechanisms.Mechanism, in mechanisms.Instance, monotonic bool) (*mechanisms.Instance, error) {
	var err error
	if monotonic {
		in.Sensitivities, err = mechanisms.MonotonicSensitivities(m, in.Sensitivities)
	}
	return &in, err
}

// askGrace is how long after the end of the context a mechanism's answer is waited for.
const askGrace = 700 * time.Millisecond

// askWithin is mechanisms.Ask for as long as the context lasts, and a little longer.
func askWithin(ctx context.Context, m mechanisms.Mechanism, in *mechanisms.Instance) (*mechanisms.Distribution, error) {
	type answer struct {
		*mechanisms.Distribution
		err error
	}
	a, ok := patience.Await(ctx, askGrace, func() answer {
		d, err := mechanisms.Ask(mechanisms.Within(ctx, m), in)
		return answer{d, err}
	})
	if !ok {
		return nil, context.Cause(ctx)
	}
	return a.Distribution, a.err
}
