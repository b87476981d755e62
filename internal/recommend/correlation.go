package recommend

import (
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/mechanisms"
	"optratio/number"
)

// Heuristics are statistics of scores and sensitivities that suggest which mechanism does well: gem
// where they correlate negatively, mgem and random stopping where they correlate positively. A
// correlation is not a number where scores or sensitivities are all tied.
type Heuristics struct {
	Spearman          number.Number `json:"spearman"`
	Pearson           number.Number `json:"pearson"`
	BucketCorrelation number.Number `json:"bucket_correlation"`
	Bounds            UtilityBounds `json:"utility_bounds"`
}

// NewHeuristics returns all of them for an instance.
func NewHeuristics(in *mechanisms.Instance) (Heuristics, error) {
	if err := in.Check(); err != nil {
		return Heuristics{}, err
	}
	bounds, err := NewUtilityBounds(in)
	return Heuristics{Spearman(in), Pearson(in), BucketCorrelation(in, 5), bounds}, err
}

// Pearson returns the correlation of scores and sensitivities.
func Pearson(in *mechanisms.Instance) number.Number {
	return correlation(in.Scores, sensitivities(in), alike(in))
}

// Spearman returns the correlation of their ranks, ties having their average rank.
func Spearman(in *mechanisms.Instance) number.Number {
	return correlation(ranks(in.Scores), ranks(sensitivities(in)), alike(in))
}

// BucketCorrelation returns the weighted correlation of scores and sensitivities where candidate a weighs
// Δ_a over the largest sensitivity in its bucket; the range of scores is cut into buckets
// of equal length, closed on the left, the last one on both sides (Antonova et al., App. I). Where all sensitivities
// of a bucket are 0, its weights are 1.
func BucketCorrelation(in *mechanisms.Instance, buckets int64) number.Number {
	each := sensitivities(in)
	lowest := slices.MinFunc(in.Scores, (*big.Rat).Cmp)
	width := new(big.Rat).Sub(in.Best(), lowest)
	bucket := make([]int64, len(each))
	largest := map[int64]*big.Rat{}
	for i, q := range in.Scores {
		if width.Sign() > 0 {
			x := new(big.Rat).Sub(q, lowest)
			x.Quo(x.Mul(x, big.NewRat(buckets, 1)), width)
			bucket[i] = min(buckets-1, new(big.Int).Quo(x.Num(), x.Denom()).Int64())
		}
		if l := largest[bucket[i]]; l == nil || l.Cmp(each[i]) < 0 {
			largest[bucket[i]] = each[i]
		}
	}
	weights := make([]*big.Rat, len(each))
	for i, d := range each {
		if l := largest[bucket[i]]; l.Sign() > 0 {
			weights[i] = new(big.Rat).Quo(d, l)
		} else {
			weights[i] = one
		}
	}
	return correlation(in.Scores, each, weights)
}

// sensitivities returns one sensitivity per candidate.
func sensitivities(in *mechanisms.Instance) []*big.Rat {
	if len(in.Sensitivities) == len(in.Scores) {
		return in.Sensitivities
	}
	return slices.Repeat(in.Sensitivities, len(in.Scores))
}

// alike returns a weight of 1 for each candidate.
func alike(in *mechanisms.Instance) []*big.Rat { return slices.Repeat([]*big.Rat{one}, len(in.Scores)) }

// ranks returns ranks up to an affine map, which changes no correlation.
func ranks(values []*big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(values))
	for i, r := range arith.Ranks(values) {
		out[i] = big.NewRat(r, 1)
	}
	return out
}

// correlation returns Σ w (x-μ)(y-ν) / sqrt(Σ w (x-μ)² Σ w (y-ν)²) with weighted means μ and ν. The sums are exact, and so is the result where the root is rational.
func correlation(x, y, weights []*big.Rat) number.Number {
	centredX, centredY := centred(x, weights), centred(y, weights)
	xy, xx, yy := moment(centredX, centredY, weights), moment(centredX, centredX, weights), moment(centredY, centredY, weights)
	square := new(big.Rat).Mul(xx, yy)
	if square.Sign() == 0 {
		return number.Number{}
	}
	square.Quo(new(big.Rat).Mul(xy, xy), square)
	root := squareRoot(square)
	if xy.Sign() < 0 {
		return negated(root)
	}
	return root
}

// centred returns the values less their weighted mean.
func centred(values, weights []*big.Rat) []*big.Rat {
	total, mean := new(big.Rat), new(big.Rat)
	term := new(big.Rat)
	for i, v := range values {
		total.Add(total, weights[i])
		mean.Add(mean, term.Mul(weights[i], v))
	}
	out := make([]*big.Rat, len(values))
	if total.Sign() > 0 {
		mean.Quo(mean, total)
	}
	for i, v := range values {
		out[i] = new(big.Rat).Sub(v, mean)
	}
	return out
}

