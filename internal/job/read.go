package job

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/clp"
	"optratio/internal/decimal"
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

// List reads a list of values of one of the two; it does not parse them, and leaves it to Parse to refuse both at once, or neither.
func (e Epsilon) List() (list []Epsilon, err error) {
	if e.Eps == "" == (e.Exp == "") {
		return []Epsilon{e}, nil
	}
	names, err := SplitNames(Choose(e.Eps != "", "eps", "exp-eps"), e.Eps+e.Exp)
	for _, text := range names {
		list = append(list, Epsilon{Choose(e.Eps != "", text, ""), Choose(e.Eps != "", "", text)})
	}
	return list, err
}

// String says which ε was given.
func (e Epsilon) String() string {
	if e.Eps != "" {
		return "ε = " + e.Eps
	}
	return "e^ε = " + e.Exp
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

// Parsed reads a field; an error names it, and what may have been meant.
func Parsed[T any](field, text string, parse func(string) (T, error)) (T, error) {
	x, err := parse(text)
	if err != nil {
		names := Choices(field)
		err = refuse("{"+field+"}: %w%s", err, DidYouMean(unknown(text, names), names))
	}
	return x, err
}

// ParsePositive reads a decimal > 0.
func ParsePositive(field, text string) (*big.Rat, error) {
	r, err := decimal.Parse(text)
	if err != nil {
		return nil, refuse("{"+field+"}: %w; give a decimal > 0", err)
	}
	if r.Sign() <= 0 {
		return nil, refuse("{"+field+"} %s: give a decimal > 0", escape.Quoted(text))
	}
	return r, nil
}

// into returns what keeps a value that was read, and the first error of all.
func into[T any](to *T, first *error) func(T, error) {
	return func(x T, err error) {
		*to = x
		if *first == nil {
			*first = err
		}
	}
}

// within reads a decimal or a fraction that ok accepts; want says which do.
func within(field, text, want string, ok func(*big.Rat) bool) (*big.Rat, error) {
	x, err := decimal.ParseNumber(text)
	if err != nil || !ok(x) {
		return nil, refuse("{"+field+"} %s: give "+want, escape.Quoted(text))
	}
	return x, nil
}

func notNegative(x *big.Rat) bool { return x.Sign() >= 0 }

func probability(x *big.Rat) bool { return x.Sign() >= 0 && x.Cmp(big.NewRat(1, 1)) <= 0 }

// parseDelta reads a δ.
func parseDelta(text string) (*big.Rat, error) {
	return within("delta", text, "a decimal or a fraction from 0 to 1 such as 1e-6", probability)
}

// Probability reads a decimal from 0 to 1.
func Probability(field, text string) (*big.Rat, error) {
	r, err := decimal.Parse(text)
	if err != nil || !probability(r) {
		return nil, refuse("{"+field+"} %s: give a decimal from 0 to 1", escape.Quoted(text))
	}
	return r, nil
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

// gap reads the relative width of an answer wanted, > 0, or where nothing need be left open also 0.
func gap(text string, none bool) (*big.Rat, error) {
	x, err := decimal.Parse(text)
	if err != nil || x.Sign() < 0 || x.Sign() == 0 && !none {
		return nil, refuse("{gap} %s: give a decimal "+Choose(none, ">=", ">")+" 0 such as 1e-9", escape.Quoted(text))
	}
	return x, nil
}

// FloatGap reads the relative width of an answer wanted, from 0 to 1.
func FloatGap(text string) (float64, error) {
	gap, err := strconv.ParseFloat(text, 64)
	if err != nil || !(gap >= 0 && gap < 1) {
		return 0, refuse("{gap} %s: give a decimal from 0 to 1 such as 1e-9", escape.Quoted(text))
	}
	return gap, nil
}

// findSolver reads a solver's name.
func findSolver(name string) (linear.Solver, error) {
	if !slices.Contains(Choices("solver"), name) {
		return nil, refuse("{solver} %s: give auto, clp or embedded%s", escape.Quoted(name), DidYouMean(name, Choices("solver")))
	}
	s, err := clp.Find(name)
	if err != nil {
		err = refuse("{solver} %s: %w", name, err)
	}
	return s, err
}

// solverName is findSolver for those who want the solver's own name.
func solverName(name string) (string, error) {
	s, err := findSolver(name)
	if err != nil {
		return "", err
	}
	return s.Name(), nil
}

// MostInput bounds what is read of a file of numbers, in bytes.
const MostInput = 1 << 28

// longestInput bounds a line of such a file, in bytes.
const longestInput = 1 << 24

// open opens the file that a field names, or an argument where field is "".
func (h *Host) open(ctx context.Context, field, path string) (io.ReadCloser, error) {
	file, err := h.Open(ctx, path)
	if err != nil {
		return nil, refuse(Choose(field == "", "", "{"+field+"} ")+"%s: %w", escape.Quoted(path), err)
	}
	return file, nil
}

// readLines calls each for the lines of a file that are neither empty nor comments, which begin with #. Errors of each come
// back with file and line.
func (h *Host) readLines(ctx context.Context, field, path string, each func(text string) error) error {
	file, err := h.open(ctx, field, path)
	if err != nil {
		return err
	}
	defer file.Close()
	rest := &io.LimitedReader{R: file, N: MostInput}
	lines := bufio.NewScanner(rest)
	lines.Buffer(nil, longestInput)
	at := 1
	for ; lines.Scan() && ctx.Err() == nil; at++ { // the last line before the end of the context may be cut
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := each(text); err != nil && ctx.Err() == nil {
			return refuse("%s:%d: %w", path, at, err)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%s:%d: cannot be read: %w", path, at, err)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return refuse("%s:%d: a line of more than %d bytes, is it a text file?", path, at, longestInput)
	} else if err != nil {
		return refuse("%s:%d: cannot be read: %w", path, at, WithoutPath(err))
	}
	return short(path, rest)
}

// short refuses a file that was not read to its end.
func short(path string, rest *io.LimitedReader) error {
	if rest.N == 0 {
		return refuse("%s: longer than %d MiB, give a smaller file", path, MostInput>>20)
	}
	return nil
}

// WithoutPath takes the name out of an error about a file, where the message names it already.
func WithoutPath(err error) error {
	var place *fs.PathError
	if errors.As(err, &place) {
		return place.Err
	}
	return err
}

// readAll reads a file of values, one a line. Where there is no such file, choices say what to give, if it need not be one; none is what is wrong
// with a file without values.
func readAll[T any](ctx context.Context, h *Host, field, path, choices, none string, parse func(text string) (T, error)) (out []T, err error) {
	err = h.readLines(ctx, field, path, func(text string) error {
		x, err := parse(text)
		out = append(out, x)
		return err
	})
	switch {
	case choices != "" && errors.Is(err, fs.ErrNotExist):
		return nil, refuse("%w; give %s", err, choices)
	case err != nil:
		return nil, err
	case out == nil:
		return nil, refuse("{"+field+"} %s: %s", escape.Quoted(path), none)
	}
	return out, nil
}

// readColumn reads a file of numbers, one a line.
func (h *Host) readColumn(ctx context.Context, field, path, choices string) ([]*big.Rat, error) {
	return readAll(ctx, h, field, path, choices, "has no numbers, give one a line", func(text string) (*big.Rat, error) {
		x, err := decimal.ParseNumber(text)
		if err != nil {
			return nil, fmt.Errorf("%w; give one decimal or fraction a line", err)
		}
		return x, nil
	})
}

// read reads the file that a field names, "" for the argument, whole.
func read[T any](ctx context.Context, h *Host, field, path string, parse func(name string, text io.Reader) (T, error)) (out T, err error) {
	file, err := h.open(ctx, field, path)
	if err != nil {
		return out, err
	}
	defer file.Close()
	rest := &io.LimitedReader{R: file, N: MostInput}
	out, err = parse(path, rest)
	switch late := short(path, rest); {
	case ctx.Err() != nil && err != nil:
		return out, refuse(Choose(field == "", "", "{"+field+"} ")+"%s: cannot be read: %w", escape.Quoted(path), context.Cause(ctx))
	case late != nil:
		return out, late
	case err != nil:
		return out, refuse("%w", err)
	}
	return out, nil
}

// ReadHistogram reads counts: a .npy file, or a text file as evaluate.Counts reads it.
func (h *Host) ReadHistogram(ctx context.Context, path string) (counts []int64, err error) {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		return read(ctx, h, "histogram", path, func(name string, text io.Reader) ([]int64, error) {
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
	if err = h.readLines(ctx, "histogram", path, table.Line); err == nil && table.Values == nil {
		err = refuse("{histogram} %s: has no counts, give one a line", escape.Quoted(path))
	}
	return table.Values, err
}
