package lp

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/big"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ../testdata/thresholds.csv brackets the thresholds for n, k <= 8 by fractions e^ε, to a relative gap of 1e-6 in ε.
func TestThresholdTable(t *testing.T) {
	rows := [][]string{{"n", "k", "objective", "lower_exp_eps", "upper_exp_eps", "lower_eps", "upper_eps"}}
	objectives := map[bool]string{false: "paper", true: "box"}
	for n := 1; n <= 8; n++ {
		for k := 1; k <= 8; k++ {
			for _, o := range []Prior{{}, Box()} {
				a, err := Threshold(context.Background(), Request{N: n, K: k, Prior: o, Gap: big.NewRat(1, 1000000)}, nil)
				require.NoError(t, err)
				rows = append(rows, []string{fmt.Sprint(n), fmt.Sprint(k), objectives[o.box()], a.Exp[0].RatString(), a.Exp[1].RatString(),
					fmt.Sprintf("%.7f", a.Ends[0].Float64()), fmt.Sprintf("%.7f", a.Ends[1].Float64())})
			}
		}
	}
	const file = "../testdata/thresholds.csv"
	if *update {
		f, err := os.Create(file)
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, csv.NewWriter(f).WriteAll(rows))
		return
	}
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	want, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, want, rows)
}
