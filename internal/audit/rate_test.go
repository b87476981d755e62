//go:build unix

package audit

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// built compiles the example sampler that draws from permute-and-flip.
func built(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "flip")
	out, err := exec.Command("go", "build", "-o", program, "optratio/examples/audit/flip").CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// processorTime is what this process and the children that it waited for have used, in seconds.
func processorTime() (own, children float64) {
	seconds := func(who int) float64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u)
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	return seconds(syscall.RUSAGE_SELF), seconds(syscall.RUSAGE_CHILDREN)
}

// BenchmarkSamples is a whole audit of a program, of which it reports samples a second of wall time, and the processor time of both sides.
func BenchmarkSamples(b *testing.B) {
	program := built(b)
	o := samplerOptions(b, "1", 3_000_000)
	o.N, o.program.Timeout = 10, 10*time.Second
	ownBefore, childBefore := processorTime()
	var questions int64
	for b.Loop() {
		r, err := samplesOf(context.Background(), program, o)
		require.NoError(b, err)
		require.InDelta(b, o.Budget, r.Samples, 10) // the last batch is a multiple of a ratio
		questions += r.Questions
	}
	own, child := processorTime()
	samples := float64(b.N) * float64(o.Budget)
	b.ReportMetric(samples/b.Elapsed().Seconds(), "samples/s")
	b.ReportMetric(samples/(own-ownBefore+child-childBefore), "samples/cpu-s")
	b.ReportMetric((own-ownBefore)/float64(b.N), "own-s")
	b.ReportMetric((child-childBefore)/float64(b.N), "child-s")
	b.ReportMetric(float64(questions)/float64(b.N), "questions")
}
