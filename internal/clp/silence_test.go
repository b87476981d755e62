//go:build clp && cgo && linux

package clp

import (
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
)

// CLP must not print: standard output belongs to the caller.
func TestSilence(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	saved, err := syscall.Dup(1)
	require.NoError(t, err)
	require.NoError(t, syscall.Dup3(int(writer.Fd()), 1, 0))
	m, start := latticeLP(5, 5, z)
	for _, o := range []linear.Options{{}, {Basis: start}, {MaxPivots: 3}, {}} {
		mustSolve(t, m, o)
	}
	for range 200 { // more than C buffers, less than a pipe holds
		mustSolve(t, dense([]float64{0}, [][2]float64{{0, 4}}, [][2]float64{{5, inf}}, [][]float64{{1}}), linear.Options{})
	}
	mustSolve(t, dense(nil, nil, nil, nil), linear.Options{})
	require.NoError(t, syscall.Dup3(saved, 1, 0))
	writer.Close()
	printed, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.Empty(t, string(printed))
}
