package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func init() { cobra.EnableCommandSorting = false } // help lists commands as newRoot does

// The groups of commands.
const (
	first  = "Commands"
	others = "Other commands"
)

// flagGroup is a heading of a command's flags.
type flagGroup struct {
	title string
	flags []string
}

// flagGroups are the flags of all commands by what they are about; what no group names is about the question.
var flagGroups = []flagGroup{
	{"The question", nil},
	{"How it is answered", strings.Fields("method solver gap exact seed confidence until budget children assume-symmetric pmf-precision slack shard resume")},
	{"Output", strings.Fields("json digits html cert optimal export output format junit vipr rule help")},
	{"Limits", strings.Fields("time-limit max-memory timeout jobs")},
}

// inOrder makes help list the flags of a command, and of those below it, as they were added.
func inOrder(c *cobra.Command) {
	c.Flags().SortFlags = false
	for _, below := range c.Commands() {
		inOrder(below)
	}
}

// help writes what --help prints: of the root its commands, of all others a sentence, examples, flags in groups, and then the details.
func help(w io.Writer, c *cobra.Command) {
	fmt.Fprintf(w, "%s.\n\n%s", c.Short, c.UsageString())
	if c.Long != "" {
		fmt.Fprintf(w, "\n%s\n", c.Long)
	}
}

// usage writes what a command takes.
func usage(c *cobra.Command) error {
	w := c.OutOrStderr()
	if !c.HasParent() {
		rootUsage(w, c)
		return nil
	}
	c.DisableFlagsInUseLine = true
	fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		listCommands(w, "Commands", c.Commands())
	}
	for i, group := range flagGroups {
		listed := pflag.NewFlagSet("", pflag.ContinueOnError)
		listed.SortFlags = false
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			at := max(0, slices.IndexFunc(flagGroups, func(g flagGroup) bool { return slices.Contains(g.flags, f.Name) }))
			if at == i {
				listed.AddFlag(f)
			}
		})
		if listed.HasAvailableFlags() {
			fmt.Fprintf(w, "\n%s:\n%s", group.title, listed.FlagUsagesWrapped(120))
		}
	}
	return nil
}

// rootUsage writes what the program takes.
func rootUsage(w io.Writer, root *cobra.Command) {
	fmt.Fprintf(w, "Usage:\n  %s COMMAND [flags]\n  %s -n N -k K --eps E [flags], which is %s ratio\n\nExamples:\n%s\n", root.Name(), root.Name(), root.Name(), root.Example)
	for _, group := range root.Groups() {
		listCommands(w, group.Title, slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool { return c.GroupID != group.ID }))
	}
	fmt.Fprintf(w, "\n%s COMMAND --help tells what a command takes.\n", root.Name())
}

func listCommands(w io.Writer, title string, commands []*cobra.Command) {
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, c := range commands {
		if !c.Hidden {
			fmt.Fprintf(w, "  %-14s %s\n", c.Name(), c.Short)
		}
	}
}
