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

	"optratio/internal/evidence"
	"optratio/verify/certificate"
)

// tables are certificates of section lattice that package lp wrote, of exact optima: their claims have no room.
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

// verdict checks a certificate whose last line is made to fit.
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
		for _, precision := range []string{"64", "16384"} { // how closely the writer had z; z is enclosed for itself
			out := slices.Clone(lines)
			out[slices.Index(lines, "precision "+field(t, lines, "precision"))] = "precision " + precision
			assert.True(t, verdict(t, out).Valid, "%s: %s", precision, verdict(t, out).Reason)
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
			case "input":
				for f := 1; f <= last; f++ {
					reject(line, replaced(i, f, "1/7919")) // breaks the sum
					reject(line, replaced(i, f, "-1/2"))
				}
			case "delta":
				for _, delta := range []string{"-1/50", "1/49", "1/51", "2", "0.02", "zero"} {
					reject("delta "+delta, with(i, "delta "+delta))
				}
			case "weight", "multiplier":
				reject(line, replaced(i, last, "0"))
				reject(line, replaced(i, last, "-1"))
				if fields[0] == "multiplier" {
					reject(line, replaced(i, last, "100000"))
				}
				for f := 1; f < last; f++ {
					reject(line, replaced(i, f, "99"))
					x, _ := strconv.Atoi(fields[f])
					for _, other := range []int{x + 1, x - 1} {
						if verdict(t, replaced(i, f, strconv.Itoa(other))).Valid { // another row may prove as much
							spared++
							continue
						}
						tried++
					}
				}
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
				for _, p := range []string{"uniform", "box", "weights", "worst"} {
					if p != fields[1] && !strings.Contains(text, "\nweight ") {
						reject("prior "+p, with(i, "prior "+p))
					}
				}
			case "precision":
				reject("precision", with(i, "precision 16385"))
			}
		}
	}
	t.Logf("multipliers of other rows: %d rejected, %d prove as much", tried, spared)
	assert.Greater(t, tried, 10*spared)
}

// An event proves something of neighbors alone, and of no more candidates than there are.
func TestEventsMustBelong(t *testing.T) {
	text := approximations(t)["approximate-1.cert"] // n = 3, k = 2: cells 0 | 1 2 | 3 4 | 5 6 | 7 8 9 | 10 11
	for _, c := range []struct{ event, reason string }{
		{"0 0 4 1/1000", "no rows of neighbors"},       // four candidates
		{"0 5 2 1/1000", "no rows of neighbors"},       // one alone is on top
		{"1 3 1 1/1000", ""},                           // the third one rises from depth 2 to depth 1
		{"1 11 1 1/1000", "no rows of neighbors"},      // two steps apart
		{"1 4 1 1/1000", "no rows of neighbors"},       // the third one rises by two steps
		{"1 5 1 1 6 2 1/1000", "no rows of neighbors"}, // there are two at depth 0, but one of them only was at depth 1 before
		{"1 5 1 1 5 1 1/1000", "a part is not after"},  // the same part twice
		{"2 5 1 1 6 1 1/1000", "a part is not after"},  // parts in the wrong order
		{"1 5 0 1/1000", "multiplier is less than 1"},  // nobody
		{"1 5 1/1000", "fields"},                       // half a part
		{"1/1000", "fields"},                           // no parts
		{"1 12 1 1/1000", "more than 11"},              // no such cell
		{"1 5 1 -1/1000", "not positive"},              // a negative multiplier
		{"0 0 1 1/1000", ""},                           // of neighbors that are the same vector, which is true as well
	} {
		head, _, _ := strings.Cut(text, "\nmultiplier ")
		wide := strings.Replace(head, "claim optimum 1898/4275", "claim optimum 0", 1)
		r := verdict(t, split(wide+"\nmultiplier "+c.event+"\nend"))
		assert.Equal(t, c.reason == "", r.Valid, "%s: %s", c.event, r.Reason)
		assert.Contains(t, r.Reason, c.reason, c.event)
	}
	at := strings.Index(text, "\nmultiplier ")
	assert.Contains(t, verdict(t, split(text[:at]+"\nmultiplier 0 5 2 1/1000"+text[at:])).Reason, "not after the event")
	// With less δ the table breaks an event, in either direction.
	negative := strings.Replace(text, "\ndelta 1/50\n", "\ndelta -1/50\n", 1)
	assert.Contains(t, verdict(t, split(negative)).Reason, "delta is less than 0")
	less := strings.Replace(text, "\ndelta 1/50\n", "\ndelta 1/51\n", 1)
	assert.Contains(t, verdict(t, split(less)).Reason, "the table violates (ε,δ)-privacy")
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
				assert.Regexp(t, "no rows of neighbors|more is claimed", r.Reason, "%s at %s", name, other)
			}
		}
	}
	assert.Greater(t, violated, 10)
}

