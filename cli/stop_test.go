package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// long is a job that takes minutes.
var long = []string{"ratio", "-n", "9", "-k", "9", "--eps", "0.3", "--mechanism", "pf", "--solver", "embedded", "--json"}

// Ctrl-C and time limits end long work with the best certified answer so far.
func TestStoppedWorkAnswersWithWhatIsCertified(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
		stop time.Duration
	}{
		{"interrupt", long, exitInterrupted, 300 * time.Millisecond},
		{"time limit", append([]string{"ratio", "--time-limit", "300ms"}, long[1:]...), exitUndecided, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(c.stop, func() { cancel(errInterrupted) })
			defer timer.Stop()
			var out, errs bytes.Buffer
			code := run(ctx, c.args, streams{strings.NewReader(""), &out, &errs})
			assert.Equal(t, c.code, code, errs.String())
			assert.Equal(t, 1, strings.Count(errs.String(), "\n"), errs.String())
			var doc ratioDoc
			require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
			require.Len(t, doc.Mechanisms, 1)
			low, ok := doc.Mechanisms[0].Ratio.Lower()
			require.True(t, ok)
			high, ok := doc.Mechanisms[0].Ratio.Upper()
			require.True(t, ok)
			one, _ := low.Float64()
			above, _ := high.Float64()
			assert.GreaterOrEqual(t, one, 1.0)
			assert.Greater(t, above, 1.0001, "stopped early, the enclosure is wide")
			assert.Less(t, above, 3.0)
		})
	}
}

// A job that has ended before it starts answers too.
func TestCancelledBeforehand(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errInterrupted)
	var out, errs bytes.Buffer
	code := run(ctx, []string{"-n", "4", "-k", "4", "--eps", "0.5", "--json"}, streams{strings.NewReader(""), &out, &errs})
	assert.Equal(t, exitInterrupted, code)
	assert.True(t, json.Valid(out.Bytes()))
}
