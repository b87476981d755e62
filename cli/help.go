package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func init() { cobra.EnableCommandSorting = false } // help lists commands as newRoot does

// overview is what the help of the root says before the commands.
const overview = `Decide exactly how good a differentially private selection mechanism is. Without a command it rates mechanisms, as
the command ratio does.`

// usage is how help says what a command takes: of the root the commands and no flags, of all others the flags.
const usage = `Usage:
  {{if .HasParent}}{{.UseLine}}
{{if .HasAvailableSubCommands}}  {{.CommandPath}} COMMAND
{{end}}{{else}}{{.Name}} [ratio] -n N -k K (--eps E | --exp-eps A/B) [flags]
  {{.Name}} COMMAND [flags]
{{range $group := .Groups}}
{{.Title}}:
{{range $.Commands}}{{if and (eq .GroupID $group.ID) (not .Hidden)}}  {{rpad .Name 13}}  {{.Short}}
{{end}}{{end}}{{end}}{{end}}{{if .HasExample}}
Examples:
{{.Example}}
{{end}}{{if not .HasParent}}
{{.Name}} COMMAND --help tells what a command takes; {{.Name}} ratio --help has the flags of the main job.
{{else}}{{if .HasAvailableSubCommands}}
Commands:
{{range .Commands}}{{if not .Hidden}}  {{rpad .Name .NamePadding}} {{.Short}}
{{end}}{{end}}{{end}}
Flags:
{{.LocalFlags.FlagUsages}}{{end}}`

// ratioSections are the flags of ratio by what they are about.
var ratioSections = []struct{ title, flags string }{
	{"The question", "n k eps exp-eps mechanism"},
	{"What is averaged, over which scores", "objective step loss prior monotonic-scores sensitivity"},
	{"Compared with which mechanisms", "constraints delta rho domain"},
	{"A mechanism of your own", "pmf-exec pmf-file pmf-precision assume-symmetric clean-env timeout"},
	{"How it is found", "method solver gap exact"},
	{"What is written", "json digits cert html"},
	{"Limits", "time-limit max-memory"},
	{"Others", "help"},
}

// ratioUsage is usage for the flags of ratio, in sections.
func ratioUsage(c *cobra.Command) error {
	w := c.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	for _, s := range ratioSections {
		section := pflag.NewFlagSet("", pflag.ContinueOnError)
		section.SortFlags = false
		for name := range strings.FieldsSeq(s.flags) {
			if f := c.LocalFlags().Lookup(name); f != nil {
				section.AddFlag(f)
			}
		}
		fmt.Fprintf(w, "\n%s:\n%s", s.title, section.FlagUsagesWrapped(120))
	}
	return nil
}
