package ratiomap

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	files "optratio/internal/grid"
)

// Row is a line of the table: the bound on one interval of z = e^-ε of one lattice.
type Row struct {
	N, K        int
	Constraints string
	Interval
	Classes int // of count vectors that the multipliers tell apart, 0 where there are none
	// SeenEpsilon and SeenRatio are the Seen of the whole lattice, the same in all its rows; nil where there is none.
	SeenEpsilon, SeenRatio *big.Rat
}

var columns = []string{"n", "k", "constraints", "z_from", "z_to", "bound", "proof", "classes", "seen_eps", "seen_ratio"}

// rows returns the lines of a cover.
func (c *Cover) rows() []Row {
	var rows []Row
	for _, i := range c.Intervals {
		r := Row{N: c.N, K: c.K, Constraints: c.Level.String(), Interval: i}
		if i.Proof == ProofDual {
			r.Classes = len(c.form.classes)
		}
		if c.Seen != nil {
			r.SeenEpsilon, r.SeenRatio = c.Seen.Epsilon, c.Seen.Ratio
		}
		rows = append(rows, r)
	}
	return rows
}

// boundOf returns the largest bound of a lattice's rows.
func boundOf(rows []Row) *big.Rat {
	most := one
	for i := range rows {
		if rows[i].Bound.Cmp(most) > 0 {
			most = rows[i].Bound
		}
	}
	return most
}

// WriteTable writes rows as CSV. Numbers have all their decimals.
func WriteTable(w io.Writer, rows []Row) error {
	if _, err := io.WriteString(w, strings.Join(columns, ",")+"\n"); err != nil {
		return err
	}
	return writeRows(w, rows)
}

// writeRows writes the lines of rows.
func writeRows(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	optional := func(x *big.Rat) string {
		if x == nil {
			return ""
		}
		return decimal.Text(x)
	}
	for _, r := range rows {
		line := []string{strconv.Itoa(r.N), strconv.Itoa(r.K), r.Constraints, decimal.Text(r.From), decimal.Text(r.To), decimal.Text(r.Bound), r.Proof, strconv.Itoa(r.Classes),
			optional(r.SeenEpsilon), optional(r.SeenRatio)}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// ReadTable reads rows, in the order of the file. A torn last line is no error; what is wrong elsewhere is, with its line. Where the context ends before that is done, the error is its cause.
func ReadTable(ctx context.Context, data []byte) ([]Row, error) {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	in := csv.NewReader(bytes.NewReader(whole))
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil || !slices.Equal(head, columns) {
		return nil, errors.New("line 1: not the head of a map's table")
	}
	var rows []Row
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		r, err := parseRow(fields)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		rows = append(rows, r)
	}
}

func parseRow(fields []string) (r Row, err error) {
	whole := func(i int) (x int) {
		if err == nil {
			if x, err = strconv.Atoi(fields[i]); err == nil && x < 0 {
				err = fmt.Errorf("%s %d is negative", columns[i], x)
			}
		}
		return x
	}
	number := func(i int) *big.Rat {
		if fields[i] == "" && i >= 8 {
			return nil
		}
		x, ok := new(big.Rat).SetString(fields[i])
		if !ok && err == nil {
			err = fmt.Errorf("%s %q is no number", columns[i], fields[i])
		}
		return x
	}
	r.N, r.K, r.Constraints = whole(0), whole(1), fields[2]
	r.Interval = Interval{number(3), number(4), number(5), fields[6]}
	r.Classes, r.SeenEpsilon, r.SeenRatio = whole(7), number(8), number(9)
	return r, err
}

// Check reports what is wrong with the rows of one lattice, if they do not cover all z from 0 to 1 without a gap, or a bound has no such proof.
func Check(rows []Row) error {
	reached := new(big.Rat)
	for i, r := range rows {
		switch {
		case r.From.Cmp(reached) != 0:
			return fmt.Errorf("n = %d, k = %d: nothing from z = %s to %s", r.N, r.K, decimal.Text(reached), decimal.Text(r.From))
		case r.To.Cmp(r.From) <= 0 || r.Bound.Cmp(one) < 0 || r.N != rows[0].N || r.K != rows[0].K || r.Constraints != rows[0].Constraints:
			return fmt.Errorf("n = %d, k = %d: no interval at z = %s", r.N, r.K, decimal.Text(r.From))
		case (r.Proof == ProofThreshold) != (i == 0) || !slices.Contains([]string{ProofThreshold, ProofClosedForm, ProofDual}, r.Proof):
			return fmt.Errorf("n = %d, k = %d: proof %q at z = %s", r.N, r.K, r.Proof, decimal.Text(r.From))
		}
		reached = r.To
	}
	if reached.Cmp(one) != 0 {
		return fmt.Errorf("n = %d, k = %d: nothing from z = %s to 1", rows[0].N, rows[0].K, decimal.Text(reached))
	}
	return nil
}

// read returns the rows of a file by lattice.
func read(ctx context.Context, path string, data []byte) (map[[2]int][]Row, error) {
	rows, err := ReadTable(ctx, data)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrFile, path, err)
	}
	table := map[[2]int][]Row{}
	for _, r := range rows {
		at := [2]int{r.N, r.K}
		if have := table[at]; have != nil && have[0].Constraints != r.Constraints {
			return nil, fmt.Errorf("%w %s: has two kinds of constraints", ErrFile, path)
		}
		table[at] = append(table[at], r)
	}
	return table, nil
}

