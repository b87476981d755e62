package certificate_test

import (
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/verify/certificate"
)

// tables are certificates of version 2 that package lp wrote, of exact optima: their claims have no room.
func tables(t *testing.T) map[string]string { return stored(t, "table", 14) }

// approximations are those of optima over (ε,δ)-DP mechanisms.
func approximations(t *testing.T) map[string]string { return stored(t, "approximate", 8) }

// stored returns the certificates of the given kind.
func stored(t *testing.T, kind string, count int) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/" + kind + "-*.cert")
	require.NoError(t, err)
	require.Len(t, files, count)
	out := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		out[filepath.Base(f)] = string(text)
	}
	return out
}

// verdict checks a certificate of version 2 whose last line is made to fit.
func verdict(t *testing.T, lines []string) *certificate.Report {
	t.Helper()
	lines = slices.Clone(lines)
	lines[len(lines)-1] = "end " + strconv.Itoa(len(lines)-1)
	report, err := certificate.Check(strings.NewReader(strings.Join(lines, "\n")+"\n"), certificate.Options{})
	if err != nil {
		return &certificate.Report{Reason: err.Error()}
	}
	return report
}

// At an irrational z the claim has little room: an enclosure is proved, and neither end may be moved far inwards, nor ε be another one.
func TestEnclosedTables(t *testing.T) {
	files, err := filepath.Glob("testdata/enclosed-*.cert")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		lines := split(string(text))
		require.True(t, verdict(t, lines).Valid, f)
		at := slices.Index(lines, "claim optimum "+field(t, lines, "claim optimum"))
		ends := strings.Fields(field(t, lines, "claim optimum"))
		claim := func(lo, hi string) []string {
			out := slices.Clone(lines)
			out[at] = "claim optimum " + lo + " " + hi
			return out
		}
		for _, doctored := range [][]string{claim(ends[1], ends[1]), claim(ends[0], ends[0]), claim(ends[1], ends[0])} {
			assert.False(t, verdict(t, doctored).Valid, f)
		}
		wide := verdict(t, claim("0", "1000"))
		assert.True(t, wide.Valid, wide.Reason)
		for _, eps := range []string{"epsilon 1/2", "epsilon 9/10", "epsilon 0", "epsilon 2000000", "exp-epsilon 2"} {
			out := slices.Clone(lines)
			out[slices.Index(lines, "epsilon "+field(t, lines, "epsilon"))] = eps
			assert.False(t, verdict(t, out).Valid, eps)
		}
		for _, precision := range []string{"0", "64", "16384"} { // how closely the writer had z; z is enclosed for itself
			out := slices.Clone(lines)
			out[slices.Index(lines, "precision "+field(t, lines, "precision"))] = "precision " + precision
			assert.Equal(t, precision != "0", verdict(t, out).Valid, "%s: %s", precision, verdict(t, out).Reason)
		}
	}
}

func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// field returns the rest of the header line with the given first word.
func field(t *testing.T, lines []string, word string) string {
	t.Helper()
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, word+" "); ok {
			return rest
		}
	}
	require.Fail(t, "no line", word)
	return ""
}

// both are tables and approximations.
func both(t *testing.T) map[string]string {
	out := tables(t)
	maps.Copy(out, approximations(t))
	return out
}

func TestTablesAreValid(t *testing.T) {
	for name, text := range both(t) {
		lines := split(text)
		r := verdict(t, lines)
		require.True(t, r.Valid, "%s: %s", name, r.Reason)
		claim := strings.Fields(field(t, lines, "claim optimum"))
		exact, ok := r.Optimum.Rat()
		require.True(t, ok)
		assert.Equal(t, claim[0], exact.RatString())
		assert.Equal(t, claim[1], exact.RatString())
		assert.Equal(t, field(t, lines, "n"), fmt.Sprint(r.Problem.N))
		assert.Equal(t, field(t, lines, "k"), fmt.Sprint(r.Problem.K))
		assert.Equal(t, field(t, lines, "step"), fmt.Sprint(r.Problem.Step))
		assert.Equal(t, field(t, lines, "constraints"), r.Problem.Constraints)
		assert.Equal(t, field(t, lines, "prior"), r.Problem.Objective)
		require.Len(t, r.Claims, 1)
		assert.True(t, r.Claims[0].Follows)
	}
}

