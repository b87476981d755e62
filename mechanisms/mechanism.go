package mechanisms

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"optratio/number"
)

// ErrNotRational says that a mechanism's probabilities are not rational, or not known to be, at an instance.
var ErrNotRational = errors.New("probabilities are not rational here")

// ErrNoEnclosure says that a mechanism has only floating-point estimates.
var ErrNoEnclosure = errors.New("no rigorous enclosure for this mechanism")

// ErrInstance is wrapped by errors about scores, sensitivities or parameters.
var ErrInstance error = number.InputError("bad instance")

// Params are the parameters of mechanisms that have any. Nil fields mean the defaults.
type Params struct {
	Gamma     *big.Rat // rs family: success parameter of the stopping law, default 1/20
	Beta      *big.Rat // gem family: failure probability, default 1/20
	Eta       *big.Rat // rs-tnb: shape of the truncated negative binomial law, default 1
	EpsChoice *big.Rat // combined-gem: share of ε spent on the choice, default 3/5
}

// Instance is one question to a mechanism.
type Instance struct {
	Scores        []*big.Rat // one per candidate, in the user's units
	Sensitivities []*big.Rat // one for all candidates, or one each; >= 0, in the same units
	Epsilon       number.Epsilon
	Params        Params
}

// Check reports the first thing wrong with the instance. Candidates are numbered from 0.
func (in *Instance) Check() error {
	if err := in.CheckScores(); err != nil {
		return err
	}
	if err := in.Epsilon.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInstance, err)
	}
	return nil
}

// CheckScores is Check for the scores and sensitivities alone.
func (in *Instance) CheckScores() error {
	if len(in.Scores) == 0 {
		return fmt.Errorf("%w: no scores", ErrInstance)
	}
	if s := len(in.Sensitivities); s != 1 && s != len(in.Scores) {
		return fmt.Errorf("%w: %d sensitivities for %d scores, want one or as many", ErrInstance, s, len(in.Scores))
	}
	if i := slices.Index(in.Scores, nil); i >= 0 {
		return fmt.Errorf("%w: score %d is nil", ErrInstance, i)
	}
	return in.checkSensitivities()
}

// checkSensitivities is CheckScores for the sensitivities, whatever their number.
func (in *Instance) checkSensitivities() error {
	for i, d := range in.Sensitivities {
		if d == nil {
			return fmt.Errorf("%w: sensitivity %d is nil", ErrInstance, i)
		}
		if d.Sign() < 0 {
			return fmt.Errorf("%w: sensitivity %d is %s, want >= 0", ErrInstance, i, d.RatString())
		}
	}
	if in.Sensitivity().Sign() == 0 {
		return fmt.Errorf("%w: the largest sensitivity is 0, want > 0", ErrInstance)
	}
	return nil
}

// Sensitivity returns the largest sensitivity, which mechanisms for uniform sensitivities use.
func (in *Instance) Sensitivity() *big.Rat {
	return slices.MaxFunc(in.Sensitivities, (*big.Rat).Cmp)
}

// Best returns the largest score.
func (in *Instance) Best() *big.Rat { return slices.MaxFunc(in.Scores, (*big.Rat).Cmp) }

// Depths returns each candidate's (max q - q_r)/(2Δ), Δ the largest sensitivity: its distance
// below the best score, in lattice steps, not necessarily an integer.
func (in *Instance) Depths() []*big.Rat {
	best, step := in.Best(), in.Sensitivity()
	step = new(big.Rat).Add(step, step)
	depths := make([]*big.Rat, len(in.Scores))
	for i, q := range in.Scores {
		depths[i] = new(big.Rat).Sub(best, q)
		depths[i].Quo(depths[i], step)
	}
	return depths
}

// OnLattice returns the instance whose candidates have the given depths, with Δ = 1/2, so that a step is 1.
func OnLattice(depths []int, eps number.Epsilon) *Instance {
	in := &Instance{Sensitivities: []*big.Rat{big.NewRat(1, 2)}, Epsilon: eps}
	for _, v := range depths {
		in.Scores = append(in.Scores, big.NewRat(int64(-v), 1))
	}
	return in
}

// Info describes a mechanism.
type Info struct {
	Name    string
	Summary string // one line
	Source  string // where it is defined
	Claim   string // the privacy claim made for it, in words
	Private bool   // whether that claim is ε-DP
	Uniform bool   // whether it is made for one sensitivity for all candidates; others take one each
	// ShiftInvariant says that adding one number to all scores changes no probability. MonotonicSensitivities rests on it.
	ShiftInvariant bool
	// Symmetric says that exchanging the scores of two candidates of one sensitivity exchanges their probabilities. A mean over a lattice asks such a
	// mechanism at one arrangement of each score vector, and any other at all of them.
	Symmetric bool
}

