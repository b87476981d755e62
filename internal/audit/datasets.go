package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"optratio/internal/inquiry"
	"optratio/internal/strictjson"
)

// mostRowPairs bounds the pairs that AddRowPairs makes.
const mostRowPairs = 100_000

// AddRowPairs makes pairs of every input that was added, which is a list of rows, with each list that has one row less, or with replace another one of all rows
// in the place of one. These lists become inputs too.
func (in *Inputs) AddRowPairs(replace bool) error {
	lists, places, err := in.readRows()
	if err != nil {
		return err
	}
	in.swaps = replace
	rows := in.rows
	if !replace {
		rows = []string{""}
	}
	if pairs := places * len(rows); pairs > mostRowPairs {
		return fmt.Errorf("that makes about %d pairs, of at most %d; give fewer or shorter inputs, or a file of pairs", pairs, mostRowPairs)
	}
	paired := map[[2]int]bool{}
	for at, list := range lists {
		from, _ := in.find(in.Values[at]) // the first of those that are alike
		for i := range list {
			for _, row := range rows {
				changed := slices.Clone(list)
				if changed[i] = row; !replace {
					changed = slices.Delete(changed, i, i+1)
				}
				known := len(in.Values)
				to := in.dataset(changed)
				in.made += len(in.Values) - known
				if pair := [2]int{min(from, to), max(from, to)}; from != to && !paired[pair] {
					in.Pairs, paired[pair] = append(in.Pairs, InputPair{From: from, To: to}), true
				}
			}
		}
	}
	return nil
}

// readRows returns the rows of each input, and how many these are together. Those that differ are kept.
func (in *Inputs) readRows() (lists [][]string, places int, err error) {
	lists = make([][]string, len(in.Values))
	var rows []string
	seen := map[string]bool{}
	for i, value := range in.Values {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || list == nil {
			return nil, 0, fmt.Errorf("%s is not a list of rows, such as [3,1,2] or [{\"age\":31}]", brief(value))
		}
		places += len(list)
		for _, row := range list {
			lists[i] = append(lists[i], string(row))
			if key, _ := strictjson.Key(row); !seen[key] {
				rows, seen[key] = append(rows, string(row)), true
			}
		}
	}
	in.rows = rows
	return lists, places, nil
}

// dataset returns the place of a list of rows, which is added if it is not there.
func (in *Inputs) dataset(rows []string) int {
	return in.place(json.RawMessage("[" + strings.Join(rows, ", ") + "]"))
}

// mostRows bounds the datasets of the side set. These are made of rows of the inputs alone, since no others are known to be rows.
const mostRows = 4096

// aside returns the side set of datasets, which is added to them: all rows, the least one, and the greatest, each repeated twice as often again and again, and neighbors of these. Where
// one row more makes the program fail, that is found by bisection if rows are removed; otherwise the number of rows may be fixed, and nothing is concluded. There may be none, nil.
func (in *Inputs) aside(space *inquiry.Space, probe inquiry.Subject) (*inquiry.Domain, error) {
	number := func(row string) float64 {
		x, _ := strconv.ParseFloat(row, 64)
		return x
	}
	slices.SortStableFunc(in.rows, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	first := len(in.Pairs)
	for _, seed := range [][]string{in.rows, in.rows[:1], in.rows[len(in.rows)-1:]} {
		if err := in.repeat(seed, probe); err != nil && !errors.Is(err, inquiry.ErrUndecided) {
			return nil, err
		}
	}
	var vectors []inquiry.Vector
	var pairs [][2]inquiry.Vector
	for _, p := range in.Pairs[first:] {
		pair := [2]inquiry.Vector{{int64(p.From)}, {int64(p.To)}}
		vectors, pairs = append(vectors, pair[0], pair[1]), append(pairs, pair)
	}
	if pairs == nil {
		return nil, nil
	}
	name := fmt.Sprintf("a side set of %s of larger datasets of the same rows", counted(len(pairs), "pair"))
	return &inquiry.Domain{Name: name, Space: space, Vectors: slices.Values(vectors), Neighbors: listed(pairs)}, nil
}

// repeat adds pairs of datasets that repeat some rows, as long as there are answers, and soon.
func (in *Inputs) repeat(seed []string, probe inquiry.Subject) (err error) {
	all, known := slices.Repeat(seed, mostRows/len(seed)), 0
	answered := func(n int) bool {
		a, failed := probe.Answer(inquiry.Vector{int64(in.dataset(all[:n]))})
		err = cmp.Or(err, failed)
		return failed == nil && a.Event == ""
	}
	pair := func(rows, other []string) {
		if from, to := in.dataset(rows), in.dataset(other); from != to {
			in.Pairs = append(in.Pairs, InputPair{From: from, To: to})
		}
	}
	for n := 2 * len(seed); n <= len(all); n *= 2 {
		began, rows := time.Now(), all[:n]
		if !answered(n) {
			if known > 0 && !in.swaps {
				n = known + sort.Search(n-known, func(i int) bool { return i > 0 && !answered(known+i) })
				pair(all[:n], all[:n-1])
			}
			return err
		}
		if known = n; in.swaps {
			for _, row := range []string{in.rows[0], in.rows[len(in.rows)-1]} {
				pair(rows, slices.Concat([]string{row}, rows[1:]))
				pair(rows, slices.Concat(rows[:n-1], []string{row}))
			}
		} else {
			pair(rows, rows[1:])
			pair(rows, rows[:n-1])
		}
		if time.Since(began) > slowProbe {
			return nil
		}
	}
	return err
}