func moment(x, y, weights []*big.Rat) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	for i := range x {
		sum.Add(sum, term.Mul(weights[i], term.Mul(x[i], y[i])))
	}
	return sum
}

var one = big.NewRat(1, 1)

// squareRoot returns √r, exactly where numerator and denominator are squares.
func squareRoot(r *big.Rat) number.Number {
	num, den := new(big.Int).Sqrt(r.Num()), new(big.Int).Sqrt(r.Denom())
	if new(big.Int).Mul(num, num).Cmp(r.Num()) == 0 && new(big.Int).Mul(den, den).Cmp(r.Denom()) == 0 {
		return number.Exact(new(big.Rat).SetFrac(num, den))
	}
	// ⌊√(r·4^s)⌋ <= √r·2^s < ⌊√(r·4^s)⌋ + 1
	const s = 128
	shift := uint(s + max(0, (r.Denom().BitLen()-r.Num().BitLen())/2+1))
	n := new(big.Int).Lsh(r.Num(), 2*shift)
	n.Sqrt(n.Quo(n, r.Denom()))
	scale := new(big.Int).Lsh(big.NewInt(1), shift)
	lo := new(big.Rat).SetFrac(n, scale)
	hi := new(big.Rat).SetFrac(new(big.Int).Add(n, big.NewInt(1)), scale)
	return number.Bounds(lo, hi)
}

// negated returns -x for an exact or enclosed x.
func negated(x number.Number) number.Number {
	lo, _ := x.Lower()
	hi, _ := x.Upper()
	return number.Bounds(new(big.Rat).Neg(hi), new(big.Rat).Neg(lo))
}

// UtilityBounds compares the utility bounds of the mechanisms (Antonova et al., App. J): with probability 1-β the
// error of gem is at most 4 Δ_* ln(n/β)/ε and that of noisy max at most 2 max Δ ln(n/β)/ε. Δ_* is the
// sensitivity of the best candidate, the least one where several are best.
type UtilityBounds struct {
	GEM number.Number `json:"gem"` // 4 Δ_* ln(n/β)/ε, "inf" at ε = 0
	RNM number.Number `json:"rnm"` // 2 max Δ ln(n/β)/ε
	// GEMWorseThanRNM: Δ_* > max Δ/2.
	GEMWorseThanRNM bool `json:"gem_worse_than_rnm"`
	// GEMVacuous: the bound exceeds the range of scores, so that it says nothing; a
	// uniformly random candidate has it too.
	GEMVacuous bool `json:"gem_vacuous"`
}

// NewUtilityBounds returns the comparison for an instance.
func NewUtilityBounds(in *mechanisms.Instance) (UtilityBounds, error) {
	const prec = 128
	var out UtilityBounds
	best, each := in.Best(), sensitivities(in)
	var star *big.Rat
	for i, q := range in.Scores {
		if q.Cmp(best) == 0 && (star == nil || each[i].Cmp(star) < 0) {
			star = each[i]
		}
	}
	double := new(big.Rat).Add(star, star)
	out.GEMWorseThanRNM = double.Cmp(in.Sensitivity()) > 0
	beta, err := in.Params.FailureProbability()
	if err != nil {
		return out, err
	}
	width := new(big.Rat).Sub(best, slices.MinFunc(in.Scores, (*big.Rat).Cmp))
	odds := new(big.Rat).Quo(big.NewRat(int64(len(in.Scores)), 1), beta)
	if odds.Cmp(one) == 0 || in.Epsilon.IsZero() {
		out.GEM, out.RNM = limit(star, odds), limit(in.Sensitivity(), odds)
		out.GEMVacuous = star.Sign() > 0 && odds.Cmp(one) > 0
		return out, nil
	}
	for p := uint(prec); ; p *= 2 {
		unit := number.LogRat(odds, p).Quo(in.Epsilon.Value(p)) // ln(n/β)/ε
		four := number.FromRat(new(big.Rat).Mul(star, big.NewRat(4, 1)), p)
		gem := four.Mul(unit)
		out.GEM = number.Enclosed(gem)
		out.RNM = number.Enclosed(number.FromRat(new(big.Rat).Add(in.Sensitivity(), in.Sensitivity()), p).Mul(unit))
		if star.Sign() == 0 {
			return out, nil // 0 exceeds no range
		}
		// Where ln(n/β)/ε is rational the two may be equal for ever, which is not "exceeds".
		if c, ok := gem.Cmp(number.FromRat(width, p)); ok || p >= 1<<14 {
			out.GEMVacuous = ok && c > 0
			return out, nil
		}
	}
}

// limit returns the bound where ln(n/β) or ε is 0.
func limit(sensitivity, odds *big.Rat) number.Number {
	if sensitivity.Sign() == 0 || odds.Cmp(one) == 0 {
		return number.Int(0)
	}
	return number.Infinity()
}
