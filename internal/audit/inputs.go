package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/internal/strictjson"
	"optratio/number"
	"optratio/verify"
)

// Inputs are what a mechanism is asked about where that is no score vector: a data set, a count, any JSON value. To the engine an input is
// a vector with one entry, its place in Values. Add and AddPair refuse what is wrong with one.
type Inputs struct {
	Name   string            // in the report, such as a file
	Values []json.RawMessage // a JSON value each, on one line, passed on as it is
	Pairs  []InputPair
	OneWay bool // each pair is looked at in its order alone: Pr[M(from) in S] <= e^(distance·ε) Pr[M(to) in S]
	// Next returns the next line of a stream, which is looked at as it comes, and false at its end; nil: there is none. Of each line it is
	// the neighbors by this relation that count.
	Next     func() (Line, bool)
	Relation string

	places map[string]int // the first place of each value, by strictjson.Key
	made   int            // how many of them AddRowPairs added
	rows   []string       // of the datasets that these are; nil: they are no datasets, or it is not known which ones are neighbors
	swaps  bool           // neighbors are those of which a row is replaced, and not removed
}

// InputPair is a pair of neighbors, by the places of two inputs. It is compared at Distance times ε, Distance² times ρ, and an unchanged δ.
type InputPair struct {
	From, To int
	Distance *big.Rat // nil: 1
}

var unity = big.NewRat(1, 1)

// Multiple returns what ε is multiplied by: the distance, 1 where none is given. It must not be modified.
func (p InputPair) Multiple() *big.Rat { return cmp.Or(p.Distance, unity) }

// check refuses what the distances of pairs do not go with. What else does not go with inputs is for who makes them to refuse.
func (in *Inputs) check(o *Options) error {
	asked := slices.AppendSeq(slices.Clone(o.Properties), maps.Keys(o.Targets))
	orders := o.Profile || slices.ContainsFunc(asked, func(p verify.Property) bool { return inquiry.Kind(p) == verify.RDP })
	for i, p := range in.Pairs {
		if orders && p.Multiple().Cmp(unity) != 0 {
			return fmt.Errorf("%w: rdp and a profile are about neighbors, and pair %d has a distance other than 1", errOptions, i)
		}
	}
	return nil
}

// distance returns the least distance that a pair is stated with; nil where it is no pair.
func (in *Inputs) distance(from, to int) (least *big.Rat) {
	for _, p := range in.Pairs {
		if p.From == from && p.To == to || !in.OneWay && p.From == to && p.To == from {
			if d := p.Multiple(); least == nil || d.Cmp(least) < 0 {
				least = d
			}
		}
	}
	return least
}

// domain has the inputs for vectors and, for neighbors, the pairs at a distance; nil: all.
func (in *Inputs) domain(space *inquiry.Space, distance *big.Rat) *inquiry.Domain {
	vectors := func(yield func(inquiry.Vector) bool) {
		for i := 0; i < len(in.Values) || in.more(func() int { return len(in.Values) - i }); i++ {
			if !yield(inquiry.Vector{int64(i)}) {
				return
			}
		}
	}
	neighbors := func(yield func(inquiry.Vector, inquiry.Vector) bool) {
		for i := 0; i < len(in.Pairs) || in.more(func() int { return len(in.Pairs) - i }); i++ {
			p := in.Pairs[i]
			if (distance == nil || p.Multiple().Cmp(distance) == 0) && !yield(inquiry.Vector{int64(p.From)}, inquiry.Vector{int64(p.To)}) {
				return
			}
		}
	}
	return &inquiry.Domain{Name: in.title(), Space: space, Directed: in.OneWay, Vectors: vectors, Neighbors: neighbors}
}

// title says in words what is looked at, as far as it has come.
func (in *Inputs) title() string {
	name := fmt.Sprintf("the %s of %s", counted(len(in.Values)-in.made, "input"), cmp.Or(in.Name, "a list"))
	if in.made > 0 {
		name += fmt.Sprintf(", and %d that differ from one of them in a row", in.made)
	}
	name += ", " + counted(len(in.Pairs), "pair")
	if in.Relation != "" {
		name += " related by " + in.Relation
	}
	if in.OneWay {
		name += " that are looked at one way"
	}
	return name
}