// Whatever line of a certificate of an exact optimum is changed, it is no longer valid.
func TestDoctoredTables(t *testing.T) {
	tried, spared := 0, 0
	for name, text := range both(t) {
		lines := split(text)
		reject := func(what string, doctored []string) {
			t.Helper()
			r := verdict(t, doctored)
			assert.False(t, r.Valid, "%s: %s", name, what)
			assert.NotEmpty(t, r.Reason, "%s: %s", name, what)
		}
		with := func(i int, line string) []string {
			out := slices.Clone(lines)
			out[i] = line
			return out
		}
		replaced := func(i, f int, value string) []string {
			fields := strings.Split(lines[i], " ")
			fields[f] = value
			return with(i, strings.Join(fields, " "))
		}
		for i, line := range lines[:len(lines)-1] {
			fields := strings.Split(line, " ")
			last := len(fields) - 1
			reject("missing: "+line, slices.Delete(slices.Clone(lines), i, i+1))
			reject("repeated: "+line, slices.Insert(slices.Clone(lines), i, line))
			reject("a field too many: "+line, with(i, line+" 1"))
			switch fields[0] {
			case "cell":
				reject(line, replaced(i, last, "1/7919")) // breaks the sum
				reject(line, replaced(i, last, "-1/2"))
				reject(line, replaced(i, 1, "9"))
				if other, _ := strconv.Atoi(fields[1]); other != 1 {
					reject(line, replaced(i, 1, "1"))
				}
			case "delta":
				for _, delta := range []string{"-1/50", "1/49", "1/51", "2", "0.02", "zero"} {
					reject("delta "+delta, with(i, "delta "+delta))
				}
			case "event":
				reject(line, replaced(i, last, "0"))
				reject(line, replaced(i, last, "-1"))
				reject(line, replaced(i, last, "100000"))
				for f := 1; f < last; f++ {
					x, _ := strconv.Atoi(fields[f])
					for _, other := range []int{x + 1, x - 1} {
						doctored := replaced(i, f, strconv.Itoa(other))
						if r := verdict(t, doctored); r.Valid { // another event may prove as much
							assert.Contains(t, doctored[i], "event")
							spared++
							continue
						}
						tried++
					}
				}
			case "weight", "row":
				reject(line, replaced(i, last, "0"))
				reject(line, replaced(i, last, "-1"))
				if fields[0] == "row" {
					reject(line, replaced(i, last, "100000"))
					reject(line, replaced(i, 1, "x"))
					reject(line, replaced(i, 2, "99"))
				}
				reject(line, replaced(i, last-1, "7")) // more candidates
			case "claim":
				value, _ := new(big.Rat).SetString(fields[2])
				tiny := big.NewRat(1, 1e15)
				up, down := new(big.Rat).Add(value, tiny).RatString(), new(big.Rat).Sub(value, tiny).RatString()
				reject("claim above", with(i, fmt.Sprintf("claim optimum %s %s", up, up)))
				reject("claim below", with(i, fmt.Sprintf("claim optimum %s %s", down, down)))
				wide := verdict(t, with(i, fmt.Sprintf("claim optimum %s %s", down, up)))
				assert.True(t, wide.Valid, "a wider claim holds: %s", wide.Reason)
			case "exp-epsilon":
				reject("smaller epsilon", with(i, "exp-epsilon 4/3"))
				reject("larger epsilon", with(i, "exp-epsilon 5/3"))
			case "loss":
				for f := 1; f <= last; f++ {
					reject(fmt.Sprint("loss ", f), replaced(i, f, "1000"))
				}
			case "n", "k", "step":
				for _, v := range []string{"0", "1", "5", "65537", "-1", "2000000000"} {
					if v != fields[1] {
						reject(fields[0], with(i, fields[0]+" "+v))
					}
				}
			case "constraints":
				reject("constraints", with(i, "constraints none"))
			case "prior":
				reject("prior", with(i, "prior none at all"))
				for _, p := range []string{"uniform", "box", "weights", "none"} {
					if p != fields[1] && !strings.Contains(text, "\nweight ") {
						reject("prior "+p, with(i, "prior "+p))
					}
				}
			case "precision":
				reject("precision", with(i, "precision 16385"))
			}
		}
	}
	t.Logf("events with another number: %d rejected, %d prove as much", tried, spared)
	assert.Greater(t, tried, 10*spared)
}

