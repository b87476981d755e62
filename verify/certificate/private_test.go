package certificate_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// privateText is about three inputs: at e^ε = 2 the pair 0, 1 is tight without δ, and 1, 2 needs nearly all of it: 1/3 - √2/6.
const privateText = `optratio-certificate 3
problem private
exp-epsilon 2
delta 1/10
inputs 3
outputs 2
input "a"
pmf 2/3 1/3
input [1, 2]
pmf 1/3 2/3
input null
pmf 1/6,0.2 0.8,5/6
pair 0 1 1
arrow 0 2 2
pair 1 2 1/2
end 15
`

func TestPrivate(t *testing.T) {
	rep := check(t, privateText)
	require.True(t, rep.Valid, rep.Reason)
	for change, reason := range map[string]string{
		"delta 1/10|delta -1/10":                      "delta is less than 0",
		"delta 1/10|delta 0":                          "",
		"exp-epsilon 2|exp-epsilon 3/2":               "",
		"exp-epsilon 2|epsilon 1/2":                   "",
		"pair 1 2 1/2|pair 1 2 0":                     "inputs 2 and 1", // 5/6 - 2/3 > 1/10
		"pmf 2/3 1/3|pmf 7/10 3/10":                   "valid",          // 2/3 - 2·3/10 < 1/10
		"pmf 2/3 1/3|pmf 4/5 1/5":                     "inputs 1 and 0",
		"pmf 1/3 2/3|pmf 1/3 1/3":                     "do not sum to 1",
		"pmf 1/3 2/3|pmf 1/3":                         "1 fields where 2 were expected",
		"pmf 1/3 2/3|pmf -1/3 4/3":                    "no probability",
		"pmf 1/6,0.2 0.8,5/6|pmf 0.2,1/6 0.8":         "no probability",
		"arrow 0 2 2|arrow 0 3 2":                     "more than 2",
		"arrow 0 2 2|arrow 0 1 2":                     "not after",
		"pair 1 2 1/2|pair 1 1 1/2":                   "with itself",
		"arrow 0 2 2\npair 1 2 1/2|pair 1 0 1\nend 1": "neighbors already",
	} {
		from, to, _ := strings.Cut(change, "|")
		require.Contains(t, privateText, from)
		rep := check(t, strings.Replace(privateText, from, to, 1))
		if reason == "valid" {
			assert.True(t, rep.Valid, "%s: %s", change, rep.Reason)
			continue
		}
		assert.False(t, rep.Valid, change)
		assert.Contains(t, rep.Reason, reason, change)
	}
}

// What is accepted of a table holds for every set of outcomes and every choice of ends, and what is refused fails for one.
func TestPrivateBySets(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 2))
	accepted := 0
	for range 400 {
		e, delta := big.NewRat(int64(4+rng.IntN(8)), 4), big.NewRat(int64(rng.IntN(4)), 10)
		outputs := 2 + rng.IntN(2)
		rows := [2][][2]*big.Rat{}
		var lines [2]string
		for i := range rows {
			parts, sum := make([]int64, outputs), int64(0)
			for k := range parts {
				parts[k] = int64(rng.IntN(6))
				sum += parts[k]
			}
			if sum == 0 {
				parts[0], sum = 1, 1
			}
			for k, p := range parts {
				lo, hi := big.NewRat(p, sum), big.NewRat(p, sum)
				text := lo.RatString()
				if k == 0 && rng.IntN(2) == 0 {
					hi.Add(hi, big.NewRat(1, 20))
					text += "," + hi.RatString()
				}
				rows[i] = append(rows[i], [2]*big.Rat{lo, hi})
				lines[i] += " " + text
			}
		}
		text := fmt.Sprintf("optratio-certificate 3\nproblem private\nexp-epsilon %s\ndelta %s\ninputs 2\noutputs %d\ninput 0\npmf%s\ninput 1\npmf%s\npair 0 1 1\nend 11\n",
			e.RatString(), delta.RatString(), outputs, lines[0], lines[1])
		holds := true
		for set := range 1 << outputs {
			for i := range rows {
				p, q := new(big.Rat), new(big.Rat)
				for k := range outputs {
					if set>>k&1 == 1 {
						p.Add(p, rows[i][k][1])
						q.Add(q, rows[1-i][k][0])
					}
				}
				holds = holds && p.Cmp(q.Add(q.Mul(q, e), delta)) <= 0
			}
		}
		rep := check(t, text)
		require.Equal(t, holds, rep.Valid, "%s\n%s", text, rep.Reason)
		if holds {
			accepted++
		}
	}
	assert.Greater(t, accepted, 40)
}
