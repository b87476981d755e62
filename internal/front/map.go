package front

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// mapped has, for each lattice and level, the largest bound of testdata/map.csv or map-full.csv and the largest ratio seen there: the columns
// n, k, constraints, bound, seen.
//
//go:embed map.csv
var mapped string

// grid has the bounds of one level.
type grid struct {
	Level  string
	Ns, Ks []int
	Worst  *cell
	cells  map[[2]int]*cell
}

// cell is a lattice of the map; its bound and the largest ratio seen are decimals, rounded outward and as seen, "" where none was.
type cell struct {
	N, K        int
	Bound, Seen string
	above       *big.Rat // the bound less 1
}

// At is the cell of a lattice, nil for none.
func (g *grid) At(n, k int) *cell { return g.cells[[2]int{n, k}] }

// Share is the part of the largest bound that a cell has, in percent.
func (g *grid) Share(c *cell) string {
	return new(big.Rat).Mul(big.NewRat(100, 1), new(big.Rat).Quo(c.above, g.Worst.above)).FloatString(0)
}

// Percent is by how many percent the bound exceeds 1, rounded up.
func (c *cell) Percent() string {
	x := new(big.Rat).Mul(c.above, big.NewRat(10000, 1))
	up := new(big.Int).Add(x.Num(), new(big.Int).Sub(x.Denom(), big.NewInt(1)))
	hundredths := up.Quo(up, x.Denom()).Int64()
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
}

// Map are the grids of the map, whose file is a part of the program and right.
func (*sheet) Map() (grids []*grid) {
	lines, err := csv.NewReader(strings.NewReader(mapped)).ReadAll()
	for _, l := range lines[1:] {
		n, errN := strconv.Atoi(l[0])
		k, errK := strconv.Atoi(l[1])
		bound, ok := new(big.Rat).SetString(l[3])
		if err != nil || errN != nil || errK != nil || !ok {
			panic(fmt.Sprint("map.csv: ", l))
		}
		c := &cell{n, k, l[3], l[4], bound.Sub(bound, big.NewRat(1, 1))}
		if len(grids) == 0 || grids[len(grids)-1].Level != l[2] {
			grids = append(grids, &grid{Level: l[2], Worst: c, cells: map[[2]int]*cell{}})
		}
		g := grids[len(grids)-1]
		if g.Ns, g.Ks, g.cells[[2]int{n, k}] = append(g.Ns, n), append(g.Ks, k), c; c.above.Cmp(g.Worst.above) > 0 {
			g.Worst = c
		}
	}
	for _, g := range grids {
		slices.Sort(g.Ns)
		slices.Sort(g.Ks)
		g.Ns, g.Ks = slices.Compact(g.Ns), slices.Compact(g.Ks)
	}
	return grids
}
