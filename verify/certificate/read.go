package certificate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Errors that Check wraps.
var (
	// ErrUnreadable: the input cannot be read or is no certificate of a known version.
	ErrUnreadable = errors.New("not a readable certificate")
	// ErrLimit: the check would take more memory than Options allow.
	ErrLimit = errors.New("beyond the limits of the check")
)

const magic = "optratio-certificate 1"

// Header limits. They only keep sizes within what the arithmetic can address: what is too large to be
// enumerated is refused later, and only where it must be enumerated.
const (
	maxCandidates = 1 << 30
	maxDepth      = 1 << 20
	maxLine       = 2*maxClaimLength + 64 // bytes; lines with count vectors may have more
)

// level says which rows the program has beyond those of the level paper.
type level struct{ privacy, monotone, approximate bool }

var levels = map[string]level{
	"paper": {}, "dp": {privacy: true}, "monotone": {monotone: true}, "full": {privacy: true, monotone: true},
	"approximate": {approximate: true}, // in version 2 only
}

// certificate is what a file holds.
type certificate struct {
	n, k        int
	eps, expEps *big.Rat // the one that the file states; the other is nil
	objective   string   // "paper" or "box"
	constraints string   // a key of levels
	proof       string   // "lp", "dual-recurrence", "dual-closed-form" or "lumped"
	precision   int
	claims      []Claim

	lat    *lattice // with proof lp only
	dual   []*big.Rat
	inject []injection
	cuts   []cut

	lumps    *partition // with proof lumped only
	products []product  // with proof lumped only
}

// injection is s > 0 of the variable (m, v), m having the given rank.
type injection struct {
	rank, v int
	s       *big.Rat
}

// cut is the row x_a >= ρ x_b with its multiplier, ρ being z for a privacy row and 1 for a row of
// the level monotone.
type cut struct {
	privacy bool
	m, l    []int
	v, w    int
	mu      *big.Rat
}

// reader takes a certificate apart line by line.
type reader struct {
	in   *bufio.Reader
	line int // number of lines read
	long int // bytes that a line may have
	buf  []byte
	next string // the line after those consumed
	done bool   // there is no such line
}

// malformed is the reason why a file does not have the form of a certificate.
type malformed string

func (m malformed) Error() string { return string(m) }

func (r *reader) badf(format string, args ...any) error {
	return malformed(fmt.Sprintf("line %d: ", r.line) + fmt.Sprintf(format, args...))
}

// advance reads the next line into r.next.
func (r *reader) advance() error {
	r.buf = r.buf[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.buf = append(r.buf, part...)
		if len(r.buf) > r.long+1 {
			r.line++
			return r.badf("longer than %d bytes", r.long)
		}
		switch {
		case err == nil:
			r.line++
			r.next = string(r.buf[:len(r.buf)-1])
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			r.next, r.done = "", true
			if len(r.buf) > 0 {
				r.line++
				return r.badf("the file ends within the line")
			}
			return nil
		default:
			return fmt.Errorf("%w: line %d: %w", ErrUnreadable, r.line+1, err)
		}
	}
}

// take returns the rest of the next line after the given first word and a space, and advances.
func (r *reader) take(word string) (string, error) {
	if r.done {
		r.line++
		return "", r.badf("the file ends where a line %q was expected", word)
	}
	rest, ok := strings.CutPrefix(r.next, word+" ")
	if !ok {
		return "", r.badf("%s where a line %q was expected", quote(r.next), word)
	}
	return rest, nil
}

// is reports whether the next line begins with the given word.
func (r *reader) is(word string) bool { return !r.done && strings.HasPrefix(r.next, word+" ") }

// open reads the first line, which names the version.
func open(in io.Reader) (r *reader, version string, err error) {
	r = &reader{in: bufio.NewReaderSize(in, 1<<16), long: maxLine}
	if err := r.advance(); err != nil || !slices.Contains([]string{magic, magicTable, magicInterval, magicSection}, r.next) {
		if err != nil && errors.Is(err, ErrUnreadable) {
			return nil, "", err
		}
		return nil, "", fmt.Errorf("%w: line 1: not %q, %q, %q or %q", ErrUnreadable, magic, magicTable, magicSection, magicInterval)
	}
	return r, r.next, nil
}

// read reads a certificate of version 1 after its first line. The error is a malformed, or wraps ErrUnreadable or ErrLimit. The
// certificate is returned also with an error, as far as it was read, and is nil if not even the parameters were.
func (r *reader) read(o Options) (*certificate, error) {
	c, err := r.header()
	if err != nil {
		return nil, err
	}
	if err := r.claims(c); err != nil {
		return c, err
	}
	switch c.proof {
	case "lumped":
		r.long = max(r.long, maxBodyLength+32)
		if err := r.partition(c, o); err != nil {
			return c, err
		}
		if err := r.products(c); err != nil {
			return c, err
		}
	case "lp":
		if err := o.fits(c.n, c.k); err != nil {
			return c, err
		}
		r.long = max(r.long, maxBodyLength+2*(c.k+3)*11+32)
		c.lat = newLattice(c.n, c.k)
		if err := r.body(c); err != nil {
			return c, err
		}
	}
	return c, r.end()
}