// cites reports whether the lines of a certificate are about the lattice and the intervals of the rows, with the same bounds.
func cites(text string, rows []Row) bool {
	want := []string{fmt.Sprint("n ", rows[0].N), fmt.Sprint("k ", rows[0].K), "constraints " + rows[0].Constraints, "claim ratio pf 0 1 " + boundOf(rows).RatString()}
	for i, r := range rows {
		switch r.Proof {
		case ProofThreshold:
			want = append(want, "threshold "+r.To.RatString())
		case ProofClosedForm:
			want = append(want, "closed-form "+r.Bound.RatString())
		default:
			if rows[i-1].Proof != ProofDual {
				want = append(want, "node "+r.From.RatString())
			}
			want = append(want, "bound "+r.Bound.RatString(), "node "+r.To.RatString())
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "n", "k", "constraints", "claim", "threshold", "closed-form", "bound":
		case "node":
			z, _, _ := strings.Cut(rest, " ")
			line = "node " + z
		default:
			continue
		}
		if len(want) == 0 || want[0] != line {
			return false
		}
		want = want[1:]
	}
	return len(want) == 0
}

// Merge puts the files of shards together in one, and returns how many lattices that has. A lattice that several parts have must be the same in all of them. Where the context
// ends before that is done, the error is its cause.
func Merge(ctx context.Context, path string, parts []string) (lattices int, err error) {
	all, from := map[[2]int][]Row{}, map[[2]int]string{}
	for _, part := range parts {
		data, err := os.ReadFile(part)
		if err != nil {
			return 0, fmt.Errorf("%w %s: %w", ErrFile, part, err)
		}
		table, err := read(ctx, part, data)
		if err != nil {
			return 0, err
		}
		for at, rows := range table {
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			if err := Check(rows); err != nil {
				return 0, fmt.Errorf("%w %s: %w", ErrFile, part, err)
			}
			if have, twice := all[at]; twice && text(have) != text(rows) {
				return 0, fmt.Errorf("%w %s: differs from %s at n = %d, k = %d; merge files of one map and one version of the program", ErrFile, part, from[at], at[0], at[1])
			}
			all[at], from[at] = rows, part
		}
	}
	levels := map[string]string{}
	for at, rows := range all {
		levels[rows[0].Constraints] = from[at]
	}
	if len(levels) > 1 {
		return 0, fmt.Errorf("%w %s: the parts have different constraints; merge files of one map", ErrFile, parts[0])
	}
	file, err := files.Open(path, false)
	if err != nil {
		return 0, fmt.Errorf("%w %s: %w", ErrFile, path, err)
	}
	s := &store{path: path, file: file, rows: all}
	return len(all), errors.Join(s.finish(), s.close())
}

// text returns rows as the file has them.
func text(rows []Row) string {
	var b strings.Builder
	_ = WriteTable(&b, rows) // a builder takes everything
	return b.String()
}

// IsTable reports whether a regular file begins like a map's table. Others are not looked into: what is read of a pipe is gone.
func IsTable(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	want := strings.Join(columns, ",") + "\n"
	head := make([]byte, len(want))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == want
}
