package cli

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"optratio/internal/command"
	"optratio/mechanisms"
)

// newManual is the command that writes the manual pages, which `make install` and `make dist` call.
func newManual(s command.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "manual FOLDER",
		Short:   "Write the manual pages, one for every command",
		Long:    "Write the manual pages optratio.1, optratio-ratio.1, … into a folder, which is made where it does not exist.",
		Example: "  optratio manual /usr/local/share/man/man1",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return command.Usagef("manual takes one folder, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return command.Usagef("folder %s: %w; give one that can be written", command.Quoted(args[0]), command.WithoutPath(err))
			}
			// The tree is made anew without streams, so that nothing of this call shows. A fixed date makes the same bytes whenever it is called.
			date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			root := newRoot(command.Streams{})
			root.DisableAutoGenTag = true
			header := doc.GenManHeader{Title: "OPTRATIO", Section: "1", Date: &date, Source: "optratio " + Version, Manual: "optratio manual"}
			if err := doc.GenManTree(root, &header, args[0]); err != nil {
				return command.Usagef("folder %s: %w; give one that can be written", command.Quoted(args[0]), command.WithoutPath(err))
			}
			return nil
		},
	}
}

// addCompletion tells the shells which values the flags and arguments of a command and of those below it take, where they are names.
func addCompletion(c *cobra.Command) {
	lists := map[string][]string{
		"mechanism": mechanisms.Names(), "against": mechanisms.Names(),
		"solver": {"auto", "clp", "embedded"}, "constraints": {"paper", "dp", "monotone", "full"},
	}
	for name, values := range lists {
		if c.Flags().Lookup(name) != nil {
			// The error says that there is a function already, or no such flag: neither is so.
			_ = c.RegisterFlagCompletionFunc(name, completeList(values))
		}
	}
	for _, below := range c.Commands() {
		addCompletion(below)
	}
}

// completeList completes the last name of a comma-separated list.
func completeList(values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var found []string
		for _, v := range values {
			if strings.HasPrefix(before+v, typed) {
				found = append(found, before+v)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
