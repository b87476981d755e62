package certificate

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"optratio/number"
)

// magicSection is the first line of version 3. What such a file is about and how it is proved is a section of the format, which its second line names;
// docs/reference/certificate.md has all of them.
const magicSection = "optratio-certificate 3"

// section is a file of version 3: a problem with its proof.
type section interface {
	// read reads all lines between the one that names the section and the last one. It returns ErrLimit before it has done work out of proportion.
	read(r *reader, o Options) error
	// about describes the problem in one line; it is called after as much was read as could be.
	about(p *Problem)
	// proves returns what the file proves: bounds on what is claimed. reason says why it proves nothing.
	proves(o Options) (lower, upper *big.Rat, reason string, err error)
	// stated returns the claim, nil where the file ends before it.
	stated() *Claim
}

// sections makes one of each kind.
var sections = map[string]func() section{
	"heterogeneous": func() section { return &heterogeneous{} },
	"topk":          func() section { return &topK{} },
	"table":         func() section { return &explicit{} },
	"stopping":      func() section { return &stopping{} },
	"witness":       func() section { return &witness{} },
}

// ErrUndecided is wrapped by the error of a check that cannot tell, whatever the limits are.
var ErrUndecided = errors.New("this cannot be decided here")

// checkSection decides whether the claim of a certificate of version 3 follows.
func checkSection(r *reader, o Options) (*Report, error) {
	rep := &Report{}
	kind := ""
	var s section
	err := r.oneOf("problem", &kind, "heterogeneous", "topk", "table", "stopping", "witness")
	if err == nil {
		s = sections[kind]()
		if err = s.read(r, o); err == nil {
			err = r.end()
		}
		rep.Problem = &Problem{Kind: kind, Step: 1, Proof: "lp"}
		s.about(rep.Problem)
		if q := s.stated(); q != nil {
			q.Value = number.Bounds(q.lower, q.upper)
			rep.Claims = []Claim{*q}
		}
	}
	var form malformed
	switch {
	case errors.As(err, &form):
		rep.Reason = string(form)
		return rep, nil
	case err != nil:
		return nil, err
	}
	lower, upper, reason, err := s.proves(o)
	if errors.As(err, &form) {
		reason, err = string(form), nil
	}
	if err != nil {
		return nil, err
	}
	q := &rep.Claims[0]
	switch {
	case reason != "":
		rep.Reason = reason
	case lower != nil && q.lower.Cmp(lower) > 0 || lower == nil && q.lower != nil:
		rep.Reason = fmt.Sprintf("claim %s: %v and more is claimed, %v is proved", q.On, exactly(q.lower), shown(lower))
	case upper != nil && q.upper.Cmp(upper) < 0 || upper == nil && q.upper != nil:
		rep.Reason = fmt.Sprintf("claim %s: %v and less is claimed, %v is proved", q.On, exactly(q.upper), shown(upper))
	default:
		rep.Valid, q.Follows = true, true
		if q.On == "optimum" {
			rep.Optimum = q.Value
		} else {
			q.Value = number.Bounds(lower, nil)
		}
	}
	return rep, nil
}

// shown is a bound for a message.
func shown(bound *big.Rat) string {
	if bound == nil {
		return "nothing"
	}
	return exactly(bound).String()
}

// numbers reads a line of so many rationals, or of any number of them where count is 0.
func (r *reader) numbers(word string, count int) ([]*big.Rat, error) {
	rest, err := r.take(word)
	if err != nil {
		return nil, err
	}
	if got := strings.Count(rest, " ") + 1; count > 0 && got != count {
		return nil, r.badf("%s: %d numbers where %d were expected", word, got, count)
	}
	var out []*big.Rat
	for f := range strings.SplitSeq(rest, " ") {
		x, err := parseValue(f, maxBodyLength)
		if err != nil {
			return nil, r.badf("%s: %v", word, err)
		}
		out = append(out, x)
	}
	return out, r.advance()
}

// number reads a line of one rational that is at least least.
func (r *reader) number(word string, least *big.Rat) (*big.Rat, error) {
	x, err := r.numbers(word, 1)
	if err != nil {
		return nil, err
	}
	if x[0].Cmp(least) < 0 {
		return nil, r.badf("%s is less than %s", word, least.RatString())
	}
	return x[0], nil
}

// whole reads a line of one whole number.
func (r *reader) whole(word string, least, most int) (int, error) {
	rest, err := r.take(word)
	if err != nil {
		return 0, err
	}
	x, err := parseInteger(rest, most)
	if err != nil {
		return 0, r.badf("%s: %v", word, err)
	}
	if x < least {
		return 0, r.badf("%s is less than %d", word, least)
	}
	return x, r.advance()
}

// word reads a line that is one of some words.
func (r *reader) word(name string, options ...string) (string, error) {
	rest, err := r.take(name)
	if err != nil {
		return "", err
	}
	for _, option := range options {
		if rest == option {
			return rest, r.advance()
		}
	}
	return "", r.badf("%s %s is none of %s", name, quote(rest), strings.Join(options, ", "))
}

// sized returns ErrLimit where a check takes more steps than allowed, by its own estimate.
func (o Options) sized(steps float64) error {
	if steps > float64(o.MaxSteps) {
		return fmt.Errorf("%w: the check takes about %.3g steps; the limit is %.3g", ErrLimit, steps, float64(o.MaxSteps))
	}
	return nil
}
