package cli

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// usageText is what a command takes: of the root its commands, of all others examples and flags in groups.
//
//go:embed usage.txt
var usageText string

// help writes what --help prints: a sentence, what the command takes, and the details. Whoever gave the stream says what is wrong with it.
func help(c *cobra.Command, _ []string) {
	fmt.Fprintf(c.OutOrStdout(), "%s.\n\n%s", c.Short, c.UsageString())
	if c.Long != "" {
		fmt.Fprintf(c.OutOrStdout(), "\n%s\n", c.Long)
	}
}

func init() {
	cobra.EnableCommandSorting = false // help lists commands as newRoot does
	cobra.AddTemplateFunc("sections", sections)
	cobra.AddTemplateFunc("line", func(c *cobra.Command) string {
		c.DisableFlagsInUseLine = true
		return c.UseLine()
	})
}

// sections are the lists of a command, of commands and of flags, with their titles.
func sections(c *cobra.Command) (all []map[string]string) {
	add := func(title, text string) {
		if text != "" {
			all = append(all, map[string]string{"title": title, "text": strings.TrimSuffix(text, "\n")})
		}
	}
	list := func(group string) (text string) {
		for _, below := range c.Commands() {
			if !below.Hidden && (group == "" || below.GroupID == group) {
				text += fmt.Sprintf("  %-14s %s\n", below.Name(), below.Short)
			}
		}
		return text
	}
	if !c.HasParent() {
		add(first, list(first))
		add(others, list(others))
		return all
	}
	add("Commands", list(""))
	for i, group := range flagGroups {
		listed := pflag.NewFlagSet("", pflag.ContinueOnError)
		listed.SortFlags = false
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if at := slices.IndexFunc(flagGroups, func(g flagGroup) bool { return slices.Contains(g.flags, f.Name) }); i == max(0, at) {
				listed.AddFlag(f)
			}
		})
		add(group.title, listed.FlagUsagesWrapped(120))
	}
	return all
}