// header reads the lines from the parameters to the precision.
func (r *reader) header() (*certificate, error) {
	c := &certificate{}
	steps := []func() error{
		func() error { return r.integer("n", 1, maxCandidates, &c.n) },
		func() error { return r.integer("k", 0, maxDepth, &c.k) },
		func() error { return r.epsilon(c) },
		func() error { return r.oneOf("objective", &c.objective, "paper", "box") },
		func() error { return r.oneOf("constraints", &c.constraints, "paper", "dp", "monotone", "full") },
		func() error { return r.oneOf("proof", &c.proof, "lp", "dual-recurrence", "dual-closed-form", "lumped") },
		func() error { return r.integer("precision", 0, 1<<30, &c.precision) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c, r.advance()
}

// integer reads a line of the header that is a whole number.
func (r *reader) integer(word string, least, most int, to *int) error {
	s, err := r.takeNext(word)
	if err != nil {
		return err
	}
	if *to, err = parseInteger(s, most); err != nil {
		return r.badf("%s: %v", word, err)
	}
	if *to < least {
		return r.badf("%s is less than %d", word, least)
	}
	return nil
}

// oneOf reads a line of the header that is one of some words.
func (r *reader) oneOf(word string, to *string, options ...string) error {
	s, err := r.takeNext(word)
	if err != nil {
		return err
	}
	if !slices.Contains(options, s) {
		return r.badf("%s %s is none of %s", word, quote(s), strings.Join(options, ", "))
	}
	*to = s
	return nil
}

// takeNext advances and then takes: for the lines of the header, each of which follows one that
// was consumed.
func (r *reader) takeNext(word string) (string, error) {
	if err := r.advance(); err != nil {
		return "", err
	}
	return r.take(word)
}

func (r *reader) epsilon(c *certificate) error {
	if err := r.advance(); err != nil {
		return err
	}
	word, to, least := "epsilon", &c.eps, new(big.Rat)
	if r.is("exp-epsilon") {
		word, to, least = "exp-epsilon", &c.expEps, big.NewRat(1, 1)
	}
	s, err := r.take(word)
	if err != nil {
		return err
	}
	e, err := parseRational(s[:min(len(s), maxEpsilonBits)])
	switch {
	case len(s) > maxEpsilonBits || err == nil && max(e.Num().BitLen(), e.Denom().BitLen()) > maxEpsilonBits:
		return r.badf("%s: a number of more than %d bits", word, maxEpsilonBits)
	case err != nil:
		return r.badf("%s: %v", word, err)
	case e.Cmp(least) < 0:
		return r.badf("%s is less than %s", word, least.RatString())
	}
	*to = e
	return nil
}

// claims reads the claim lines: on the optimum, then the errors, then the ratios.
func (r *reader) claims(c *certificate) error {
	order := []string{"optimum", "error pf", "error em", "ratio pf", "ratio em"}
	for i, what := range order {
		if i > 0 && !r.is("claim "+what) {
			continue
		}
		q, err := r.claim(what)
		if err != nil {
			return err
		}
		c.claims = append(c.claims, q)
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// claim reads the line of a claim, without going on to the next one.
func (r *reader) claim(what string) (Claim, error) {
	q := Claim{On: what}
	rest, err := r.take("claim " + what)
	if err != nil {
		return q, err
	}
	los, his, ok := strings.Cut(rest, " ")
	if !ok {
		return q, r.badf("claim %s: two numbers expected", what)
	}
	if q.lower, err = parseClaimed(los); err != nil {
		return q, r.badf("claim %s: %v", what, err)
	}
	if q.upper, err = parseClaimed(his); err != nil {
		return q, r.badf("claim %s: %v", what, err)
	}
	if q.lower.Cmp(q.upper) > 0 {
		return q, r.badf("claim %s: the lower bound exceeds the upper bound", what)
	}
	return q, nil
}

// body reads the dual, inject and cut lines.
func (r *reader) body(c *certificate) error {
	for _, m := range c.lat.orbits() {
		f, err := r.fields("dual", c.k+2)
		if err != nil {
			return err
		}
		if got, err := r.counts(c, f); err != nil {
			return err
		} else if !slices.Equal(got, m) {
			return r.badf("dual: the count vector is not the next one, %v", brief(m))
		}
		y, err := parseValue(f[c.k+1], maxBodyLength)
		if err != nil {
			return r.badf("dual: %v", err)
		}
		c.dual = append(c.dual, y)
		if err := r.advance(); err != nil {
			return err
		}
	}
	if err := r.injections(c); err != nil {
		return err
	}
	return r.cuts(c)
}

func (r *reader) injections(c *certificate) error {
	for lastRank, lastV := -1, 0; r.is("inject"); {
		f, err := r.fields("inject", c.k+3)
		if err != nil {
			return err
		}
		v, m, rank, err := r.variable(c, f)
		if err != nil {
			return err
		}
		if v == 0 || m[v] == 0 {
			return r.badf("inject: no variable at depth %d, or none that takes an injection", v)
		}
		if rank < lastRank || rank == lastRank && v <= lastV {
			return r.badf("inject: not after the variable of the line before")
		}
		lastRank, lastV = rank, v
		s, err := r.positive("inject", f[c.k+2])
		if err != nil {
			return err
		}
		c.inject = append(c.inject, injection{rank, v, s})
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) cuts(c *certificate) error {
	belongs := func(q cut) error { return q.check(1, false) }
	return r.multipliers("cut", c, levels[c.constraints], belongs, func(q cut, _, _ int) { c.cuts = append(c.cuts, q) })
}

// multipliers reads the lines of rows with a multiplier, each of an allowed kind, which belongs says nothing against, and in order. take is
// given each with the ranks of its count vectors.
func (r *reader) multipliers(word string, c *certificate, allowed level, belongs func(cut) error, take func(q cut, rankM, rankL int)) error {
	var last []int
	for r.is(word) {
		f, err := r.fields(word, 2*c.k+6)
		if err != nil {
			return err
		}
		privacy := f[0] == "p"
		if !privacy && f[0] != "m" || privacy && !allowed.privacy || !privacy && !allowed.monotone {
			return r.badf("%s: kind %s is no row of level %s", word, quote(f[0]), c.constraints)
		}
		v, m, rankM, err := r.variable(c, f[1:])
		if err != nil {
			return err
		}
		w, l, rankL, err := r.variable(c, f[c.k+3:])
		if err != nil {
			return err
		}
		q := cut{privacy: privacy, m: m, l: l, v: v, w: w}
		if err := belongs(q); err != nil {
			return r.badf("%s: %v", word, err)
		}
		key := []int{0, rankM, v, rankL, w}
		if privacy {
			key[0] = 1
		}
		if last != nil && slices.Compare(key, last) <= 0 {
			return r.badf("%s: not after the row of the line before", word)
		}
		last = key
		if q.mu, err = r.positive(word, f[2*c.k+5]); err != nil {
			return err
		}
		take(q, rankM, rankL)
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// end reads the last line and makes sure that nothing follows.
func (r *reader) end() error {
	s, err := r.take("end")
	if err != nil {
		return err
	}
	if s != strconv.Itoa(r.line-1) {
		return r.badf("end %s after %d lines", quote(s), r.line-1)
	}
	if err := r.advance(); err != nil {
		return err
	}
	if !r.done {
		return r.badf("a line after the end")
	}
	return nil
}

// fields takes the next line apart after its first word.
func (r *reader) fields(word string, count int) ([]string, error) {
	rest, err := r.take(word)
	if err != nil {
		return nil, err
	}
	if got := strings.Count(rest, " ") + 1; got != count {
		return nil, r.badf("%s: %d fields where %d were expected", word, got, count)
	}
	return strings.Split(rest, " "), nil
}

// variable reads V M….
func (r *reader) variable(c *certificate, f []string) (v int, m []int, rank int, err error) {
	if v, err = parseInteger(f[0], c.k); err != nil {
		return 0, nil, 0, r.badf("depth: %v", err)
	}
	if m, err = r.counts(c, f[1:]); err != nil {
		return 0, nil, 0, err
	}
	return v, m, c.lat.rank(m), nil
}

// counts reads M….
func (r *reader) counts(c *certificate, f []string) ([]int, error) {
	m, left := make([]int, c.k+1), c.n
	for i := range m {
		var err error
		if m[i], err = parseInteger(f[i], left); err != nil {
			return nil, r.badf("count vector: %v", err)
		}
		left -= m[i]
	}
	if left != 0 || m[0] == 0 {
		return nil, r.badf("count vector: not %d candidates, with one at least at depth 0", c.n)
	}
	return m, nil
}

func (r *reader) positive(word, s string) (*big.Rat, error) {
	x, err := parseValue(s, maxBodyLength)
	if err != nil {
		return nil, r.badf("%s: %v", word, err)
	}
	if x.Sign() <= 0 {
		return nil, r.badf("%s: the value is not positive", word)
	}
	return x, nil
}

// brief returns a count vector for a message.
func brief(m []int) string {
	s := strings.Trim(fmt.Sprint(m[:min(len(m), 20)]), "[]")
	if len(m) > 20 {
		s += " ..."
	}
	return s
}
