package job

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"optratio/internal/clp"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/evaluate"
	"optratio/internal/linear"
	"optratio/number"
)

// Epsilon is ε, or e^ε, as it was given.
type Epsilon struct {
	Eps string `json:"eps" help:"privacy parameter ε as a decimal, taken exactly"`
	Exp string `json:"exp-eps" help:"e^ε as a fraction a/b or a decimal, taken exactly: results are exact rationals"`
}

// Parse reads it.
func (e Epsilon) Parse() (number.Epsilon, error) {
	switch {
	case e.Eps == "" && e.Exp == "":
		return number.Epsilon{}, refuse("epsilon is missing: give {eps} 0.5 or {exp-eps} 3/2")
	case e.Eps != "" && e.Exp != "":
		return number.Epsilon{}, refuse("{eps} and {exp-eps} exclude each other: give one of them")
	case strings.Contains(e.Eps+e.Exp, ","):
		return number.Epsilon{}, refuse("{"+Choose(e.Eps != "", "eps", "exp-eps")+"} %s: give one number, with a decimal point and no comma, such as %s", escape.Quoted(e.Eps+e.Exp), strings.Replace(e.Eps+e.Exp, ",", ".", 1))
	case e.Eps != "":
		x, err := number.ParseEpsilon(e.Eps)
		if err != nil {
			err = refuse("{eps} %s: %w; give a decimal >= 0 such as 0.5", escape.Quoted(e.Eps), err)
		}
		return x, err
	}
	x, err := number.ParseExp(e.Exp)
	if err != nil {
		err = refuse("{exp-eps} %s: %w; give a fraction or a decimal >= 1 such as 3/2", escape.Quoted(e.Exp), err)
	}
	return x, err
}

// decimalComma is a number with a comma for its point, and no list that anybody means.
var decimalComma = regexp.MustCompile(`^0,[0-9]+$`)

// List reads a list of values of one of the two; it does not parse them, and leaves it to Parse to refuse both at once, or neither.
func (e Epsilon) List() (list []Epsilon, err error) {
	if e.Eps == "" == (e.Exp == "") {
		return []Epsilon{e}, nil
	}
	if decimalComma.MatchString(e.Eps + e.Exp) {
		return nil, refuse("{"+Choose(e.Eps != "", "eps", "exp-eps")+"} %s: decimals have a point: give %s; commas separate the values of a list", escape.Quoted(e.Eps+e.Exp), strings.Replace(e.Eps+e.Exp, ",", ".", 1))
	}
	names, err := SplitNames(Choose(e.Eps != "", "eps", "exp-eps"), e.Eps+e.Exp)
	for _, text := range names {
		list = append(list, Epsilon{Choose(e.Eps != "", text, ""), Choose(e.Eps != "", "", text)})
	}
	return list, err
}

// String says which ε was given.
func (e Epsilon) String() string { return document.At(e.Eps, e.Exp).Said() }

// atEach answers at one ε, or at each one of a list until the context ends.
func (in *reading) atEach(e Epsilon, at func(Epsilon) (*Answer, error)) (*Answer, error) {
	list, err := e.List()
	if err != nil {
		return nil, err
	}
	if len(list) == 1 {
		return at(e)
	}
	in.refuse(in.Certificate, "{cert}: a certificate is about one ε, give one")
	for _, eps := range list {
		in.epsilon(eps)
	}
	all, decided := &Answer{List: true}, 0
	for i, eps := range list {
		if in.err != nil {
			return nil, in.err
		}
		a, err := at(eps)
		if err != nil {
			return nil, err
		}
		if a.Undecided == "" {
			decided++
		}
		all.Documents = append(all.Documents, a.Documents...)
		all.Violated, all.Undecided = cmp.Or(all.Violated, a.Violated), cmp.Or(all.Undecided, a.Undecided)
		if in.ctx.Err() != nil && i+1 < len(list) {
			all.Undecided = strings.TrimSuffix(fmt.Sprintf("%d of %d ε were answered; %s", decided, len(list), all.Undecided), "; ")
			break
		}
	}
	return all, nil
}

