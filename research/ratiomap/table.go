package ratiomap

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/grid"
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

// Rows is the kind of rows that maps have. Numbers have all their decimals.
var Rows = &grid.Kind[Row]{Name: "map", Columns: columns, Fields: Row.fields, Parse: parseRow, Key: Row.key, Compare: compare, Same: same}

// fields returns what a line of a file has.
func (r Row) fields() []string {
	optional := func(x *big.Rat) string {
		if x == nil {
			return ""
		}
		return decimal.Text(x)
	}
	return []string{
		strconv.Itoa(r.N), strconv.Itoa(r.K), r.Constraints, decimal.Text(r.From), decimal.Text(r.To), decimal.Text(r.Bound), r.Proof, strconv.Itoa(r.Classes),
		optional(r.SeenEpsilon), optional(r.SeenRatio),
	}
}

func (r Row) key() string {
	return fmt.Sprintf("n = %d, k = %d, z from %s", r.N, r.K, decimal.Text(r.From))
}

// compare orders rows by k, n and z.
func compare(a, b Row) int {
	return cmp.Or(cmp.Compare(a.K, b.K), cmp.Compare(a.N, b.N), a.From.Cmp(b.From))
}

func same(a, b Row) bool { return slices.Equal(a.fields(), b.fields()) }

// parseRow reads what a line of a file has.
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

// byLattice returns rows by their n and k.
func byLattice(rows []Row) map[[2]int][]Row {
	table := map[[2]int][]Row{}
	for _, r := range rows {
		at := [2]int{r.N, r.K}
		table[at] = append(table[at], r)
	}
	return table
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

// Merge returns the rows of the files of shards in order, and how many lattices they are of. A lattice that several parts have must be the same in all of them. Where the
// context ends before that is done, the error is its cause.
func Merge(ctx context.Context, parts []string) (t *grid.Table[Row], lattices int, err error) {
	if t, err = Rows.Merge(ctx, parts); err != nil {
		return nil, 0, err
	}
	table := byLattice(t.Rows)
	for _, rows := range table {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if err := Check(rows); err != nil {
			return nil, 0, fmt.Errorf("%w: the parts together: %w; end the run of the part with resume, and merge again", grid.ErrFile, err)
		}
		if rows[0].Constraints != t.Rows[0].Constraints {
			return nil, 0, fmt.Errorf("%w: the parts have different constraints; merge files of one map", grid.ErrFile)
		}
	}
	return t, len(table), nil
}
