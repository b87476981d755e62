package commandtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"

	"optratio/internal/command"
)

// EachFlag visits all flags of all commands, with the words that a command is called by.
func EachFlag(root *cobra.Command, visit func(words []string, f *pflag.Flag)) {
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		words := strings.Fields(c.CommandPath())[1:]
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { visit(words, f) })
	}
}

// RefuseEmptyValues gives every flag of every command no value: each is refused, before anything else, and not taken for the default.
// Arguments are what a command cannot do without. It returns how many flags it saw.
func RefuseEmptyValues(t *testing.T, root *cobra.Command, run Run, arguments map[string]string) (seen int) {
	EachFlag(root, func(words []string, f *pflag.Flag) {
		if f.Value.Type() != "string" || len(words) > 0 && words[0] == "completion" {
			return
		}
		seen++
		for _, value := range []string{"", " "} {
			args := append(slices.Clone(words), command.FlagName(f), value)
			if len(words) > 0 && arguments[words[0]] != "" {
				args = append(args, arguments[words[0]])
			}
			refused(t, run, args, "-"+f.Name, "empty")
		}
	})
	return seen
}

// RefuseNegativeCounts gives every flag that counts something -1, and returns how many these are.
func RefuseNegativeCounts(t *testing.T, root *cobra.Command, run Run) (seen int) {
	EachFlag(root, func(words []string, f *pflag.Flag) {
		if f.Value.Type() == "int" {
			seen++
			refused(t, run, append(slices.Clone(words), command.FlagName(f), "-1"), "-"+f.Name)
		}
	})
	return seen
}

// RefuseEmptyItems runs command lines with a gap in a list.
func RefuseEmptyItems(t *testing.T, run Run, lines ...[]string) {
	for _, args := range lines {
		refused(t, run, args)
	}
}

// refused wants a usage error, of one line with the given words.
func refused(t *testing.T, run Run, args []string, words ...string) {
	code, out, errs := run.Quietly(args...)
	assert.Equal(t, command.Usage, code, "%q: %s", args, errs)
	assert.Empty(t, out, "%q", args)
	assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	for _, w := range words {
		assert.Contains(t, errs, w, "%q", args)
	}
}