// Optional is a text for a JSON document, null where it was not given.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Choose returns yes or no.
func Choose[T any](b bool, yes, no T) T {
	if b {
		return yes
	}
	return no
}

// reading reads the fields of a question, one after the other. It keeps the first error, and then reads nothing more: what it returns is nil or 0.
type reading struct {
	*Host
	ctx    context.Context
	err    error
	report func(format string, args ...any) // is told how far the work is, once it has begun
}

// keep keeps an error, nil for none.
func (in *reading) keep(err error) {
	if in.err == nil {
		in.err = err
	}
}

// refuse refuses the question where something is wrong with it.
func (in *reading) refuse(wrong bool, format string, args ...any) {
	if wrong {
		in.keep(refuse(format, args...))
	}
}

// epsilon reads ε.
func (in *reading) epsilon(e Epsilon) number.Epsilon {
	x, err := e.Parse()
	in.keep(err)
	return x
}

// mostCertified is the largest ε, times a distance, whose e^-ε certificates of programs enclose closely enough.
const mostCertified = 1250

// enclosable refuses a certificate of a program where ε times a distance, nil for 1, is too large for one.
func (in *reading) enclosable(e number.Epsilon, distance *big.Rat) {
	if x := e.Eps(); in.Certificate && x != nil {
		large := new(big.Rat).Mul(x, cmp.Or(distance, big.NewRat(1, 1))).Cmp(big.NewRat(mostCertified, 1)) > 0
		in.refuse(large, "{cert}: certificates of programs take an ε, times the largest distance, of at most %d; give {exp-eps}, or leave {cert} out", mostCertified)
	}
}

// SplitNames reads a comma-separated list; nil for none.
func SplitNames(field, list string) (names []string, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, refuse("{"+field+"} %s: an item of the list is empty; take a comma away, or fill in what is between them", escape.Quoted(list))
		}
		names = append(names, name)
	}
	return names, nil
}

func (in *reading) names(field, list string) []string {
	names, err := SplitNames(field, list)
	in.keep(err)
	return names
}

// Parsed reads a field; an error names it, and what may have been meant.
func Parsed[T any](field, text string, parse func(string) (T, error)) (T, error) {
	x, err := parse(text)
	if err != nil {
		names := Choices(field)
		err = refuse("{"+field+"}: %w%s", err, DidYouMean(unknown(text, names), names))
	}
	return x, err
}

func parsed[T any](in *reading, field, text string, parse func(string) (T, error)) T {
	x, err := Parsed(field, text, parse)
	in.keep(err)
	return x
}

// oneOf reads one of two words, and reports whether it is the second.
func (in *reading) oneOf(field, text, first, second string) bool {
	return parsed(in, field, text, func(text string) (bool, error) {
		if text != first && text != second {
			return false, fmt.Errorf("%s %q is neither %s nor %s", field, text, first, second)
		}
		return text == second, nil
	})
}

// Decimal reads a decimal that ok accepts; want says which these are.
func Decimal(field, text, want string, ok func(*big.Rat) bool) (*big.Rat, error) {
	x, err := decimal.Parse(text)
	if err != nil || !ok(x) {
		return nil, refuse("{"+field+"} %s: give a decimal "+want, escape.Quoted(text))
	}
	return x, nil
}

// Positive reads a decimal > 0.
func Positive(field, text string) (*big.Rat, error) {
	return Decimal(field, text, "> 0", func(x *big.Rat) bool { return x.Sign() > 0 })
}

func (in *reading) positive(field, text string) *big.Rat {
	r, err := Positive(field, text)
	in.keep(err)
	return r
}

// Probability reads a decimal from 0 to 1.
func Probability(field, text string) (*big.Rat, error) {
	return Decimal(field, text, "from 0 to 1", func(x *big.Rat) bool { return x.Sign() >= 0 && x.Cmp(one) <= 0 })
}

