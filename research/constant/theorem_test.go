package constant_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/research/check"
	"optratio/research/constant"
	"optratio/verify/certificate"
)

// Theorem 10 of research/docs/points.md at the first cell of each of its bounds; with the tag slow at the last one too, which takes minutes.
func TestEndsOfTheBounds(t *testing.T) {
	page, err := os.ReadFile("../docs/points.md")
	require.NoError(t, err)
	claims := regexp.MustCompile(`at most\s(1\.\d+)\stimes\s(?:that\s)?for\severy\sε\s>=\s(0\.\d+)`).FindAllStringSubmatch(string(page), -1)
	require.Len(t, claims, 3)
	for _, c := range claims {
		bound, ok := new(big.Rat).SetString(c[1])
		require.True(t, ok)
		eps, err := strconv.ParseFloat(c[2], 64)
		require.NoError(t, err)
		ends := []int{constant.Grid/2 + 1}
		if slowtest.Enabled {
			ends = append(ends, int(math.Ceil(constant.Grid*math.Exp(-eps))))
		}
		for _, last := range ends {
			p := &constant.Plan{Bound: bound, From: 10, First: last - 1, Last: last, Jobs: 1, Report: func(int, int) {}, Check: accepted}
			cover, err := p.Prove(context.Background())
			require.NoError(t, err, "%s, ε = %s", c[1], c[2])
			assert.Len(t, cover.Cells, 1)
		}
	}
}

func accepted(ctx context.Context, text []byte) error {
	r, err := check.Check(bytes.NewReader(text), certificate.Options{Context: ctx, MaxSteps: 1 << 34})
	if err == nil && !r.Valid {
		err = errors.New(r.Reason)
	}
	return err
}
