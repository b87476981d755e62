package command_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
)

// The test binary is a command that looks at no limit where a variable says so.
func TestMain(m *testing.M) {
	if os.Getenv(commandtest.AsCommand) != "" {
		command.Main(func(command.Streams) *cobra.Command {
			return &cobra.Command{Use: "hang", RunE: func(*cobra.Command, []string) error { select {} }}
		})
	}
	os.Exit(m.Run())
}

// A command that does not end by itself after a signal is ended, and says so in one line.
func TestHangingCommandIsEnded(t *testing.T) {
	e := commandtest.Spawn(t, nil, syscall.SIGTERM, syscall.SIGTERM)
	assert.Equal(t, command.Interrupted, e.Code)
	assert.Equal(t, "hang: interrupted: no answer came in time\n", e.Err)
	assert.Less(t, e.Took, 2500*time.Millisecond, "2 s and what a loaded machine adds")
}
