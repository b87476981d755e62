package sweep

import (
	"math/big"
	"slices"

	"optratio/internal/grid"
)

// Missing returns the rows that a table lacks of the grid that its rows span: every n with every k, ε, objective, level of constraints and mechanism that
// occurs. It returns at most so many, and the number of all.
func Missing(t *grid.Table[Row], most int) (some []Parameters, all int) {
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
