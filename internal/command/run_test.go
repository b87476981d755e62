package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/command/commandtest"
	"optratio/internal/job"
)

// The test binary is a command that looks at no limit where a variable says so.
func TestMain(m *testing.M) {
	if commandtest.IsCommand() {
		command.Main(func(command.Streams) *cobra.Command {
			return &cobra.Command{Use: "hang", RunE: func(*cobra.Command, []string) error { select {} }}
		})
	}
	os.Exit(m.Run())
}

// A command that does not end by itself after a signal is ended, and says so in one line.
func TestHangingCommandIsEnded(t *testing.T) {
	took := time.Hour
	for try := 0; try < 5 && took > 2500*time.Millisecond; try++ { // again where a busy machine adds more to the 2 s
		e := commandtest.Spawn(t, nil, syscall.SIGTERM, syscall.SIGTERM)
		assert.Equal(t, command.Interrupted, e.Code)
		assert.Equal(t, "hang: interrupted: no answer came in time\n", e.Err)
		assert.Greater(t, e.Took, job.Grace)
		took = min(took, e.Took)
	}
	assert.Less(t, took, 2500*time.Millisecond)
}

// labelled is a document with a label.
type labelled struct {
	Label string `json:"label"`
}

func (labelled) Schema() string { return "test.labelled/1" }

// Whatever is written, no byte reaches a terminal that it may take for a command, and JSON is what it was.
func TestControlBytesAreEscaped(t *testing.T) {
	nasty := "a\x1b[31m\x07\r\x00\x7f\u009b2Jé\xe9\xff\tε"
	for name, write := range map[string]func(command.Streams) error{
		"error": func(command.Streams) error { return command.Usagef("%s: no such file", nasty) },
		"text":  func(s command.Streams) error { _, err := fmt.Fprintln(s.Out, nasty); return err },
		"usage": nil,
		"json": func(s command.Streams) error {
			(&command.Job{Streams: s, JSON: true}).Show(labelled{nasty}, nil)
			return nil
		},
	} {
		args := []string{}
		if write == nil {
			args = []string{"--" + nasty}
		}
		var out, errs bytes.Buffer
		command.Run(t.Context(), func(s command.Streams) *cobra.Command {
			return &cobra.Command{Use: "echo", RunE: func(*cobra.Command, []string) error { return write(s) }}
		}, args, nil, &out, &errs)
		text := out.String() + errs.String()
		assert.True(t, utf8.ValidString(text), "%s: %q", name, text)
		assert.NotRegexp(t, `[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}]`, text, name)
		assert.Contains(t, text, "a\\", name)
		assert.Contains(t, text, "ε", name)
		if name == "json" {
			var doc map[string]string
			require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
			assert.Equal(t, strings.ToValidUTF8(nasty, "\uFFFD")[:12], doc["label"][:12])
			assert.Contains(t, doc["label"], "\u009b")
		} else {
			assert.Contains(t, text, `\x1b[31m`, name)
			assert.Contains(t, text, `\u009b`, name)
			assert.Contains(t, text, `\xe9`, name)
		}
	}
}