// An event proves something of neighbors alone, and of no more candidates than there are.
func TestEventsMustBelong(t *testing.T) {
	text := approximations(t)["approximate-1.cert"] // n = 3, k = 2, step 2Δ
	for _, c := range []struct{ event, reason string }{
		{"event 3 0 0 0 3 0 0 0 4 1/1000", "count vector"},
		{"event 3 0 0 1 2 0 0 0 2 1/1000", "candidates, or with more"},
		{"event 3 0 0 2 0 1 0 0 2 1/1000", "no neighbors"},              // the third one rises by two steps
		{"event 3 0 0 1 1 1 0 0 1 0 2 1 1/1000", "no neighbors"},        // the second part rises by two steps
		{"event 3 0 0 1 2 0 0 1 1 0 0 1 1/1000", "a part is not after"}, // parts in the wrong order
		{"event 3 0 0 1 2 0 0 1 1 0 1 1 1/1000", "a part is not after"}, // the same part twice
		{"event 3 0 0 1 2 0 0 0 0 1/1000", "parts without"},             // nobody
		{"event 3 0 0 1 2 0 0 2 1 1/1000", "parts without"},             // nobody is at depth 2
		{"event 3 0 0 1 2 0 1 1 1 1/1000", "parts without"},             // nor here at depth 1
		{"event 3 0 0 1 2 0 1/1000", "fields"},                          // no parts
		{"event 3 0 0 1 2 0 0 1 1/1000", "fields"},                      // half a part
		{"event 2 0 0 1 2 0 0 1 1 1/1000", "not 3 candidates"},          // two candidates
		{"event 3 0 0 1 2 0 0 1 1 -1/1000", "not positive"},             // a negative multiplier
		{"row p 0 3 0 0 1 1 2 0 1/1000", "expected"},                    // rows of other levels
		{"event 1 0 2 1 1 1 2 1 1 1/1000", "not after the event"},       // ahead of all others, which follow in order
	} {
		at := strings.Index(text, "\nevent ")
		r := verdict(t, split(text[:at]+"\n"+c.event+text[at:]))
		assert.False(t, r.Valid, c.event)
		assert.Contains(t, r.Reason, c.reason, c.event)
	}
	// With less δ the table breaks an event, in either direction.
	negative := strings.Replace(text, "\ndelta 1/50\n", "\ndelta -1/50\n", 1)
	assert.Contains(t, verdict(t, split(negative)).Reason, "delta is negative")
	less := strings.Replace(text, "\ndelta 1/50\n", "\ndelta 1/51\n", 1)
	assert.Contains(t, verdict(t, split(less)).Reason, "the table violates an event")
}

// A table is optimal for the rows of its own level. At another level its multipliers may prove as much, but where that level has more rows, the
// table violates one; and where it has fewer, the multipliers name rows that it does not have, or the table is not the best one.
func TestTablesOfAnotherLevel(t *testing.T) {
	violated := 0
	for name, text := range tables(t) {
		lines := split(text)
		own := field(t, lines, "constraints")
		for _, other := range []string{"paper", "dp", "monotone", "full"} {
			if other == own {
				continue
			}
			doctored := slices.Clone(lines)
			doctored[slices.Index(lines, "constraints "+own)] = "constraints " + other
			r := verdict(t, doctored)
			if strings.Contains(r.Reason, "the table violates a row") {
				violated++
				continue
			}
			// Either the optimum is the same, or a row is refused.
			if !r.Valid {
				assert.Contains(t, r.Reason, "row: ", "%s at %s", name, other)
			}
		}
	}
	assert.Greater(t, violated, 10)
}

