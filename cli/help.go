package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groups are the commands by what they are for, in the order of the help.
var groups = []struct{ title, commands string }{
	{"Answer", "ratio threshold sweep merge pmf mechanisms evaluate"},
	{"Your mechanism", "verify audit calibrate recommend"},
	{"Other problems", "optimum heterogeneous topk stopping"},
	{"Look", "report serve"},
	{"Trust", "check cert-export"},
}

// group puts the commands below the root into their groups; what is in none is about the program itself.
func group(root *cobra.Command) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
	}
	for _, c := range root.Commands() {
		for _, g := range groups {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.title
			}
		}
	}
}

// overview is what the help of the root says before the commands.
const overview = `Decide exactly how good a differentially private selection mechanism is. Without a command it rates mechanisms, as
the command ratio does.`

// ratioSections are the flags of ratio by what they are about; those of no section come last.
var ratioSections = []struct{ title, flags string }{
	{"The question", "n k eps exp-eps mechanism"},
	{"What is averaged, over which scores", "objective step loss prior monotonic-scores sensitivity"},
	{"Compared with which mechanisms", "constraints delta rho domain"},
	{"A mechanism of your own", "pmf-exec pmf-file pmf-precision assume-symmetric clean-env timeout"},
	{"How it is found", "method solver gap exact"},
	{"What is written", "json digits cert output from"},
	{"Limits", "time-limit max-memory"},
}

// usage writes how a command is called: of the root the commands in groups, of ratio the flags in sections, of all others what cobra writes.
func usage(c *cobra.Command) error {
	w := c.OutOrStderr()
	switch {
	case !c.HasParent():
		rootUsage(w, c)
		return nil
	case c.Annotations["flags"] == "ratio":
		flagUsage(w, c)
		return nil
	}
	return (&cobra.Command{}).UsageFunc()(c)
}

func rootUsage(w io.Writer, c *cobra.Command) {
	fmt.Fprintf(w, "Usage:\n  %s [ratio] -n N -k K (--eps E | --exp-eps A/B) [flags]\n  %s COMMAND [flags]\n", c.Name(), c.Name())
	width := 0
	for _, below := range c.Commands() {
		width = max(width, len(below.Name()))
	}
	for _, g := range append(c.Groups(), &cobra.Group{Title: "The program itself"}) {
		fmt.Fprintf(w, "\n%s:\n", g.Title)
		for _, name := range inOrder(c, g.ID) {
			below, _, _ := c.Find([]string{name})
			fmt.Fprintf(w, "  %-*s  %s\n", width, name, below.Short)
		}
	}
	fmt.Fprintf(w, "\nExamples:\n%s\n\n%s COMMAND --help tells what a command takes; %s ratio --help has the flags of the main job.\n", c.Example, c.Name(), c.Name())
}

// inOrder returns the names of the commands of a group: as groups has them, the others by name.
func inOrder(c *cobra.Command, id string) (names []string) {
	for _, below := range c.Commands() {
		if below.GroupID == id && (below.IsAvailableCommand() || below.Name() == "help") {
			names = append(names, below.Name())
		}
	}
	at := func(name string) int {
		for _, g := range groups {
			if g.title == id {
				return slices.Index(strings.Fields(g.commands), name)
			}
		}
		return 0
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(at(a), at(b)) })
	return names
}

func flagUsage(w io.Writer, c *cobra.Command) {
	fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	rest.AddFlagSet(c.LocalFlags())
	rest.SortFlags = true
	seen := map[string]bool{}
	write := func(title string, fs *pflag.FlagSet) {
		if text := fs.FlagUsagesWrapped(120); text != "" {
			fmt.Fprintf(w, "\n%s:\n%s", title, text)
		}
	}
	for _, s := range ratioSections {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.SortFlags = false
		for name := range strings.FieldsSeq(s.flags) {
			if f := rest.Lookup(name); f != nil {
				fs.AddFlag(f)
				seen[name] = true
			}
		}
		write(s.title, fs)
	}
	others := pflag.NewFlagSet("", pflag.ContinueOnError)
	rest.VisitAll(func(f *pflag.Flag) {
		if !seen[f.Name] {
			others.AddFlag(f)
		}
	})
	write("Others", others)
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w, "\nCommands:")
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-10s %s\n", below.Name(), below.Short)
			}
		}
	}
}
