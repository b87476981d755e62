package audit

import (
	"cmp"
	"slices"
)

// halved is what was drawn at the two sides of a pair: all, and the first halves of the samples.
type halved struct{ all, first [2]float64 }

// halvesOf splits how often the outcomes of a pair came into the first halves of samples, which go into the list, and the rest.
func (f *field) halvesOf(e edge, list []outcome) (d halved) {
	own, near := f.places[e.from], f.places[e.to]
	d.all = [2]float64{float64(own.total), float64(near.total)}
	d.first = [2]float64{float64(own.firstTotal), float64(near.firstTotal)}
	at := func(counts []int64, r int) float64 {
		if r < len(counts) {
			return float64(counts[r])
		}
		return 0
	}
	for i := range list {
		list[i].x1, list[i].y1 = at(own.first, list[i].r), at(near.first, list[i].r)
	}
	return d
}

// unions tries unions of outcomes in the order of their estimated ratios, from the highest, like likeliest. Among many rare outcomes, those that came at one side
// alone look far apart whatever the mechanism does. So a union of k outcomes is rated by what the k outcomes that one half of the samples puts first
// came to in the other half, and the reverse: of outcomes that came often enough this is the union's own count.
func unions(list []outcome, d halved, try func(x, y float64, in []outcome)) {
	rest := [2]float64{d.all[0] - d.first[0], d.all[1] - d.first[1]}
	order := func(draws [2]float64, weight float64, hits func(o outcome) (x, y float64)) []outcome {
		// What came once says of what likeness those are that came hardly or never.
		once := [2]float64{1, 1}
		for _, o := range list {
			if x, y := hits(o); x+y == 1 {
				once[0], once[1] = once[0]+x, once[1]+y
			}
		}
		share := once[0] / draws[0] / (once[0]/draws[0] + once[1]/draws[1])
		ratio := func(o outcome) float64 {
			x, y := hits(o)
			return (x + float64(2*weight*share)) / draws[0] / ((y + float64(2*weight*(1-share))) / draws[1])
		}
		sorted := slices.Clone(list)
		slices.SortFunc(sorted, func(a, b outcome) int { return cmp.Or(-cmp.Compare(ratio(a), ratio(b)), cmp.Compare(a.r, b.r)) })
		return sorted
	}
	all := order(d.all, 1, func(o outcome) (x, y float64) { return o.x, o.y })
	if min(d.first[0], d.first[1], rest[0], rest[1]) == 0 {
		likeliest(list, d.all[0], d.all[1], try)
		return
	}
	byFirst := order(d.first, 0.5, func(o outcome) (x, y float64) { return o.x1, o.y1 })
	byRest := order(rest, 0.5, func(o outcome) (x, y float64) { return o.x - o.x1, o.y - o.y1 })
	x, y := 0.0, 0.0
	for j := range len(all) - 1 { // not of all outcomes
		a, b := byFirst[j], byRest[j]
		x, y = x+a.x-a.x1+b.x1, y+a.y-a.y1+b.y1
		try(x, y, all[:j+1])
	}
}
