package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/job"
)

// addCompletion tells the shells which values the flags and arguments of a command and of those below it take, where they are names.
func addCompletion(c *cobra.Command) {
	for _, name := range []string{"mechanism", "against", "property", "solver", "constraints"} {
		if c.Flags().Lookup(name) != nil {
			// The error says that there is a function already, or no such flag: neither is so.
			_ = c.RegisterFlagCompletionFunc(name, completeList(job.Choices(name)))
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