// within reads a decimal or a fraction that ok accepts; want says which do.
func (in *reading) within(field, text, want string, ok func(*big.Rat) bool) *big.Rat {
	x, err := decimal.ParseNumber(text)
	in.refuse(err != nil || !ok(x), "{"+field+"} %s: give "+want, escape.Quoted(text))
	return x
}

var one = big.NewRat(1, 1)

func notNegative(x *big.Rat) bool { return x.Sign() >= 0 }

// delta reads a δ.
func (in *reading) delta(text string) *big.Rat {
	return in.within("delta", text, "a decimal or a fraction from 0 to 1 such as 1e-6", func(x *big.Rat) bool { return notNegative(x) && x.Cmp(one) <= 0 })
}

// Scaled reads a decimal that may end in k, M, G or T, for thousands, millions and so on.
func Scaled(text string) (*big.Rat, error) {
	scale := int64(1)
	digits := strings.TrimRight(text, "kMGT")
	if len(digits) == len(text)-1 {
		for range strings.IndexByte("kMGT", text[len(digits)]) + 1 {
			scale *= 1000
		}
		text = digits
	}
	r, err := decimal.Parse(text)
	if err != nil {
		return nil, err
	}
	return r.Mul(r, big.NewRat(scale, 1)), nil
}

// gap reads the relative width of an answer wanted.
func (in *reading) gap(text string) *big.Rat {
	return in.within("gap", text, "a decimal >= 0 such as 1e-9", notNegative)
}

// solver reads a solver's name.
func (in *reading) solver(name string) linear.Solver {
	in.refuse(!slices.Contains(Choices("solver"), name), "{solver} %s: give auto, clp or embedded%s", escape.Quoted(name), DidYouMean(name, Choices("solver")))
	if in.err != nil {
		return nil
	}
	s, err := clp.Find(name)
	in.refuse(err != nil, "{solver} %s: %w", name, err)
	return s
}

// MostInput bounds what is read of a file of numbers, in bytes.
const MostInput = 1 << 28

// longestInput bounds a line of such a file, in bytes.
const longestInput = 1 << 24

// open opens the file that a field names, or an argument where field is "".
func (in *reading) open(field, path string) (io.ReadCloser, error) {
	file, err := in.Open(in.ctx, path)
	if err != nil {
		return nil, refuse(Choose(field == "", "", "{"+field+"} ")+"%s: %w", escape.Quoted(path), err)
	}
	return file, nil
}

// file reads the file that a field names, "" for the argument, whole.
func file[T any](in *reading, field, path string, parse func(name string, text io.Reader) (T, error)) (out T) {
	if in.err != nil {
		return out
	}
	file, err := in.open(field, path)
	if in.keep(err); err != nil {
		return out
	}
	defer file.Close()
	rest := &io.LimitedReader{R: file, N: MostInput}
	out, err = parse(path, rest)
	in.refuse(in.ctx.Err() != nil && err != nil, Choose(field == "", "", "{"+field+"} ")+"%s: cannot be read: %w", escape.Quoted(path), context.Cause(in.ctx))
	in.refuse(rest.N == 0, "%s: the file is longer than %d MiB; give a smaller one", path, MostInput>>20)
	if in.refuse(err != nil, "%w", err); in.err != nil {
		var none T
		return none
	}
	return out
}

