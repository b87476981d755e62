package job

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/escape"
	"optratio/number"
	"optratio/verify"
	"optratio/verify/certificate"
)

// Target says which properties are decided, and the privacy of other kinds than ε-DP that verdicts are about.
type Target struct {
	Property string `json:"property" help:""`
	Rho      string `json:"rho" help:"target of zero-concentrated DP: also decide zcdp with this ρ"`
	Range    string `json:"range" help:"target of bounded range, in the units of ε: also decide bounded-range with this instead of ε"`
	Delta    string `json:"delta" help:"decide (ε,δ)-DP with this δ, a decimal or fraction from 0 to 1: approximate-dp, by default in the place of dp"`
	Slack    string `json:"slack" help:"ε-DP is proved up to ε plus this, and violated above (default: 1e-6 of ε for numbers that are not exact, and 0 for exact ones)"`
}

// properties reads Property.
func (t *Target) properties() ([]verify.Property, error) {
	names, err := SplitNames("property", t.Property)
	if err != nil {
		return nil, err
	}
	return Parsed("property", t.Property, func(string) ([]verify.Property, error) { return verify.ParseProperties(names) })
}

// options adds the targets to properties, of which those that the targets are about are added where some are named.
func (t *Target) options(properties []verify.Property) (o verify.Options, err error) {
	o.Properties = properties
	for _, target := range []struct {
		field, text, example string
		to                   **big.Rat
		property             verify.Property
	}{{"rho", t.Rho, "0.125", &o.Rho, verify.ZCDP}, {"range", t.Range, "0.125", &o.Range, verify.BoundedRange}, {"slack", t.Slack, "1e-6", &o.Slack, ""}} {
		if target.text == "" {
			continue
		}
		if *target.to, err = within(target.field, target.text, "a decimal >= 0 such as "+target.example, notNegative); err != nil {
			return o, err
		}
		if target.property != "" && len(properties) > 0 && !slices.Contains(o.Properties, target.property) {
			o.Properties = append(o.Properties, target.property)
		}
	}
	// A δ of 0, which is ε-DP, is never meant by leaving it out.
	switch {
	case t.Delta != "":
		o.Delta, err = parseDelta(t.Delta)
	case slices.Contains(properties, verify.ApproximateDP):
		err = refuse("{property} %s: it is about a δ; give {delta} too, such as {delta} 1e-6", verify.ApproximateDP)
	}
	return o, err
}

