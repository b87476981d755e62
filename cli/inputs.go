package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"optratio/internal/command"
	"optratio/verify/audit"
)

// aboutInputs refuses what does not go with --inputs.
func (f *auditFlags) aboutInputs(o *audit.Options) error {
	switch {
	case f.domain != "lattice":
		return command.Usagef("--inputs and --domain exclude each other: the inputs are the domain")
	case f.neighbors == "linf" || f.neighbors == "monotonic":
		return command.Usagef("--inputs: give --neighbors FILE, a line such as 0,3 for each pair of inputs that are neighbors")
	case f.against != "":
		return command.Usagef("--against: a mechanism is about scores, leave it out with --inputs")
	case f.shifted:
		return command.Usagef("--shifted: it is about scores, leave it out with --inputs")
	case f.property == "":
		return nil
	}
	for _, p := range o.Properties {
		if !slices.Contains(audit.OfLabels, p) {
			return command.Usagef("--property %s: %s is about candidates and scores, which inputs do not have", command.Quoted(f.property), p)
		}
	}
	return nil
}

// readInputs reads --inputs, and --neighbors, which is about them.
func (f *auditFlags) readInputs(ctx context.Context) (*audit.Inputs, error) {
	in := &audit.Inputs{Name: f.inputs}
	err := command.ReadLines(ctx, "--inputs", f.inputs, func(text string) error { return in.Add(json.RawMessage(text)) })
	if err == nil && in.Values == nil {
		err = command.Usagef("--inputs %s: no inputs, give a JSON value a line", command.Quoted(f.inputs))
	}
	if err != nil {
		return nil, err
	}
	first := true
	err = command.ReadLines(ctx, "--neighbors", f.neighbors, func(text string) error {
		if oneway := text == `"oneway"`; oneway {
			if !first {
				return errors.New(`"oneway" is about the whole file, give it in the first line`)
			}
			in.OneWay, first = true, false
			return nil
		}
		first = false
		return in.AddPair(text)
	})
	if err == nil && len(in.Pairs) == 0 {
		err = command.Usagef("--neighbors %s: the file has no pairs, give one a line such as 0,3", command.Quoted(f.neighbors))
	}
	return in, err
}

// units says what the numbers of witnesses are.
func (f *auditFlags) units() string {
	if f.inputs != "" {
		return "inputs are those of " + command.Quoted(f.inputs) + "; numbers after a colon are probabilities"
	}
	return scoreUnits("Δ = " + f.sensitivity)
}