// Rows that are none of the program prove nothing: at the level paper only the worst neighbors are tied, and with L = 2 vectors
// whose changes differ by three steps are no neighbors.
func TestTableRowsMustBelong(t *testing.T) {
	text := tables(t)["table-01.cert"] // paper, n = 3, kL = 4
	require.Contains(t, text, "\nconstraints paper\n")
	dp := strings.Replace(text, "constraints paper", "constraints dp", 1)
	for _, c := range []struct{ text, row, reason string }{
		{text, "row p 1 2 1 0 0 0 0 3 0 0 0 0 1/1000", "not the worst neighbor"}, // one sinks by a single step
		{text, "row m 1 2 1 0 0 0 0 3 0 0 0 0 1/1000", "kind"},                   // the level has no monotone rows
		{text, "row p 3 2 0 0 1 0 0 3 0 0 0 0 1/1000", "not the worst neighbor"}, // three steps
		{dp, "row p 3 2 0 0 1 0 0 3 0 0 0 0 1/1000", "no neighbors"},
		{text, "row p 0 3 0 0 0 0 0 3 0 0 0 0 1/1000", "itself"},
		{text, "row p 1 3 0 0 0 0 0 3 0 0 0 0 1/1000", "without a candidate"},
	} {
		at := strings.Index(c.text, "\ncell ")
		if first := strings.Index(c.text, "\nrow "); first >= 0 {
			at = first // ahead of all others, which it may not follow in order
		}
		r := verdict(t, split(c.text[:at]+"\n"+c.row+c.text[at:]))
		assert.False(t, r.Valid)
		assert.Contains(t, r.Reason, "row: ", c.row)
		assert.Contains(t, r.Reason, c.reason, c.row)
	}
}

// TestTableLinesAreExplained: what is wrong with a line is said, also where what is left would not be valid for another reason.
func TestTableLinesAreExplained(t *testing.T) {
	uniform, weighted := tables(t)["table-01.cert"], tables(t)["table-03.cert"]
	all := weighted[strings.Index(weighted, "\nweight"):strings.Index(weighted, "\nrow")]
	for _, c := range []struct{ text, old, new, reason string }{
		// Two probabilities of the three candidates, which still sum to 1.
		{uniform, "cell 0 2 1 0 0 0 328/793\ncell 1 2 1 0 0 0 137/793", "cell 0 2 1 0 0 0 11/20\ncell 1 2 1 0 0 0 -1/10", "negative"},
		{uniform, "cell 0 2 1 0 0 0 328/793\ncell 1 2 1 0 0 0 137/793", "cell 0 2 1 0 0 0 1/3\ncell 1 2 1 0 0 0 1/3", "violates a row"},
		{uniform, "cell 0 2 1 0 0 0 328/793", "cell 0 2 1 0 0 0 1", "sum to"},
		{uniform, "cell 0 2 1 0 0 0 328/793", "cell 0 3 0 0 0 0 328/793", "not the next variable"},
		{uniform, "cell 0 2 1 0 0 0 328/793", "cell 1 2 1 0 0 0 328/793", "not the next variable"},
		{uniform, "cell 0 2 1 0 0 0 328/793", "cell 0 2 2 0 0 0 328/793", "count vector"},
		{uniform, "cell 0 2 1 0 0 0 328/793", "cell 0 2 1 0 0 0 x", "cell: not a number"},
		{uniform, "cell 0 2 1 0 0 0 328/793", "cell 0 2 1 0 0 0", "fields"},
		{weighted, "weight 2 1 0 0 0 0x1.ep+02", "weight 2 2 0 0 0 0x1.ep+02", "count vector"},
		{weighted, "weight 2 1 0 0 0 0x1.ep+02", "weight 2 1 0 0 0 0 0x1.ep+02", "fields"},
		{weighted, "weight 2 1 0 0 0 0x1.ep+02", "weight 2 1 0 0 0 0", "not positive"},
		{weighted, "weight 2 1 0 0 0 0x1.ep+02", "weight 2 1 0 0 0 -2", "not positive"},
		{weighted, "weight 2 1 0 0 0 0x1.ep+02", "weight 3 0 0 0 0 1", "not after the count vector"},
		{weighted, all, "", `no line "weight"`},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 0 1/4 1 9/4", "4 values for 5 depths"},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 0 1 1/4 9/4 4", "falling"},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 1/8 1/4 1 9/4 4", "not 0 at first"},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 0 1/4 1 9/4 x", "loss: not a number"},
		{weighted, "step 2", "step 32769", "k·L is more than"},
		{weighted, "step 2", "step 65537", "step"},
		{weighted, "prior weights", "prior uniform", `"weight`},
		{weighted, "claim optimum 2447/3847 2447/3847", "claim optimum 0 2447/3848", "and less is claimed"},
		{weighted, "claim optimum 2447/3847 2447/3847", "claim optimum 2447/3846 1", "and more is claimed"},
		{weighted, "claim optimum 2447/3847 2447/3847", "claim ratio 1 1", "claim"},
	} {
		require.Contains(t, c.text, c.old)
		r := verdict(t, split(strings.Replace(c.text, c.old, c.new, 1)))
		assert.False(t, r.Valid, c.new)
		assert.Contains(t, r.Reason, c.reason, c.new)
	}
}

