package front

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"html/template"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/document"
	"optratio/internal/report"
)

// mapped has, for each lattice and level, the largest bound of testdata/map.csv or map-full.csv and the largest ratio seen there: the columns
// n, k, constraints, bound, seen.
//
//go:embed map.csv
var mapped string

// bounded is a lattice of the map.
type bounded struct {
	n, k        int
	constraints string
	bound, seen string // decimals, rounded outward and as seen
}

// readMap reads the map; the file is a part of the program and right.
func readMap() (rows []bounded) {
	lines, err := csv.NewReader(strings.NewReader(mapped)).ReadAll()
	if err != nil {
		panic(err)
	}
	for _, l := range lines[1:] {
		n, errN := strconv.Atoi(l[0])
		k, errK := strconv.Atoi(l[1])
		if errN != nil || errK != nil {
			panic(fmt.Sprint("map.csv: ", l))
		}
		rows = append(rows, bounded{n, k, l[2], l[3], l[4]})
	}
	return rows
}

// heat draws the bounds of one level as a table of coloured cells, each of which leads to the explorer.
func (s *Site) heat(f *form) question {
	var levels []option
	rows := readMap()
	for _, b := range rows {
		if o := (option{b.constraints, levelMeaning[b.constraints]}); !slices.Contains(levels, o) {
			levels = append(levels, o)
		}
	}
	level := levels[0].Value
	chosen := f.choice(&level, "constraints", "Compared with", levels)
	q := question{shown: shown{
		Title: "Permute-and-flip at every ε", Live: true,
		Lead:   "For each number of candidates n and depth k: permute-and-flip's mean error is at most so far above the least possible, whatever ε is. Cells say by how many percent it is above that at most, rounded up. The bounds are proved; certificates and the theorem for all n are in the documentation (map.md). A cell leads to the explorer.",
		Fields: []field{chosen},
	}}
	var here []bounded
	worst := bounded{bound: "1"}
	for _, b := range rows {
		if b.constraints == level {
			here = append(here, b)
			if value(b.bound) > value(worst.bound) {
				worst = b
			}
		}
	}
	commands := []string{"-k 1:6 --target 1.014 --gap 0.0005 --lower -o map.csv", "-k 7 --target 1.0131 --lower -o map.csv --resume",
		"-k 8 --target 1.0135 --lower -o map.csv --resume", "-k 9 --target 1.0138 -o map.csv --resume"}
	if level == "full" {
		commands = []string{"-k 5:6 --constraints full --target 1.01 --lower -o map.csv"}
	}
	for i := range commands {
		commands[i] = "bin/research map -n all " + commands[i]
	}
	q.draw = func([]document.Document) *report.Page {
		p := &report.Page{Title: "Bounds at level " + level, Tone: "good"}
		p.Word = "At every ε, permute-and-flip has at most " + worst.bound + " times the least mean expected error possible"
		p.Sentences = []string{fmt.Sprintf("That is over all lattices below; the largest bound is at n = %d, k = %d.", worst.n, worst.k)}
		p.Sections = append(p.Sections, report.Section{Title: "By n and k", HTML: s.heatTable(here, value(worst.bound))})
		p.AddCommands(commands...)
		return p
	}
	return q
}

func value(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// above writes by how many percent a ratio exceeds 1, rounded up to two decimals.
func above(ratio string) string {
	x, ok := new(big.Rat).SetString(ratio)
	if !ok {
		panic("map.csv: " + ratio)
	}
	x.Mul(x.Sub(x, big.NewRat(1, 1)), big.NewRat(10000, 1))
	up := new(big.Int).Add(x.Num(), new(big.Int).Sub(x.Denom(), big.NewInt(1)))
	hundredths := up.Quo(up, x.Denom()).Int64()
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
}

// heatTable is a table with a row for each n and a column for each k. Colours only repeat what the numbers say.
func (s *Site) heatTable(rows []bounded, worst float64) template.HTML {
	at := map[[2]int]bounded{}
	var ns, ks []int
	for _, b := range rows {
		at[[2]int{b.n, b.k}] = b
		ns, ks = append(ns, b.n), append(ks, b.k)
	}
	slices.Sort(ns)
	slices.Sort(ks)
	ns, ks = slices.Compact(ns), slices.Compact(ks)
	var b strings.Builder
	b.WriteString(`<div class="wide" tabindex="0" role="region" aria-label="map"><table class="heat"><thead><tr><th scope="col">n \ k</th>`)
	for _, k := range ks {
		fmt.Fprintf(&b, `<th scope="col">%d</th>`, k)
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, n := range ns {
		fmt.Fprintf(&b, `<tr><th scope="row">%d</th>`, n)
		for _, k := range ks {
			cell, ok := at[[2]int{n, k}]
			if !ok {
				b.WriteString("<td></td>")
				continue
			}
			share := 0.0
			if worst > 1 {
				share = math.Min(math.Max((value(cell.bound)-1)/(worst-1), 0), 1)
			}
			title := "at most " + cell.bound + " times"
			if cell.seen != "" {
				title += "; largest ratio seen: " + cell.seen
			}
			fmt.Fprintf(&b, `<td style="--heat: %.0f%%" title="%s"><a href="%s">%s</a></td>`, 100*share, template.HTMLEscapeString(title), template.HTMLEscapeString(s.href("", fmt.Sprintf("n=%d&k=%d&eps=0.3", n, k))), above(cell.bound))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>")
	return template.HTML(b.String())
}