// each calls visit for the lines of a file that are neither empty nor comments, which begin with #. Errors of visit come
// back with file and line.
func (in *reading) each(field, path string, visit func(text string) error) {
	file(in, field, path, func(name string, text io.Reader) (_ any, err error) {
		if field == "inputs" && path == streamed {
			name = "standard input"
		}
		lines := bufio.NewScanner(text)
		lines.Buffer(nil, longestInput)
		at := 1
		for ; lines.Scan() && in.ctx.Err() == nil; at++ { // the last line before the end of the context may be cut
			text := strings.TrimSpace(lines.Text())
			if text == "" || strings.HasPrefix(text, "#") {
				continue
			}
			if err := visit(text); err != nil && in.ctx.Err() == nil {
				return nil, refuse("%s:%d: %w", name, at, err)
			}
		}
		if err := context.Cause(in.ctx); err != nil {
			in.keep(fmt.Errorf("%s:%d: cannot be read: %w", name, at, err))
		}
		if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			return nil, refuse("%s:%d: a line has more than %d bytes; is it a text file?", name, at, longestInput)
		} else if err != nil {
			return nil, refuse("%s:%d: cannot be read: %w", name, at, WithoutPath(err))
		}
		return nil, nil
	})
}

// WithoutPath takes the name out of an error about a file, where the message names it already.
func WithoutPath(err error) error {
	var place *fs.PathError
	if errors.As(err, &place) {
		return place.Err
	}
	return err
}

// lines reads a file of values, one per line. Where there is no such file, choices say what to give, if it need not be one; none is what is wrong
// with a file without values.
func lines[T any](in *reading, field, path, choices, none string, parse func(text string) (T, error)) (out []T) {
	before := in.err
	in.each(field, path, func(text string) error {
		x, err := parse(text)
		out = append(out, x)
		return err
	})
	if before == nil && choices != "" && errors.Is(in.err, fs.ErrNotExist) {
		in.err = refuse("%w; give %s", in.err, choices)
	}
	if in.refuse(out == nil, "{"+field+"} %s: %s", escape.Quoted(path), none); in.err != nil {
		return nil
	}
	return out
}

// column reads a file of numbers, one per line.
func (in *reading) column(field, path, choices string) []*big.Rat {
	return lines(in, field, path, choices, "the file has no numbers; give one per line", func(text string) (*big.Rat, error) {
		x, err := decimal.ParseNumber(text)
		if err != nil {
			return nil, fmt.Errorf("%w; give one decimal or fraction a line", err)
		}
		return x, nil
	})
}

// numbers reads numbers that are separated by commas, or else the file of this name, which has one per line; nil for none.
func (in *reading) numbers(field, text string) []*big.Rat {
	if text == "" || in.err != nil {
		return nil
	}
	out, wrong := splitNumbers(text)
	if wrong == nil {
		return out
	}
	out = in.column(field, text, "")
	if missing := errors.Is(in.err, fs.ErrNotExist); missing && namesFile(text) {
		return nil
	} else if missing || errors.Is(in.err, syscall.ENAMETOOLONG) || errors.Is(in.err, syscall.ENOTDIR) {
		in.err = refuse("{"+field+"}: %w; give decimals separated by commas, or a file with one per line", wrong)
	}
	return out
}

// namesFile reports whether a text that is not a list of numbers can only be the name of a file: it has no comma, a letter that numbers do not have, and a dot or a slash.
func namesFile(text string) bool {
	return !strings.Contains(text, ",") && strings.ContainsAny(text, "./") &&
		strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) && r != 'e' && r != 'E' })
}

// histogram reads counts.
func (in *reading) histogram(path string) []int64 {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		return file(in, "histogram", path, func(name string, text io.Reader) ([]int64, error) {
			data, err := io.ReadAll(text)
			if err != nil {
				return nil, refuse("{histogram} %s: cannot be read: %w", escape.Quoted(path), WithoutPath(err))
			}
			counts, err := evaluate.ReadNPY(data)
			if err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
			return counts, err
		})
	}
	var table evaluate.Counts
	in.each("histogram", path, table.Line)
	in.refuse(table.Values == nil, "{histogram} %s: the file has no counts; give one per line", escape.Quoted(path))
	return table.Values
}

// ReadHistogram reads counts: a .npy file, or a text file as evaluate.Counts reads it.
func (h *Host) ReadHistogram(ctx context.Context, path string) ([]int64, error) {
	in := &reading{Host: h, ctx: ctx}
	counts := in.histogram(path)
	return counts, in.err
}