// certifiable refuses a certificate where no violation that may be found has one: of one of these properties, by a mechanism of this name, or by stated numbers
// where name is "".
func certifiable(name string, asked []verify.Property) error {
	switch known := certificate.Mechanisms(); {
	case name != "" && !slices.Contains(known, name):
		return refuse("{cert}: the checker knows the probabilities of %s, and not those of %s; leave it out", strings.Join(known, ", "), name)
	case !slices.ContainsFunc(asked, func(p verify.Property) bool { return slices.Contains(witnessable(name == ""), p) }):
		return refuse("{cert}: certificates are about violations of dp and approximate-dp, and by named mechanisms of dominates-em; add one to {property}, or leave {cert} out")
	}
	return nil
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
		a.Violated = "violated: " + strings.Join(names, ", ")
	case verify.Undecided:
		a.Undecided = strings.Join(names, ", ") + ": " + reason
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

// comparisons says how many of all were made, where it is known how many these are.
func comparisons(n, total int64) string {
	if total == 0 {
		return fmt.Sprintf("%d comparisons", n)
	}
	return fmt.Sprintf("%d of %d comparisons", n, total)
}

// Domain says which mechanism is examined, and where: on the lattice, or on score vectors of the user and their neighbors.
type Domain struct {
	Mechanism string `json:"mechanism" help:"mechanism, by name"`
	Size
	Sensitivity   string `json:"sensitivity" help:"sensitivity Δ"`
	Sensitivities string `json:"sensitivities" help:"with {domain} FILE: a sensitivity for each candidate"`
	Domain        string `json:"domain" help:"lattice, or a file of score vectors, one a line: 0,-1,-2.5 or [0,-1,-2.5]"`
	Neighbors     string `json:"neighbors" help:""`
	OneWay
	Params
}

// claim returns the mechanism with its parameters and one sensitivity for all candidates.
func (d *Domain) claim() (c verify.Claim, err error) {
	if c.Mechanism, err = FindMechanism("mechanism", d.Mechanism); err != nil {
		return c, err
	}
	c.Sensitivities, c.Monotonic = make([]*big.Rat, 1), d.Monotonic
	into(&c.Mechanism, &err)(d.Params.OnLattice(c.Mechanism, 0))
	into(&c.Params, &err)(d.Params.Values())
	into(&c.Sensitivities[0], &err)(ParsePositive("sensitivity", d.Sensitivity))
	return c, err
}

// vectors reads the file of a domain and what goes with it.
func (d *Domain) vectors(ctx context.Context, h *Host, c *verify.Claim) (vectors [][]*big.Rat, model verify.Neighborhood, err error) {
	if vectors, err = h.readVectors(ctx, d.Domain, "lattice"); err != nil {
		return nil, model, err
	}
	if model, err = verify.ParseNeighborhood(d.Neighbors); err != nil {
		return nil, model, refuse("{neighbors}: %w", err)
	}
	if d.Sensitivities != "" {
		c.Sensitivities, err = h.numbers(ctx, "sensitivities", d.Sensitivities)
	}
	return vectors, model, err
}

// Verify asks which properties a mechanism has.
type Verify struct {
	Domain
	Epsilon
	Target
	Step   string `json:"step" help:"distance of scores on the lattice: 2delta, delta, or 2delta/L for a whole number L; {k} counts steps of 2Δ all the same"`
	Orders string `json:"orders" help:"orders of rdp, comma-separated (default 2 to 32)"`
}

// NewVerify returns the question with its defaults.
func NewVerify() *Verify {
	return &Verify{Domain: Domain{Mechanism: "pf", Sensitivity: "1", Domain: "lattice", Neighbors: "linf"}, Step: "2delta"}
}

func (*Verify) standard() (string, any) { return "verify", NewVerify() }

// checking is a question that was read: a check of the lattice, or of score vectors where there are any.
type checking struct {
	verify.Claim
	options verify.Options
	vectors [][]*big.Rat
	model   verify.Neighborhood
}

func (q *Verify) read(ctx context.Context, h *Host) (j checking, err error) {
	var properties []verify.Property
	into(&j.Claim, &err)(q.claim())
	into(&j.Claim.Epsilon, &err)(q.Epsilon.Parse())
	into(&properties, &err)(q.properties())
	into(&j.options, &err)(q.Target.options(properties))
	if err != nil {
		return j, err
	}
	if j.options.Orders, err = h.numbers(ctx, "orders", q.Orders); err != nil {
		return j, err
	}
	for _, a := range j.options.Orders {
		if a.Cmp(big.NewRat(1, 1)) < 0 {
			return j, refuse("{orders}: %s is below 1, give orders of at least 1", a.RatString())
		}
	}
	j.options.Complete()
	if q.Domain.Domain != "lattice" {
		if q.Step != "2delta" {
			return j, refuse("{step}: is for {domain} lattice; the vectors of %s are as far apart as they are", escape.Quoted(q.Domain.Domain))
		}
		j.vectors, j.model, err = q.vectors(ctx, h, &j.Claim)
		return j, err
	}
	if j.options.Worst = q.Neighbors == "worst"; !j.options.Worst && q.Neighbors != "linf" {
		return j, refuse("{neighbors} %s: on the lattice, give linf or worst", escape.Quoted(q.Neighbors))
	}
	if j.options.Step, err = ParseStep(q.Step, q.Monotonic); err != nil {
		return j, err
	}
	if j.options.Worst && j.options.Step > 1 {
		return j, refuse("{neighbors} worst: the worst neighbors do not suffice with {step} %s; leave it out", q.Step)
	}
	return j, q.Size.check()
}

// Answer answers it.
func (q *Verify) Answer(ctx context.Context, h *Host) (*Answer, error) {
	j, err := q.read(ctx, h)
	if err != nil {
		return nil, err
	}
	name := j.Mechanism.Info().Name
	if d := j.Claim.Sensitivities; h.Certificate && slices.ContainsFunc(d, func(x *big.Rat) bool { return x.Cmp(d[0]) != 0 }) {
		return nil, refuse("{cert}: a witness's certificate has one sensitivity for all candidates; leave it out")
	}
	if h.Certificate {
		if err := certifiable(name, slices.Concat(j.options.Properties, j.options.Facts)); err != nil {
			return nil, err
		}
	}
	report, err := h.Begin(name, j.Claim.Epsilon)
	if err != nil {
		return nil, err
	}
	j.options.Progress = func(property verify.Property, n, total int64) { report("%s, %s", property, comparisons(n, total)) }
	r, err := Settle(ctx, func() (*verify.Report, error) {
		if j.vectors != nil {
			return verify.Scores(ctx, j.Claim, j.vectors, j.model, j.options)
		}
		return verify.Lattice(ctx, j.Claim, q.N, q.K, j.options)
	}, func(why string) *verify.Report {
		return &verify.Report{Mechanism: name, Domain: q.Domain.Domain, Claimed: j.Claim.Epsilon.Number(), Properties: nothingDecided(j.options, why)}
	})
	if err != nil {
		return nil, err
	}
	a := answered(r, "")
	a.verdict(r)
	a.certified(func(w io.Writer) error { return writeWitness(w, r, j.setting()) })
	return a, nil
}

// setting is what a witness's certificate says beside the report: on the lattice neighbors are neighbors after a shift.
func (j *checking) setting() witnessed {
	s := witnessed{Epsilon: j.Claim.Epsilon, Neighbors: "shifted", Sensitivity: j.Claim.Sensitivities[0], Delta: j.options.Delta}
	if j.vectors != nil {
		s.Neighbors = neighborsWord(j.model)
	}
	s.Scale = new(big.Rat).Mul(s.Sensitivity, big.NewRat(2, 1))
	if j.Monotonic {
		s.Neighbors, s.Scale = "monotonic", s.Sensitivity
	}
	return s
}

// neighborsWord is how a certificate names who is a neighbor.
func neighborsWord(m verify.Neighborhood) string {
	return Choose(m == verify.Monotonic, "monotonic", "linf")
}

// Calibrate asks for the largest parameter at which a mechanism is private.
type Calibrate struct {
	Domain
	Epsilon
	Rho string `json:"rho" help:"zero-concentrated DP with this ρ, instead of ε-DP"`
	Gap string `json:"gap" help:"relative width wanted of the parameter: (upper-lower)/upper (default 1e-9)"`
}

// NewCalibrate returns the question with its defaults.
func NewCalibrate() *Calibrate {
	return &Calibrate{Domain: Domain{Sensitivity: "1", Domain: "lattice", Neighbors: "linf"}}
}

func (*Calibrate) standard() (string, any) { return "calibrate", NewCalibrate() }

func (q *Calibrate) read(ctx context.Context, h *Host) (c verify.Calibrator, err error) {
	if q.Mechanism == "" {
		return c, refuse("{mechanism} is missing: give one that optratio mechanisms lists")
	}
	if c.Claim, err = q.claim(); err != nil {
		return c, err
	}
	switch {
	case q.Rho != "" && (q.Eps != "" || q.Exp != ""):
		return c, refuse("{rho} and {eps} exclude each other: give one of them")
	case q.Rho != "":
		c.Target.Rho, err = ParsePositive("rho", q.Rho)
	default:
		c.Target.Epsilon, err = q.Epsilon.Parse()
	}
	if err == nil && q.Gap != "" {
		c.Gap, err = gap(q.Gap, false)
	}
	if err != nil {
		return c, err
	}
	switch q.Domain.Domain {
	case "lattice":
		c.N, c.K = q.N, q.K
		return c, q.Size.check()
	case "real":
		c.AllScores = true
		return c, q.checkReal(c.Claim)
	}
	c.Vectors, c.Neighbors, err = q.vectors(ctx, h, &c.Claim)
	return c, err
}

// checkReal refuses all real scores where no theorem answers.
func (q *Calibrate) checkReal(c verify.Claim) error {
	switch {
	case q.Rho == "":
		return refuse("{domain} real: is for {rho}; with {eps} leave it out, the lattice says where a theorem answers")
	case q.N != 0 || q.K != 0 || q.Sensitivities != "":
		return refuse("{domain} real: is about all scores of any number of candidates; leave out {n}, {k} and {sensitivities}")
	}
	return checkConcentration(c.Mechanism)
}

// Answer answers it.
func (q *Calibrate) Answer(ctx context.Context, h *Host) (*Answer, error) {
	c, err := q.read(ctx, h)
	if err != nil {
		return nil, err
	}
	report, err := h.Begin("calibrate", number.Epsilon{})
	if err != nil {
		return nil, err
	}
	c.Progress = func(tried int, low, _ *big.Rat) { report("%d parameters, at least %s", tried, low.FloatString(9)) }
	r, err := Settle(ctx, func() (*verify.Calibration, error) { return c.Calibrate(ctx) }, func(why string) *verify.Calibration {
		return &verify.Calibration{Mechanism: q.Mechanism, Domain: q.Domain.Domain, Monotonic: q.Monotonic, Proof: verify.ByDomain, Undecided: why}
	})
	if err != nil {
		return nil, err
	}
	return answered(r, r.Undecided), nil
}
