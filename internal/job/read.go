package job

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
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
	"optratio/number"
)

// Epsilon is ε, or e^ε, as it was given.
type Epsilon struct {
	Eps string `json:"eps" help:"privacy parameter ε as a decimal, taken exactly"`
	Exp string `json:"exp-eps" help:"e^ε as a fraction a/b or a decimal, taken exactly: results are exact rationals"`
}

// field returns the name of the field that has it, what that says, and what it may say.
func (e Epsilon) field() (field, text, example string) {
	refuse(e.Eps == "" && e.Exp == "", "epsilon is missing: give {eps} 0.5 or {exp-eps} 3/2")
	refuse(e.Eps != "" && e.Exp != "", "{eps} and {exp-eps} exclude each other: give one of them")
	if e.Eps != "" {
		return "eps", e.Eps, "a decimal >= 0 such as 0.5"
	}
	return "exp-eps", e.Exp, "a fraction or a decimal >= 1 such as 3/2"
}

// Parse reads it.
func (e Epsilon) Parse() (number.Epsilon, error) { return read(e.value) }

func (e Epsilon) value() number.Epsilon {
	field, text, example := e.field()
	refuse(strings.Contains(text, ","), "{"+field+"} %s: give one number, with a decimal point and no comma, such as %s", escape.Quoted(text), strings.Replace(text, ",", ".", 1))
	x, err := Choose(e.Eps != "", number.ParseEpsilon, number.ParseExp)(text)
	if err != nil {
		throw(refusal("{"+field+"} %s: %s; give "+example, escape.Quoted(text), strings.TrimPrefix(err.Error(), number.ErrEpsilon.Error()+": ")))
	}
	return x
}

// decimalComma is a number with a comma in place of its point; nobody means it as a list.
var decimalComma = regexp.MustCompile(`^0,[0-9]+$`)

// List splits a list of values of one of the two. It does not parse them; Parse also refuses both at once, and neither.
func (e Epsilon) List() ([]Epsilon, error) { return read(e.list) }

func (e Epsilon) list() (list []Epsilon) {
	if e.Eps == "" == (e.Exp == "") {
		return []Epsilon{e}
	}
	field, text, _ := e.field()
	refuse(decimalComma.MatchString(text), "{"+field+"} %s: decimals have a point: give %s; commas separate the values of a list", escape.Quoted(text), strings.Replace(text, ",", ".", 1))
	for _, text := range must(SplitNames(field, text)) {
		list = append(list, Choose(e.Eps != "", Epsilon{Eps: text}, Epsilon{Exp: text}))
	}
	return list
}

// String says which ε was given.
func (e Epsilon) String() string { return document.At(e.Eps, e.Exp).Said() }

// atEach answers at one ε, or at each one of a list until the context ends.
func (in *reading) atEach(e Epsilon, at func(Epsilon) *Answer) *Answer {
	list := e.list()
	if len(list) == 1 {
		return at(e)
	}
	refuse(in.Certificate, "{cert}: a certificate is about one ε, give one")
	for _, eps := range list {
		eps.value()
	}
	all, decided := &Answer{List: true}, 0
	for i, eps := range list {
		a := at(eps)
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
	return all
}

// Choose returns yes or no.
func Choose[T any](b bool, yes, no T) T {
	if b {
		return yes
	}
	return no
}

// reading is a question on its way to its answer. What is wrong with a field is thrown, and ends it.
type reading struct {
	*Host
	ctx    context.Context
	report func(format string, args ...any) // is told how far the work is, once it has begun
}

// mostCertified is the largest ε, times a distance, whose e^-ε certificates of programs enclose closely enough.
const mostCertified = 1250

// enclosable refuses a certificate of a program where ε times a distance, nil for 1, is too large for one.
func (in *reading) enclosable(e number.Epsilon, distance *big.Rat) {
	if x := e.Eps(); in.Certificate && x != nil {
		large := new(big.Rat).Mul(x, cmp.Or(distance, big.NewRat(1, 1))).Cmp(big.NewRat(mostCertified, 1)) > 0
		refuse(large, "{cert}: certificates of programs take an ε, times the largest distance, of at most %d; give {exp-eps}, or leave {cert} out", mostCertified)
	}
}

// SplitNames reads a comma-separated list; nil for none.
func SplitNames(field, list string) (names []string, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, refusal("{"+field+"} %s: an item of the list is empty; take a comma away, or fill in what is between them", escape.Quoted(list))
		}
		names = append(names, name)
	}
	return names, nil
}

// Parsed reads a field; an error names it, and what may have been meant.
func Parsed[T any](field, text string, parse func(string) (T, error)) (T, error) {
	x, err := parse(text)
	if err != nil {
		names := Choices(field)
		err = refusal("{"+field+"}: %w%s", err, DidYouMean(unknown(text, names), names))
	}
	return x, err
}

// oneOf reads one of two words, and reports whether it is the second.
func oneOf(field, text, first, second string) bool {
	return must(Parsed(field, text, func(text string) (bool, error) {
		if text != first && text != second {
			return false, fmt.Errorf("%s %q is neither %s nor %s", field, text, first, second)
		}
		return text == second, nil
	}))
}

