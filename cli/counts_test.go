package cli

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

func TestCounts(t *testing.T) {
	count, flags := 0, pflag.NewFlagSet("", pflag.ContinueOnError)
	command.CountVar(flags, &count, "count", "", 1, "")
	for text, want := range map[string]int{"12": 12, "10k": 10_000, "3M": 3_000_000, "1e6": 1_000_000, "1.5k": 1500, "0": 0} {
		require.NoError(t, flags.Set("count", text), text)
		assert.Equal(t, want, count, text)
	}
	for _, text := range []string{"", "k", "1.5", "0.0001k", "1e30", "3 M", "3m", "-3", "-1k", "10kk", "99999999999999999999"} {
		assert.Error(t, flags.Set("count", text), text)
	}
}
