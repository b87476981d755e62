package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"optratio/internal/command"
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
			// The tree is made anew without streams, so that nothing of this call shows.
			root := newRoot(command.Streams{})
			if err := writeManual(root, args[0]); err != nil {
				return command.Usagef("folder %s: %w; give one that can be written", command.Quoted(args[0]), command.WithoutPath(err))
			}
			return nil
		},
	}
}

// writeManual writes the pages of a command and of those below it.
func writeManual(c *cobra.Command, folder string) error {
	c.InitDefaultHelpFlag()
	name := pageName(c)
	if err := os.WriteFile(filepath.Join(folder, name+".1"), []byte(manualPage(c)), 0o644); err != nil {
		return err
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			if err := writeManual(below, folder); err != nil {
				return err
			}
		}
	}
	return nil
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// roff takes the meaning of text for the formatter away: of backslashes, hyphens that are minus signs, and requests, which begin a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}

// manualPage writes a command's page for man(7). Its date is fixed: the same command makes the same bytes.
func manualPage(c *cobra.Command) string {
	var b strings.Builder
	section := func(name, text string) { fmt.Fprintf(&b, ".SH %s\n%s\n", name, strings.TrimRight(text, "\n")) }
	fmt.Fprintf(&b, ".TH %q 1 \"Jan 2026\" %q \"optratio manual\"\n", strings.ToUpper(pageName(c)), "optratio "+Version)
	section("NAME", roff(pageName(c)+" - "+c.Short))
	section("SYNOPSIS", ".B "+roff(c.UseLine()))
	section("DESCRIPTION", strings.ReplaceAll(roff(cmp.Or(c.Long, c.Short)), "\n\n", "\n.PP\n"))
	var options strings.Builder
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		kind, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&options, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(short+"--"+f.Name+" "+kind)), roff(usage))
		if zero := f.DefValue == "" || f.DefValue == "false" || f.DefValue == "0"; !zero {
			fmt.Fprintf(&options, "(default %s)\n", roff(f.DefValue))
		}
	})
	section("OPTIONS", options.String())
	if c.Example != "" {
		section("EXAMPLE", ".nf\n"+roff(c.Example)+"\n.fi")
	}
	var others []string
	if c.HasParent() {
		others = append(others, ".BR "+roff(pageName(c.Parent()))+" (1)")
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			others = append(others, ".BR "+roff(pageName(below))+" (1)")
		}
	}
	section("SEE ALSO", strings.Join(others, ",\n"))
	return b.String()
}

// addCompletion tells the shells which values the flags and arguments of a command and of those below it take, where they are names.
func addCompletion(c *cobra.Command) {
	for _, name := range []string{"mechanism", "against", "property", "solver", "constraints"} {
		if c.Flags().Lookup(name) != nil {
			// The error says that there is a function already, or no such flag: neither is so.
			_ = c.RegisterFlagCompletionFunc(name, completeList(command.Choices(name)))
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