// Rows that are none of the program prove nothing: at the level paper only the worst neighbors are tied, and with L = 2 vectors
// whose changes differ by three steps are not neighbors.
func TestTableRowsMustBelong(t *testing.T) {
	in := map[string]string{"paper": "01", "dp": "04", "monotone": "07", "full": "10"} // n = 3, kL = 4: cells 0 | 1 2 | 3 4 | 5 6 | 7 8 | …
	for _, c := range []struct {
		level, row string
		belongs    bool
	}{
		{"paper", "2 0 1", false}, // one sinks by a single step
		{"dp", "2 0 1", true},
		{"paper", "0 2 1", false},
		{"monotone", "0 2 1", true}, // one that rises has more
		{"monotone", "2 0 1", false},
		{"paper", "6 0 1", false}, // three steps
		{"dp", "6 0 1", false},
		{"full", "6 0 1", false},
	} {
		text := tables(t)["table-"+in[c.level]+".cert"]
		require.Contains(t, text, "\nconstraints "+c.level+"\n")
		head, _, _ := strings.Cut(text, "\nmultiplier ")
		r := verdict(t, split(head+"\nmultiplier "+c.row+" 1/1000\nend"))
		assert.False(t, r.Valid)
		assert.Equal(t, c.belongs, !strings.Contains(r.Reason, "no rows of neighbors"), "%s %s: %s", c.level, c.row, r.Reason)
	}
}

// TestTableLinesAreExplained: what is wrong with a line is said, also where what is left would not be valid for another reason.
func TestTableLinesAreExplained(t *testing.T) {
	uniform, weighted := tables(t)["table-01.cert"], tables(t)["table-03.cert"]
	all := weighted[strings.Index(weighted, "\nweight"):strings.Index(weighted, "\nmultiplier")]
	for _, c := range []struct{ text, old, new, reason string }{
		{uniform, "input 328/793 137/793", "input 11/20 -1/10", "negative"}, // which still sums to 1
		{uniform, "input 328/793 137/793", "input 1/3 1/3", "violates a row"},
		{uniform, "input 328/793 137/793", "input 1 137/793", "sum to"},
		{uniform, "input 328/793 137/793", "input x 137/793", "input: not a number"},
		{uniform, "input 328/793 137/793", "input 328/793", "1 numbers where 2"},
		{uniform, "input 328/793 137/793\n", "", "3 numbers where 2"},
		{weighted, "weight 1 0x1.ep+02", "weight 15 0x1.ep+02", "is more than 14"},
		{weighted, "weight 1 0x1.ep+02", "weight 1 0 0x1.ep+02", "fields"},
		{weighted, "weight 1 0x1.ep+02", "weight 1 0", "not positive"},
		{weighted, "weight 1 0x1.ep+02", "weight 1 -2", "not positive"},
		{weighted, "weight 1 0x1.ep+02", "weight 0 1", "not an input after that"},
		{weighted, all, "", "the weights are all 0"},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 0 1/4 1 9/4", "4 numbers where 5"},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 0 1 1/4 9/4 4", "falling"},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 1/8 1/4 1 9/4 4", "not 0 at first"},
		{weighted, "loss 0 1/4 1 9/4 4", "loss 0 1/4 1 9/4 x", "loss: not a number"},
		{weighted, "step 2", "step 32769", "k·L is more than"},
		{weighted, "step 2", "step 65537", "step"},
		{weighted, "top 1", "top 2", "with constraints dp only"},
		{weighted, "top 1", "top 4", "is more than 3"},
		{uniform, "top 1", "top 0", "less than 1"},
		{weighted, "prior weights", "prior uniform", `"weight 0 1" where`},
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
	r := verdict(t, []string{"optratio-certificate 3", "problem lattice", "n 1", fmt.Sprint("k ", k), "step 1", "top 1", "constraints dp", "loss " + strings.Join(loss, " "), "prior uniform", "exp-epsilon 2", "precision 0", "claim optimum 0 0", "input 1", "end"})
	assert.True(t, r.Valid, r.Reason)
}

// TestPrecisionOfTables: the more digits of z a certificate was written with, the more of its claim is decided, up to the precision that the options allow.
func TestPrecisionOfTables(t *testing.T) {
	text := stored(t, "enclosed", 3)["enclosed-17.cert"]
	lines := split(text)
	at, precision := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "claim optimum ") }), slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "precision ") })
	ends := strings.Fields(lines[at])
	sharpest := func(bits int, o evidence.Options) *big.Rat {
		known, _ := new(big.Rat).SetString(ends[2])
		refuted := new(big.Rat).Add(known, big.NewRat(1, 1e6))
		for range 230 {
			middle := new(big.Rat).Add(known, refuted)
			middle.Quo(middle, big.NewRat(2, 1))
			doctored := slices.Clone(lines)
			doctored[precision] = fmt.Sprint("precision ", bits)
			doctored[at] = fmt.Sprintf("claim optimum %s 1000", middle.RatString())
			r, err := certificate.CheckAt(strings.NewReader(strings.Join(doctored, "\n")+"\n"), o)
			require.NoError(t, err)
			if r.Valid {
				known = middle
			} else {
				refuted = middle
			}
		}
		return known
	}
	coarse, fine, finest := sharpest(0, evidence.Options{}), sharpest(64, evidence.Options{}), sharpest(200, evidence.Options{})
	assert.Negative(t, coarse.Cmp(fine))
	assert.Negative(t, fine.Cmp(finest))
	assert.Zero(t, sharpest(200, evidence.Options{MaxPrecision: 128}).Cmp(fine))
	assert.Zero(t, sharpest(200, evidence.Options{MaxPrecision: 1}).Cmp(fine))
}