// epsDP describes a mechanism that is ε-DP with one sensitivity for all candidates, and that looks at differences of scores alone.
func epsDP(name, summary, source string) Info {
	info := epsDPEach(name, summary, source)
	info.Uniform = true
	return info
}

// epsDPEach is epsDP for a mechanism that takes a sensitivity for each candidate.
func epsDPEach(name, summary, source string) Info {
	return Info{Name: name, Summary: summary, Source: source, Claim: "ε-DP", Private: true, ShiftInvariant: true, Symmetric: true}
}

// Mechanism is a private selection mechanism with computable output probabilities.
//
// Each method returns one probability per candidate in the order of the scores.
// Exact returns ErrNotRational where the probabilities are not rational or the
// mechanism has no exact form; Enclose returns enclosures at about the given
// precision, each of which contains the true probability, or ErrNoEnclosure; Float returns float64 values without proof.
// All return ErrInstance for malformed instances.
type Mechanism interface {
	Info() Info
	Exact(in *Instance) ([]*big.Rat, error)
	Enclose(in *Instance, prec uint) ([]number.Interval, error)
	Float(in *Instance) ([]float64, error)
}

// Precision returns the relative precision to which the probabilities of a mechanism are known at best, whatever is asked of Enclose, whose answers are sets of
// readings then; ok is false where there is no such limit. FromFloat makes such mechanisms, which have a method Precision() *big.Rat.
func Precision(m Mechanism) (precision *big.Rat, ok bool) {
	if a, ok := m.(interface{ Precision() *big.Rat }); ok {
		return a.Precision(), true
	}
	return nil, false
}

// ForLattice returns what m is on the lattices Q(n,k) of depth k >= 1, whatever n. That is m itself, and bound is false, unless what it answers about one score vector
// depends on how deep the lattice is: such a mechanism has a method ForLattice(k int) Mechanism, which returns itself where it has a depth already.
func ForLattice(m Mechanism, k int) (on Mechanism, bound bool) {
	if b, ok := m.(interface{ ForLattice(k int) Mechanism }); ok {
		return b.ForLattice(k), true
	}
	return m, false
}

// Within returns m with answers that end with ctx, in its error. That is m itself unless it has a method WithContext(context.Context) Mechanism, as mechanisms have
// whose answers can take long.
func Within(ctx context.Context, m Mechanism) Mechanism {
	if s, ok := m.(interface {
		WithContext(ctx context.Context) Mechanism
	}); ok {
		return s.WithContext(ctx)
	}
	return m
}

var registry = byName(
	flip, flipPair, flipMixed, oddTrio, softmax,
	geo, geoPair, geoMixed,
	exponentialMaxed, gumbelMaxed, laplaceMaxed, eachMaxed, eachLaplaceMaxed,
	plainGEM, modifiedGEM, runnerGEM, combinedGEM{},
	geometricStopping, logarithmicStopping, shapedStopping,
	response, uniformChoice,
)

func byName(builtIn ...Mechanism) map[string]Mechanism {
	all := map[string]Mechanism{}
	for _, m := range builtIn {
		all[m.Info().Name] = m
	}
	return all
}

// Register adds a mechanism under its name. It panics where the name is taken, or is not one that a list of names separated
// by commas can hold.
func Register(m Mechanism) {
	name := m.Info().Name
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		panic(fmt.Sprintf("mechanisms: %q is not a name to register", name))
	}
	if _, taken := registry[name]; taken {
		panic("mechanisms: " + name + " is registered twice")
	}
	registry[name] = m
}

// aliases are the names that people know, with those of the registry.
var aliases = map[string]string{
	"exponential": "em", "permute-and-flip": "pf", "gumbel": "rnm-gumbel", "laplace": "rnm-laplace", "geometric": "geo", "randomized-response": "krr",
}

// Alias returns the name that people know a mechanism by, "" for none but its own.
func Alias(name string) string {
	for known, own := range aliases {
		if own == name {
			return known
		}
	}
	return ""
}

// Lookup finds a mechanism by its name, or by its Alias. The error names those there are.
func Lookup(name string) (Mechanism, error) {
	if m, ok := registry[name]; ok {
		return m, nil
	}
	if m, ok := registry[aliases[name]]; ok {
		return m, nil
	}
	return nil, fmt.Errorf("unknown mechanism %q, want one of %v", name, Names())
}

// Names returns the registered names in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(registry)) }

// ParseEpsilon is number.ParseEpsilon: ε as a decimal, taken exactly.
func ParseEpsilon(s string) (number.Epsilon, error) { return number.ParseEpsilon(s) }

// ParseExp is number.ParseExp: e^ε as a fraction "a/b" or a decimal, taken exactly.
func ParseExp(s string) (number.Epsilon, error) { return number.ParseExp(s) }
