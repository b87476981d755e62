package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// specs are all figures, in the order in which they are listed.
var specs []Spec

func init() {
	for _, list := range [][]Spec{pfSpecs, histogramSpecs, hetSpecs, trialSpecs, stoppingSpecs, ownSpecs} {
		specs = append(specs, list...)
	}
	own := len(specs) - len(ownSpecs)
	slices.SortStableFunc(specs[:own], func(a, b Spec) int {
		return cmp.Or(cmp.Compare(source(a), source(b)), cmp.Compare(order(a.Name), order(b.Name)), cmp.Compare(a.Name, b.Name))
	})
}

// source and order are what names are sorted by: pf, het, stopping, and the number.
func source(s Spec) int {
	name, _, _ := strings.Cut(s.Name, "-")
	return slices.Index([]string{"pf", "het", "stopping"}, name)
}

func order(name string) (n int) {
	for _, r := range name {
		if r >= '0' && r <= '9' {
			n = 10*n + int(r-'0')
		}
	}
	return n
}

// Specs returns all figures that can be drawn, in the order in which they are listed.
func Specs() []Spec { return slices.Clone(specs) }

// Impossible are the figures of the sources that cannot be drawn again, with the reason.
var Impossible = map[string]string{
	"het-3":  "a sketch without numbers: its candidates, sensitivities and t are not given",
	"het-4":  "its candidates are not listed in the source",
	"het-8":  "it needs a recommender trained on Netflix, MovieLens and Amazon data, which are not given",
	"het-16": "it needs a recommender trained on Amazon data, which are not given",
	"het-18": "it shows the candidates of Fig. 4, which are not listed in the source",
}

// Lookup finds a figure. The error of a name that does not exist says which names are nearest.
func Lookup(name string) (*Spec, error) {
	for i := range specs {
		if specs[i].Name == name {
			return &specs[i], nil
		}
	}
	if why, known := Impossible[name]; known {
		return nil, fmt.Errorf("%w: figure %s cannot be drawn again: %s", ErrParameter, name, why)
	}
	near := nearest(name, 3)
	return nil, fmt.Errorf("%w: there is no figure %q; the nearest names are %s, and research figure --list lists all", ErrParameter, name, strings.Join(near, ", "))
}

// nearest returns the names that the fewest changed letters make of the given one.
func nearest(name string, n int) []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return names[:min(n, len(names))]
}

// distance is the least number of letters to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			next := min(row[j+1], row[j]) + 1
			if a[i] == b[j] {
				next = min(next, diagonal)
			} else {
				next = min(next, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
