package command

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/decimal"
)

func written(values []*big.Rat) string {
	var s []string
	for _, v := range values {
		s = append(s, v.RatString())
	}
	return strings.Join(s, " ")
}

func TestRange(t *testing.T) {
	for text, want := range map[string]string{
		"3":              "3",
		"1,3":            "1 3",
		"2:5":            "2 3 4 5",
		"0.1:1.0:0.1":    "1/10 1/5 3/10 2/5 1/2 3/5 7/10 4/5 9/10 1", // ten values: floats would miss one end
		"0.05:0.2:0.05":  "1/20 1/10 3/20 1/5",
		"0.1:0.35:0.1":   "1/10 1/5 3/10", // the end is not met
		"2:4,8, 3 ,1":    "1 2 3 4 8",
		"1:1":            "1",
		"1 : 2 : 0.5":    "1 3/2 2",
		"1:3/2:1/4":      "1 5/4 3/2",
		"0.1,1/10,0.10":  "1/10",
		"1e-3:2e-3:1e-3": "1/1000 1/500",
		"-1:1":           "-1 0 1",
		"99999:1e5:0.5,": "",
	} {
		got, err := Range("-n", text, "", decimal.ParseNumber)
		if want == "" {
			assert.ErrorContains(t, err, "-n ", text)
			continue
		}
		require.NoError(t, err, text)
		assert.Equal(t, want, written(got), text)
	}
	for _, text := range []string{"", ",", "1:", ":1", "1:2:", "1:2:0", "1:2:-1", "2:1", "1:2:1:1", "a", "1:b", "1..2", "0:1e5:1", "0:1:1e-9", "1,,2", "0:99999,0:99999"} {
		_, err := Range("-n", text, "", decimal.ParseNumber)
		assert.ErrorContains(t, err, "-n ", "%q", text)
	}
	many, err := Range("-n", "1:1e5", "", decimal.ParseNumber)
	require.NoError(t, err)
	assert.Len(t, many, mostValues)
}

// FuzzRange compares with adding up the step, one value after the other.
func FuzzRange(f *testing.F) {
	for _, text := range []string{"0.1:1.0:0.1", "2:5,1", "1/3:2:1/3", "1:2:0", "::", "1e3:1e-3", ",", "5:5:7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 200 {
			return
		}
		parse := func(s string) (*big.Rat, error) {
			if strings.ContainsAny(s, "eE") { // long numbers are not what this is about
				return nil, errors.New("exponent")
			}
			return decimal.ParseNumber(s)
		}
		got, err := Range("-n", text, "", parse)
		if err != nil {
			assert.ErrorContains(t, err, "-n ")
			return
		}
		if len(got) > 2000 {
			return
		}
		want := map[string]bool{}
		for item := range strings.SplitSeq(text, ",") {
			ends := strings.Split(item, ":")
			at, err := parse(strings.TrimSpace(ends[0]))
			require.NoError(t, err)
			to, step := at, big.NewRat(1, 1)
			if len(ends) > 1 {
				to, err = parse(strings.TrimSpace(ends[1]))
				require.NoError(t, err)
			}
			if len(ends) > 2 {
				step, err = parse(strings.TrimSpace(ends[2]))
				require.NoError(t, err)
			}
			for ; at.Cmp(to) <= 0; at = new(big.Rat).Add(at, step) {
				want[at.RatString()] = true
			}
		}
		require.Len(t, got, len(want))
		for i, v := range got {
			assert.True(t, want[v.RatString()], v)
			assert.True(t, i == 0 || got[i-1].Cmp(v) < 0, "in order")
		}
	})
}

func TestDecimalText(t *testing.T) {
	for text, want := range map[string]string{
		"1.0": "1", "0.10": "0.1", "0.05": "0.05", "100": "100", "1e-9": "1e-9", "0": "0",
		"0.1234567890123456789012345678901": "0.1234567890123456789012345678901",
	} {
		x, err := decimal.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, decimal.Text(x))
	}
}