// TestLongLosses: a line with the losses of many depths is longer than any other.
func TestLongLosses(t *testing.T) {
	const k = 700
	var loss []string
	for i := range k + 1 {
		loss = append(loss, fmt.Sprint(i)+strings.Repeat("0", min(i, 1)*900))
	}
	cell := "cell 0 1" + strings.Repeat(" 0", k) + " 1"
	r := verdict(t, []string{"optratio-certificate 2", "n 1", fmt.Sprint("k ", k), "step 1", "exp-epsilon 2", "constraints dp", "loss " + strings.Join(loss, " "), "prior uniform", "precision 0", "claim optimum 0 0", cell, "end"})
	assert.True(t, r.Valid, r.Reason)
}

// TestPrecisionOfTables: the more digits of z a certificate was written with, the more of its claim is decided, up to the precision that the options allow.
func TestPrecisionOfTables(t *testing.T) {
	text := stored(t, "enclosed", 3)["enclosed-17.cert"]
	lines := split(text)
	at, precision := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "claim optimum ") }), slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "precision ") })
	ends := strings.Fields(lines[at])
	sharpest := func(bits int, o certificate.Options) *big.Rat {
		known, _ := new(big.Rat).SetString(ends[2])
		refuted := new(big.Rat).Add(known, big.NewRat(1, 1e6))
		for range 230 {
			middle := new(big.Rat).Add(known, refuted)
			middle.Quo(middle, big.NewRat(2, 1))
			doctored := slices.Clone(lines)
			doctored[precision] = fmt.Sprint("precision ", bits)
			doctored[at] = fmt.Sprintf("claim optimum %s 1000", middle.RatString())
			r, err := certificate.Check(strings.NewReader(strings.Join(doctored, "\n")+"\n"), o)
			require.NoError(t, err)
			if r.Valid {
				known = middle
			} else {
				refuted = middle
			}
		}
		return known
	}
	coarse, fine, finest := sharpest(0, certificate.Options{}), sharpest(64, certificate.Options{}), sharpest(200, certificate.Options{})
	assert.Negative(t, coarse.Cmp(fine))
	assert.Negative(t, fine.Cmp(finest))
	assert.Zero(t, sharpest(200, certificate.Options{MaxPrecision: 128}).Cmp(fine))
	assert.Zero(t, sharpest(200, certificate.Options{MaxPrecision: 1}).Cmp(fine))
}
