package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/mechanisms"
)

// Params are the parameters of mechanisms that have any.
type Params struct {
	Gamma     string `json:"gamma" help:"rs, rs-log, rs-tnb: success parameter γ of the number of draws (default 0.05)"`
	Beta      string `json:"beta" help:"gem, mgem, combined-gem: failure probability β (default 0.05)"`
	Eta       string `json:"eta" help:"rs-tnb: shape η of the number of draws (default 1)"`
	EpsChoice string `json:"eps-choice" help:"combined-gem: share of ε for the choice (default 0.6)"`
}

func (p Params) read() (out mechanisms.Params) {
	for _, q := range []struct {
		field, text string
		to          **big.Rat
	}{{"gamma", p.Gamma, &out.Gamma}, {"beta", p.Beta, &out.Beta}, {"eta", p.Eta, &out.Eta}, {"eps-choice", p.EpsChoice, &out.EpsChoice}} {
		if q.text != "" {
			x, err := decimal.ParseNumber(q.text)
			refuse(err != nil, "{"+q.field+"}: %w; give a decimal", err)
			*q.to = x
		}
	}
	return out
}

// Values reads them.
func (p Params) Values() (mechanisms.Params, error) { return read(p.read) }

// mechanism reads the name of one, in the given field.
func mechanism(field, name string) mechanisms.Mechanism {
	refuse(strings.Contains(name, ","), "{"+field+"} %s: give one mechanism at a time", escape.Quoted(name))
	return must(find(field, name, mechanisms.Lookup))
}

func find(field, name string, lookup func(string) (mechanisms.Mechanism, error)) (mechanisms.Mechanism, error) {
	m, err := lookup(strings.TrimSpace(name))
	if err != nil {
		return nil, refusal("{"+field+"} %s: no such mechanism; give one that optratio mechanisms lists%s", escape.Quoted(name), nearMechanism(strings.TrimSpace(name)))
	}
	return m, nil
}

// FewerNames returns the names that mechanisms.LookupFewer knows in NAME:M.
func FewerNames() []string {
	return slices.DeleteFunc(mechanisms.Names(), func(name string) bool {
		_, err := mechanisms.LookupFewer(name + ":1")
		return err != nil
	})
}

// FindMechanisms reads a comma-separated list of names: with mechanisms.Lookup, or with mechanisms.LookupFewer where each score vector is
// asked for itself.
func FindMechanisms(list string, lookup func(string) (mechanisms.Mechanism, error)) ([]mechanisms.Mechanism, error) {
	var found []mechanisms.Mechanism
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		m, err := find("mechanism", name, lookup)
		if _, fewer := lookup(FewerNames()[0] + ":1"); err != nil && fewer == nil && strings.Contains(name, ":") {
			err = refusal("{mechanism} %s: give NAME:M with M from 1 on and one of these names: %s", escape.Quoted(name), strings.Join(FewerNames(), ", "))
		}
		if err != nil {
			return nil, err
		}
		if own := m.Info().Name; !seen[own] {
			found, seen[own] = append(found, m), true
		}
	}
	return found, nil
}

// splitNumbers reads decimals and fractions separated by commas.
func splitNumbers(list string) ([]*big.Rat, error) {
	var out []*big.Rat
	for text := range strings.SplitSeq(list, ",") {
		r, err := decimal.ParseNumber(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// splitScores reads a score vector: numbers separated by commas, or a JSON array of numbers and of strings "p/q".
func splitScores(text string) ([]*big.Rat, error) {
	if !strings.HasPrefix(text, "[") {
		return splitNumbers(text)
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		return nil, fmt.Errorf("%s is not a JSON array", escape.Quoted(text))
	}
	if len(items) == 0 {
		return nil, errors.New("no scores")
	}
	out := make([]*big.Rat, len(items))
	for i, item := range items {
		number := string(item)
		if json.Unmarshal(item, &number) != nil {
			number = string(item)
		}
		var err error
		if out[i], err = decimal.ParseNumber(number); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// splitPair reads two neighbors: scores;scores, or a JSON array of two arrays.
func splitPair(text string) (pair [2][]*big.Rat, err error) {
	const want = "give scores;scores such as 0,-1;1,-1, or [[0,-1],[1,-1]]"
	left, right, ok := strings.Cut(text, ";")
	if strings.HasPrefix(text, "[[") && !ok {
		var sides []json.RawMessage
		if ok = json.Unmarshal([]byte(text), &sides) == nil && len(sides) == 2; ok {
			left, right = string(sides[0]), string(sides[1])
		}
	}
	if !ok {
		return pair, refusal("not a pair of score vectors; %s; pairs of inputs such as 0,3 need {inputs} FILE beside {neighbors}", want)
	}
	for i, side := range []string{left, right} {
		if pair[i], err = splitScores(strings.TrimSpace(side)); err != nil {
			return pair, fmt.Errorf("%w; %s", err, want)
		}
	}
	if len(pair[0]) != len(pair[1]) {
		return pair, fmt.Errorf("%d and %d scores, give as many on either side", len(pair[0]), len(pair[1]))
	}
	return pair, nil
}

// vectors reads the file of score vectors that a domain names, one per line, comma-separated or as a JSON array, all of one length. What else the field
// takes is in others.
func (in *reading) vectors(path, others string) [][]*big.Rat {
	length := 0
	return lines(in, "domain", path, others+" or a file of score vectors", "the file has no score vectors; give one per line, such as 0,-1,-2.5", func(text string) ([]*big.Rat, error) {
		v, err := splitScores(text)
		if err != nil {
			return nil, fmt.Errorf("%w; give scores separated by commas, or a JSON array of them", err)
		}
		if length > 0 && len(v) != length {
			return nil, fmt.Errorf("%d scores where the lines before have %d", len(v), length)
		}
		length = len(v)
		return v, nil
	})
}
