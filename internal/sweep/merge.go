package sweep

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
)

// Part is a file whose rows are merged.
type Part struct {
	Name string
	*Table
}

// Merge returns the rows of all parts in order, each once. A row that several parts have must be the same in all of them, but for its seconds, which
// are those of the first.
func Merge(parts []Part) (*Table, error) {
	merged := &Table{}
	from := map[Parameters]int{} // which part
	rows := map[Parameters]Row{}
	first := -1
	for i, part := range parts {
		if len(part.Rows) == 0 {
			continue
		}
		if first < 0 {
			first, merged.Settings = i, part.Settings
		} else if part.Settings != merged.Settings {
			return nil, at(part.Name, fmt.Errorf("was made with %s, %s with %s; merge files of one sweep", settingsText(part.Settings), parts[first].Name, settingsText(merged.Settings)))
		}
		for _, r := range part.Rows {
			other, twice := rows[r.Parameters]
			if twice && !other.same(r) {
				return nil, at(part.Name, fmt.Errorf("differs from %s in the row for %s; merge files of one sweep and one version of the program", parts[from[r.Parameters]].Name, r.Parameters))
			}
			if !twice {
				rows[r.Parameters], from[r.Parameters] = r, i
			}
		}
	}
	merged.Rows = slices.SortedFunc(maps.Values(rows), compare)
	return merged, nil
}

// Missing returns the rows that a table lacks of the grid that its rows span: every n with every k, ε, objective, level of constraints and mechanism that
// occurs. It returns at most so many, and the number of all.
func (t *Table) Missing(most int) (some []Parameters, all int) {
	have := map[Parameters]bool{}
	n, k, kinds := map[int]bool{}, map[int]bool{}, map[Parameters]bool{}
	eps := map[[2]string]*big.Rat{}
	for _, r := range t.Rows {
		have[r.Parameters] = true
		n[r.N], k[r.K], eps[[2]string{r.Eps, r.ExpEps}] = true, true, r.value
		kinds[Parameters{Objective: r.Objective, Constraints: r.Constraints, Mechanism: r.Mechanism}] = true
	}
	all = len(n)*len(k)*len(eps)*len(kinds) - len(have)
	if all == 0 {
		return nil, 0
	}
	var lacking []Row
	for n := range n {
		for k := range k {
			for text, value := range eps {
				for p := range kinds {
					p.N, p.K, p.Eps, p.ExpEps = n, k, text[0], text[1]
					if !have[p] {
						lacking = append(lacking, Row{Parameters: p, value: value})
					}
				}
			}
		}
	}
	slices.SortFunc(lacking, compare)
	for _, r := range lacking[:min(most, len(lacking))] {
		some = append(some, r.Parameters)
	}
	return some, all
}