// distances lists the distances of pairs, ascending. Those of a stream have 1.
func (in *Inputs) distances() []*big.Rat {
	if len(in.Pairs) == 0 || in.Next != nil {
		return []*big.Rat{unity}
	}
	var all []*big.Rat
	for _, p := range in.Pairs {
		all = append(all, p.Multiple())
	}
	slices.SortFunc(all, (*big.Rat).Cmp)
	return slices.CompactFunc(all, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
}

// decide is verify.Check on all inputs: once for each distance d of pairs, at dε, d²ρ and a range d times as large, with what is tight put back
// into the units of distance 1.
func (o *Options) decide(ctx context.Context, q *inquiry.Question, options verify.Options) (*verify.Report, error) {
	if o.Inputs == nil {
		return verify.Check(ctx, q, options)
	}
	distances := o.Inputs.distances()
	if len(distances) == 1 && distances[0].Cmp(unity) == 0 {
		r, err := verify.Check(ctx, q, options)
		if err == nil {
			r.Domain = o.Inputs.title() // of a stream, whose lines have come
		}
		return r, err
	}
	var all *verify.Report
	for i, d := range distances {
		part := options
		part.Targets, part.Slack = maps.Clone(options.Targets), times(options.Slack, d)
		if part.Targets != nil {
			part.Targets[verify.BoundedRange], part.Targets[verify.ZCDP] = times(options.Targets[verify.BoundedRange], d), times(times(options.Targets[verify.ZCDP], d), d)
		}
		if i > 0 { // the sum is about single inputs
			single := func(p verify.Property) bool { return p == verify.Sum }
			part.Properties = slices.DeleteFunc(slices.Clone(options.Properties), single)
			part.Facts = slices.DeleteFunc(slices.Clone(options.Facts), single)
			if len(part.Properties) == 0 {
				break
			}
		}
		at := *q
		at.Exp, at.Domain = inquiry.ExpTimes(o.Epsilon, d), o.Inputs.domain(q.Domain.Space, d)
		r, err := verify.Check(ctx, &at, part)
		if err != nil {
			return nil, err
		}
		if d.Cmp(unity) != 0 {
			for j := range r.Properties {
				perDistance(&r.Properties[j], d)
			}
		}
		if all == nil {
			r.Domain = q.Domain.Name
			all = r
			continue
		}
		for _, p := range r.Properties {
			found := all.Find(p.Name)
			*found = both(*found, p)
		}
	}
	return all, nil
}

// perDistance puts what was found at the multiple d of ε into the units of distance 1.
func perDistance(p *verify.Result, d *big.Rat) {
	for _, w := range []*verify.Witness{p.Witness, p.Attained} {
		if w != nil && w.Neighbor != nil {
			w.Distance = d
		}
	}
	if p.Reason != "" {
		p.Reason = fmt.Sprintf("at distance %s, whose multiple of ε counts: %s", inquiry.ScoreText(d), p.Reason)
	}
	p.Relaxed, p.TightExpEps = nil, nil
	p.TightEps, p.Range, p.Rho = per(p.TightEps, d), per(p.Range, d), per(per(p.Rho, d), d)
	switch p.Name {
	case verify.ApproximateDP: // δ does not grow with the distance
	case verify.ZCDP:
		p.Target = per(per(p.Target, d), d)
	default:
		p.Target = per(p.Target, d)
	}
}

// times returns x·d; nil for nil.
func times(x, d *big.Rat) *big.Rat {
	if x == nil {
		return nil
	}
	return new(big.Rat).Mul(x, d)
}

// per returns x/d.
func per(x number.Number, d *big.Rat) number.Number {
	if !x.IsValid() {
		return x
	}
	return x.Over(number.Exact(d))
}

// distance returns the distance of a pair of neighbors; nil: 1.
func (o *Options) distance(q, other inquiry.Vector) *big.Rat {
	if o.Inputs == nil {
		return nil
	}
	return o.Inputs.distance(int(q[0]), int(other[0]))
}

// about says in words what was asked about: scores or an input.
func (o *Options) about(space *inquiry.Space, q inquiry.Vector) string {
	if o.Inputs != nil {
		return "input " + inquiry.InputText(o.Inputs.Values[q[0]])
	}
	return "scores " + inquiry.ScoresText(space.Scores(q))
}

// finding is a finding at a question.
func (o *Options) finding(event, detail string, space *inquiry.Space, q inquiry.Vector) Finding {
	if o.Inputs != nil {
		return Finding{Event: event, Detail: detail, Input: o.Inputs.Values[q[0]]}
	}
	return Finding{Event: event, Detail: detail, Scores: space.Scores(q)}
}

// nameInputs puts inputs into the witnesses, in place of their numbers.
func (r *Report) nameInputs(in *Inputs) {
	if in == nil {
		return
	}
	r.Relation = in.Relation
	for _, p := range r.Properties {
		for _, w := range []*verify.Witness{p.Witness, p.Attained} {
			if w == nil || w.Input != nil {
				continue
			}
			from := int(w.Scores[0].Num().Int64())
			w.Input, w.Scores = in.Values[from], nil
			if w.Neighbor == nil {
				continue
			}
			to := int(w.Neighbor[0].Num().Int64())
			w.NeighborInput, w.Neighbor = in.Values[to], nil
			if d := in.distance(from, to); w.Distance == nil && d != nil && d.Cmp(unity) != 0 {
				w.Distance = d
			}
		}
	}
}

// Add adds an input, a JSON value.
func (in *Inputs) Add(value json.RawMessage) error {
	key, err := strictjson.Key(value)
	switch {
	case strictjson.NoJSON(err):
		return fmt.Errorf("%w; give one JSON value per line", err)
	case err != nil:
		return err
	}
	if in.places == nil {
		in.places = map[string]int{}
	}
	if _, known := in.places[key]; !known {
		in.places[key] = len(in.Values)
	}
	in.Values = append(in.Values, value)
	return nil
}

const wantPair = `give two line numbers such as 0,3 or a JSON array of two inputs, and a distance after them if it is not 1`

// AddPair adds a pair of neighbors among the inputs that were added: two line numbers from 0, or a JSON array of two of the inputs; then, optionally, a distance, a
// decimal or a fraction, which is a number or a string in an array.
func (in *Inputs) AddPair(text string) (err error) {
	var parts []json.RawMessage
	place := in.numbered
	if array := strings.HasPrefix(text, "["); array {
		if err := strictjson.Check([]byte(text)); err != nil {
			return fmt.Errorf("%w; %s", err, wantPair)
		}
		_ = json.Unmarshal([]byte(text), &parts)
		place = in.find
	} else {
		for part := range strings.SplitSeq(text, ",") {
			parts = append(parts, json.RawMessage(strings.TrimSpace(part)))
		}
	}
	if len(parts) != 2 && len(parts) != 3 {
		return fmt.Errorf("%d fields; %s", len(parts), wantPair)
	}
	var p InputPair
	if p.From, err = place(parts[0]); err != nil {
		return err
	}
	if p.To, err = place(parts[1]); err != nil {
		return err
	}
	if len(parts) == 3 {
		text := string(parts[2])
		_ = json.Unmarshal(parts[2], &text) // of a string what is in it
		if p.Distance, err = decimal.ParseNumber(text); err != nil || p.Distance.Sign() <= 0 {
			return fmt.Errorf("%s is not a distance; give a positive number such as 2, 0.5 or 1/3", brief(parts[2]))
		}
	}
	in.Pairs = append(in.Pairs, p)
	return nil
}

// Line is an input and its neighbors, by the names of relations, "" where there is none.
type Line struct {
	Input     json.RawMessage
	Neighbors map[string][]json.RawMessage
}

// ReadLine reads {"input":3,"neighbors":[2,4]} or {"input":[1],"neighbors":{"add":[[1,2]],"replace":[[3]]}}.
func ReadLine(text string) (l Line, err error) {
	fields, err := strictjson.Object([]byte(text))
	if err == nil {
		_, err = strictjson.Key([]byte(text))
	}
	var list []json.RawMessage
	l.Input = fields["input"]
	switch given := fields["neighbors"]; {
	case err != nil:
	case len(fields) != 2 || l.Input == nil || given == nil:
		err = fmt.Errorf("%s", brief([]byte(text)))
	case given[0] == '[':
		_ = json.Unmarshal(given, &list)
		l.Neighbors = map[string][]json.RawMessage{"": list}
	case json.Unmarshal(given, &l.Neighbors) != nil || len(l.Neighbors) == 0:
		err = fmt.Errorf("the neighbors %s", brief(given))
	}
	if err != nil {
		err = fmt.Errorf(`%w; give {"input":VALUE,"neighbors":[VALUE,…]}, or in place of the list {"add":[VALUE,…],"replace":[VALUE,…]}`, err)
	}
	return l, err
}

// more takes lines of a stream until there are some of what is wanted, and reports whether there are.
func (in *Inputs) more(wanted func() int) bool {
	for in.Next != nil && wanted() <= 0 {
		line, ok := in.Next()
		if !ok {
			in.Next = nil
			break
		}
		from := in.place(line.Input)
		for _, value := range line.Neighbors[in.Relation] {
			if to := in.place(value); to != from {
				in.Pairs = append(in.Pairs, InputPair{From: from, To: to})
			}
		}
	}
	return wanted() > 0
}

// whole takes all lines of a stream, if there is one.
func (in *Inputs) whole() error {
	if in != nil && in.more(func() int { return len(in.Pairs) - mostRowPairs }) {
		return fmt.Errorf("%w: more than %d pairs of inputs, which are needed at once here; give fewer", errOptions, mostRowPairs)
	}
	return nil
}

// place returns the place of an input, which is added if it is not there.
func (in *Inputs) place(value json.RawMessage) int {
	at, err := in.find(value)
	if err != nil {
		at = len(in.Values)
		_ = in.Add(value) // of which the syntax is known
	}
	return at
}

// find returns the place of an input.
func (in *Inputs) find(value json.RawMessage) (int, error) {
	key, err := strictjson.Key(value)
	if err != nil {
		return 0, err
	}
	at, known := in.places[key]
	if !known {
		return 0, fmt.Errorf("%s is not among the inputs; add it to their file, a line", brief(value))
	}
	return at, nil
}

// numbered returns the place that a line number says.
func (in *Inputs) numbered(text json.RawMessage) (int, error) {
	x, err := decimal.Parse(string(text))
	switch n := int64(len(in.Values)); {
	case err != nil || !x.IsInt() || x.Sign() < 0:
		return 0, fmt.Errorf("%s is not a line number; %s", brief(text), wantPair)
	case x.Cmp(big.NewRat(n, 1)) >= 0:
		return 0, fmt.Errorf("there is no input %s; they are numbered from 0 to %d", brief(text), n-1)
	}
	return int(x.Num().Int64()), nil
}
