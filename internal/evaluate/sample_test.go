package evaluate

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/sbinet/npyio/npy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/spiky.csv and testdata/spiky.npy anew")

// spiky is the sample histogram, 1024 bins like those of attributes that people report: a broad hill, whole regions without items, a spike at every round
// number, and a tail of counts as heavy as 1/x. It computes with integers alone, so that it is the same on every machine.
func spiky() []int64 {
	rng := rand.New(rand.NewPCG(9, 1024))
	counts := make([]int64, 1024)
	for i := range counts {
		height := int64(max(0, 60-abs(i-300)/6)) // the hill
		if i%10 == 0 {
			height = 4*height + 10 // round numbers
		}
		if i > 700 && i/64%2 == 0 {
			height = 0
		}
		if height > 0 {
			counts[i] = rng.Int64N(2*height) + height/4
		}
		if i < 900 && rng.IntN(5) == 0 {
			counts[i] += min(5000, 1<<16/(1+rng.Int64N(1<<16))) // Pr[more than x] is about 1/x
		}
	}
	return counts
}

func abs(i int) int { return max(i, -i) }

const samples = "../../testdata/spiky"

// The files that the documentation and the transcripts use are the generator's.
func TestSampleIsGenerated(t *testing.T) {
	counts := spiky()
	var lines, array bytes.Buffer
	for _, x := range counts {
		fmt.Fprintln(&lines, x)
	}
	require.NoError(t, npy.Write(&array, counts))
	for name, want := range map[string][]byte{samples + ".csv": lines.Bytes(), samples + ".npy": array.Bytes()} {
		if *update {
			require.NoError(t, os.WriteFile(name, want, 0o644))
		}
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, want, got, "%s: go test ./internal/evaluate -run Sample -update", name)
	}
	data, err := os.ReadFile(samples + ".npy")
	require.NoError(t, err)
	got, err := ReadNPY(data)
	require.NoError(t, err)
	assert.Equal(t, counts, got)
}