// Decimal reads a decimal that ok accepts; want says which these are.
func Decimal(field, text, want string, ok func(*big.Rat) bool) (*big.Rat, error) {
	x, err := decimal.Parse(text)
	if err != nil || !ok(x) {
		return nil, refusal("{"+field+"} %s: give a decimal "+want, escape.Quoted(text))
	}
	return x, nil
}

// Positive reads a decimal > 0.
func Positive(field, text string) (*big.Rat, error) {
	return Decimal(field, text, "> 0", func(x *big.Rat) bool { return x.Sign() > 0 })
}

func positive(field, text string) *big.Rat { return must(Positive(field, text)) }

// Probability reads a decimal from 0 to 1.
func Probability(field, text string) (*big.Rat, error) {
	return Decimal(field, text, "from 0 to 1", func(x *big.Rat) bool { return x.Sign() >= 0 && x.Cmp(one) <= 0 })
}

// within reads a decimal or a fraction that ok accepts; want says which do.
func within(field, text, want string, ok func(*big.Rat) bool) *big.Rat {
	x, err := decimal.ParseNumber(text)
	refuse(err != nil || !ok(x), "{"+field+"} %s: give "+want, escape.Quoted(text))
	return x
}

var one = big.NewRat(1, 1)

func notNegative(x *big.Rat) bool { return x.Sign() >= 0 }

// privacyDelta reads a δ.
func privacyDelta(text string) *big.Rat {
	return within("delta", text, "a decimal or a fraction from 0 to 1 such as 1e-6", func(x *big.Rat) bool { return notNegative(x) && x.Cmp(one) <= 0 })
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

// relativeGap reads the relative width of an answer wanted.
func relativeGap(text string) *big.Rat {
	return within("gap", text, "a decimal >= 0 such as 1e-9", notNegative)
}

// checkSolver refuses names that no solver has.
func checkSolver(name string) {
	refuse(!slices.Contains(Choices("solver"), name), "{solver} %s: give auto, clp or embedded%s", escape.Quoted(name), DidYouMean(name, Choices("solver")))
	_, err := clp.Find(name)
	refuse(err != nil, "{solver} %s: %w", name, err)
}

// MostInput bounds what is read of a file of numbers, in bytes.
const MostInput = 1 << 28

// longestInput bounds a line of such a file, in bytes.
const longestInput = 1 << 24

// open opens the file that a field names, or an argument where field is "".
func (in *reading) open(field, path string) io.ReadCloser {
	file, err := in.Open(in.ctx, path)
	refuse(err != nil, Choose(field == "", "", "{"+field+"} ")+"%s: %w", escape.Quoted(path), err)
	return file
}

// file reads the file that a field names, "" for the argument, whole.
func file[T any](in *reading, field, path string, parse func(name string, text io.Reader) (T, error)) T {
	file := in.open(field, path)
	defer file.Close()
	rest := &io.LimitedReader{R: file, N: MostInput}
	out, err := parse(path, rest)
	refuse(in.ctx.Err() != nil && err != nil, Choose(field == "", "", "{"+field+"} ")+"%s: cannot be read: %w", escape.Quoted(path), context.Cause(in.ctx))
	refuse(rest.N == 0, "%s: the file is longer than %d MiB; give a smaller one", path, MostInput>>20)
	refuse(err != nil, "%w", err)
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
				return nil, refusal("%s:%d: %w", name, at, err)
			}
		}
		if err := context.Cause(in.ctx); err != nil {
			throw(fmt.Errorf("%s:%d: cannot be read: %w", name, at, err))
		}
		if err = lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			return nil, refusal("%s:%d: a line has more than %d bytes; is it a text file?", name, at, longestInput)
		} else if err != nil {
			err = refusal("%s:%d: cannot be read: %w", name, at, WithoutPath(err))
		}
		return nil, err
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

// lines reads a file of values, one per line. choices say what else the field takes, for the error if there is no such file; none is what is
// wrong with a file without values.
func lines[T any](in *reading, field, path, choices, none string, parse func(text string) (T, error)) (out []T) {
	err := caught(func() {
		in.each(field, path, func(text string) error {
			x, err := parse(text)
			out = append(out, x)
			return err
		})
	})
	refuse(choices != "" && errors.Is(err, fs.ErrNotExist), "%w; give %s", err, choices)
	throw(err)
	refuse(out == nil, "{"+field+"} %s: %s", escape.Quoted(path), none)
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
	if text == "" {
		return nil
	}
	out, wrong := splitNumbers(text)
	if wrong == nil {
		return out
	}
	out, err := read(func() []*big.Rat { return in.column(field, text, "") })
	missing := errors.Is(err, fs.ErrNotExist) && !namesFile(text) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR)
	refuse(missing, "{"+field+"}: %w; give decimals separated by commas, or a file with one per line", wrong)
	return must(out, err)
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
				return nil, refusal("{histogram} %s: cannot be read: %w", escape.Quoted(path), WithoutPath(err))
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
	refuse(table.Values == nil, "{histogram} %s: the file has no counts; give one per line", escape.Quoted(path))
	return table.Values
}

// ReadHistogram reads counts: a .npy file, or a text file as evaluate.Counts reads it.
func (h *Host) ReadHistogram(ctx context.Context, path string) ([]int64, error) {
	return read(func() []int64 { return (&reading{Host: h, ctx: ctx}).histogram(path) })
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
