package job

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/evidence"
	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Target says which properties are decided, and the privacy of other kinds than ε-DP that verdicts are about.
type Target struct {
	Property string `json:"property" help:""`
	Rho      string `json:"rho" help:"also decide zero-concentrated DP (zcdp) with this ρ"`
	Range    string `json:"range" help:"also decide bounded-range with this target, in the units of ε (default: ε)"`
	Delta    string `json:"delta" help:"decide (ε,δ)-DP (approximate-dp) with this δ, a decimal or fraction from 0 to 1; by default in place of dp"`
	Order    string `json:"order" help:"orders of Rényi divergences, such as 1.5,2,inf: decide each of these in place of rdp, which decides all of 2 to 32"`
	Claimed  string `json:"claimed" help:"with {order}: the largest divergence that is claimed, one number for each order or one for all"`
	Profile  bool   `json:"profile" help:"also list the least δ at several ε, and the Rényi divergences of {order} or of several orders, over all pairs that were compared"`
	Slack    string `json:"slack" help:"ε-DP is proved if the tight ε is at most ε plus this, and violated if it is above that (default: 1e-6 of ε for numbers that are not exact, and 0 for exact ones)"`
}

// properties reads Property, in which there may be more than those of package verify.
func (t *Target) properties(more ...verify.Property) []verify.Property {
	names := must(SplitNames("property", t.Property))
	return must(Parsed("property", t.Property, func(string) (out []verify.Property, err error) {
		for _, name := range names {
			p := verify.Property(name)
			if !slices.Contains(verify.All(), p) && !slices.Contains(more, p) {
				return nil, fmt.Errorf("%w %q, want one of %v", number.InputError("unknown property"), name, verify.All())
			}
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		return out, nil
	}))
}

// options adds the targets to properties, of which those that the targets are about are added where some are named.
func (t *Target) options(properties []verify.Property) (o verify.Options) {
	o.Properties, o.Targets, o.Profile = properties, map[verify.Property]*big.Rat{}, t.Profile
	t.orders(&o)
	if t.Slack != "" {
		o.Slack = within("slack", t.Slack, "a decimal >= 0 such as 1e-6", notNegative)
	}
	for _, target := range []struct {
		field, text string
		property    verify.Property
	}{{"rho", t.Rho, verify.ZCDP}, {"range", t.Range, verify.BoundedRange}} {
		if target.text == "" {
			continue
		}
		o.Targets[target.property] = within(target.field, target.text, "a decimal >= 0 such as 0.125", notNegative)
		if len(properties) > 0 && !slices.Contains(o.Properties, target.property) {
			o.Properties = append(o.Properties, target.property)
		}
	}
	if t.Delta != "" {
		o.Targets[verify.ApproximateDP] = privacyDelta(t.Delta)
		return o
	}
	// A δ of 0, which is ε-DP, is never meant by leaving it out.
	refuse(slices.Contains(properties, verify.ApproximateDP), "{property} %s: it is about a δ; give {delta} too, such as {delta} 1e-6", verify.ApproximateDP)
	return o
}

// orders asks about Rényi divergences of one order each.
func (t *Target) orders(o *verify.Options) {
	orders, claims := must(SplitNames("order", t.Order)), must(SplitNames("claimed", t.Claimed))
	refuse(t.Claimed != "" && t.Order == "", "{claimed} %s: give the orders that it is about too, such as {order} 2,4,8", escape.Quoted(t.Claimed))
	refuse(len(claims) > 1 && len(claims) != len(orders), "{claimed} %s: %d numbers for %d orders; give one for each, or one for all", escape.Quoted(t.Claimed), len(claims), len(orders))
	var properties []verify.Property
	for i, text := range orders {
		p := verify.RDP + ":inf"
		if text != "inf" {
			alpha := within("order", text, "orders from 1 to 2^20, decimals or fractions such as 1.5, or inf", func(x *big.Rat) bool {
				return x.Cmp(one) >= 0 && x.Cmp(big.NewRat(1<<20, 1)) <= 0
			})
			p = verify.RDP + verify.Property(":"+inquiry.ScoreText(alpha))
		}
		refuse(slices.Contains(properties, p), "{order} %s: the order %s is there twice", escape.Quoted(t.Order), text)
		properties, o.Targets[p] = append(properties, p), nil
		if len(claims) > 0 {
			o.Targets[p] = within("claimed", claims[min(i, len(claims)-1)], "decimals >= 0 such as 0.125", notNegative)
		}
	}
	if at := slices.Index(o.Properties, verify.RDP); at >= 0 && len(properties) > 0 {
		o.Properties = slices.Replace(o.Properties, at, at+1, properties...)
	} else if len(o.Properties) > 0 {
		o.Properties = append(o.Properties, properties...)
	}
}

// certifiable refuses a certificate, if one is wanted, where no violation that may be found has one: of one of these properties, by a mechanism of this name, or by stated numbers
// where name is "".
func (in *reading) certifiable(name string, asked []verify.Property) {
	if !in.Certificate {
		return
	}
	known := evidence.Mechanisms
	refuse(name != "" && !slices.Contains(known, name), "{cert}: the checker knows the probabilities of %s, and not those of %s; leave it out", strings.Join(known, ", "), name)
	refuse(!slices.ContainsFunc(asked, func(p verify.Property) bool {
		return p != verify.RDP && slices.Contains(witnessable(name == ""), inquiry.Kind(p))
	}), "{cert}: certificates are about violations of dp, approximate-dp and {claimed}, and by named mechanisms of dominates-em; ask about one of them, or leave {cert} out")
}

// verdict sums up the verdicts of a report for an answer.
func (a *Answer) verdict(r *verify.Report) {
	sum := r.Verdict()
	var names []string
	var reason string
	for _, p := range r.Properties {
		if p.Verdict == sum && !p.Fact {
			names, reason = append(names, string(p.Name)), cmp.Or(reason, p.Reason)
		}
	}
	switch sum {
	case verify.Violated:
		a.Violated = cmp.Or(a.Violated, "violated: "+strings.Join(names, ", "))
	case verify.Undecided:
		a.Undecided = cmp.Or(a.Undecided, strings.Join(names, ", ")+": "+reason)
	}
}

// nothingDecided returns results that are all undecided.
func nothingDecided(o verify.Options, why string) []verify.Result {
	var out []verify.Result
	for i, p := range slices.Concat(o.Properties, o.Facts) {
		out = append(out, verify.Result{Name: p, Verdict: verify.Undecided, Fact: i >= len(o.Properties), Reason: why})
	}
	return out
}

// Domain says which mechanism is examined, and where: on the lattice, or on score vectors of the user and their neighbors.
type Domain struct {
	Mechanism string `json:"mechanism" help:"mechanism, by name"`
	Size
	Sensitivity   string `json:"sensitivity" default:"1" help:"-"`
	Sensitivities string `json:"sensitivities" help:"with {domain} FILE: the sensitivity Δ of all candidates, or one for each (default 1)"`
	Domain        string `json:"domain" default:"lattice" help:"lattice, real (all real scores, where a theorem answers), or a file of score vectors, one per line: 0,-1,-2.5 or [0,-1,-2.5]"`
	Neighbors     string `json:"neighbors" default:"linf" help:""`
}

// claim returns the mechanism and one sensitivity for all candidates.
func (d *Domain) claim() verify.Claim {
	refuse(d.Mechanism == "", "{mechanism} is missing: give one of %s", strings.Join(mechanisms.Names(), ", "))
	return verify.Claim{Mechanism: mechanism("mechanism", d.Mechanism), Sensitivities: []*big.Rat{positive("sensitivity", d.Sensitivity)}}
}

// vectors reads the file of a domain and what goes with it.
func (d *Domain) vectors(in *reading, c *verify.Claim) (vectors [][]*big.Rat, monotonic bool) {
	vectors = in.vectors(d.Domain, "lattice, real")
	refuse(d.Neighbors != inquiry.Model(false) && d.Neighbors != inquiry.Model(true), "{neighbors}: neighbors %q are neither linf nor monotonic", d.Neighbors)
	if d.Sensitivities != "" {
		c.Sensitivities = in.numbers("sensitivities", d.Sensitivities)
	}
	return vectors, d.Neighbors == inquiry.Model(true)
}

// Verify asks which properties a mechanism has.
type Verify struct {
	Domain `default:"n=3,k=2"`
	OneWay
	Epsilon
	Target
	Step string `json:"step" default:"2delta" help:"distance between scores on the lattice: 2delta, delta, or 2delta/L for a whole number L; {k} still counts steps of 2Δ"`
}

// checking is a question that was read: a check of the lattice, or of score vectors where there are any.
type checking struct {
	verify.Claim
	options   verify.Options
	n, k      int // of the lattice; k = 0 stands for all real scores
	vectors   [][]*big.Rat
	monotonic bool
}

func (q *Verify) read(in *reading) (j checking) {
	j.Claim = q.claim()
	j.Claim.Epsilon, j.Claim.Monotonic = q.Epsilon.value(), q.Monotonic
	j.options = q.Target.options(q.properties())
	j.n, j.k = q.N, q.K
	if q.Domain.Domain == "real" {
		refuse(q.Step != "2delta" || q.Neighbors != "linf" || q.Sensitivities != "", "{domain} real: is about all scores and all their neighbors; leave out {step}, {neighbors} and {sensitivities}")
		j.k, j.options.Facts = 0, []verify.Property{}
		j.options.Complete()
		return j
	}
	j.options.Complete()
	if q.Domain.Domain != "lattice" {
		refuse(q.Step != "2delta", "{step}: is for {domain} lattice; the vectors of %s are as far apart as they are", escape.Quoted(q.Domain.Domain))
		j.vectors, j.monotonic = q.vectors(in, &j.Claim)
		return j
	}
	j.options.Worst = q.Neighbors == "worst"
	refuse(!j.options.Worst && q.Neighbors != "linf", "{neighbors} %s: on the lattice, give linf or worst", escape.Quoted(q.Neighbors))
	j.options.Step = parts(q.Step, q.Monotonic)
	refuse(j.options.Worst && j.options.Step > 1, "{neighbors} worst: the worst neighbors do not suffice with {step} %s; leave it out", q.Step)
	q.Size.check()
	return j
}

func (q *Verify) answer(in *reading) *Answer {
	j := q.read(in)
	name := j.Mechanism.Info().Name
	d := j.Claim.Sensitivities
	refuse(in.Certificate && slices.ContainsFunc(d, func(x *big.Rat) bool { return x.Cmp(d[0]) != 0 }), "{cert}: a witness's certificate has one sensitivity for all candidates; leave it out")
	in.certifiable(name, slices.Concat(j.options.Properties, j.options.Facts))
	in.begin(name, j.Claim.Epsilon)
	r := settled(in, func() *verify.Report {
		j.options.Progress = func(property verify.Property, n, total int64) {
			in.report("%s, %s", property, inquiry.Comparisons(n, total))
		}
		if j.vectors != nil {
			return must(verify.Scores(in.ctx, j.Claim, j.vectors, j.monotonic, j.options))
		}
		return must(verify.Lattice(in.ctx, j.Claim, j.n, j.k, j.options))
	}, func(why string) *verify.Report {
		return &verify.Report{Mechanism: name, Domain: q.Domain.Domain, Claimed: j.Claim.Epsilon.Number(), Properties: nothingDecided(j.options, why)}
	})
	a := answered(r, "", func(w io.Writer) error { return writeWitness(w, r, j.setting()) })
	a.verdict(r)
	return a
}

// setting is what a witness's certificate says beside the report: on the lattice neighbors are neighbors after a shift.
func (j *checking) setting() witnessed {
	s := witnessed{Epsilon: j.Claim.Epsilon, Neighbors: "shifted", Sensitivity: j.Claim.Sensitivities[0], Delta: j.options.Targets[verify.ApproximateDP]}
	if j.vectors != nil {
		s.Neighbors = inquiry.Model(j.monotonic)
	}
	s.Scale = new(big.Rat).Mul(s.Sensitivity, big.NewRat(2, 1))
	if j.Monotonic {
		s.Neighbors, s.Scale = "monotonic", s.Sensitivity
	}
	return s
}

// Calibrate asks for the largest parameter at which a mechanism is private.
type Calibrate struct {
	Domain
	Epsilon
	Rho string `json:"rho" help:"zero-concentrated DP with this ρ, instead of ε-DP"`
}

func (q *Calibrate) read(in *reading) (j checking) {
	j.Claim = q.claim()
	refuse(q.Rho != "" && (q.Eps != "" || q.Exp != ""), "{rho} and {eps} exclude each other: give one of them")
	if q.Rho != "" {
		j.options.Targets = map[verify.Property]*big.Rat{verify.ZCDP: positive("rho", q.Rho)}
	} else {
		j.Claim.Epsilon = q.Epsilon.value()
	}
	switch q.Domain.Domain {
	case "lattice":
		q.Size.check()
	case "real":
		refuse(q.Rho == "", "{domain} real: is for {rho}; with {eps} leave it out, the lattice says where a theorem answers")
		refuse(q.N != 0 || q.K != 0 || q.Sensitivities != "", "{domain} real: is about all scores of any number of candidates; leave out {n}, {k} and {sensitivities}")
		concentrated(j.Claim.Mechanism)
	default:
		j.vectors, j.monotonic = q.vectors(in, &j.Claim)
	}
	return j
}

func (q *Calibrate) answer(in *reading) *Answer {
	j := q.read(in)
	in.begin("calibrate", number.Epsilon{})
	r := settled(in, func() *verify.Calibration {
		j.options.Narrowed = func(tried int, low, _ *big.Rat) { in.report("%d parameters, at least %s", tried, low.FloatString(9)) }
		if len(j.vectors) > 0 {
			return must(verify.CalibrateScores(in.ctx, j.Claim, j.vectors, j.monotonic, j.options))
		}
		return must(verify.Calibrate(in.ctx, j.Claim, q.N, q.K, j.options))
	}, func(why string) *verify.Calibration {
		return &verify.Calibration{Domain: q.Domain.Domain, Proof: "domain", Undecided: why}
	})
	doc := &document.Calibration{Mechanism: j.Mechanism.Info().Name, Calibration: r}
	return answered(doc, doc.Undecided, nil)
}

// concentrated refuses mechanisms of which no theorem gives ρ for all real scores.
func concentrated(m mechanisms.Mechanism) {
	_, ok := mechanisms.Concentration(m, must(number.FromEpsilon(new(big.Rat))), 64)
	refuse(!ok, "{domain} real: ρ for all real scores is known for pf, em and geo only, not for %s; give {domain} lattice", m.Info().Name)
}
