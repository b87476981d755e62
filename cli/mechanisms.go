package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/decimal"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/mechanisms"
)

func newMechanisms(s command.Streams) *cobra.Command {
	j := command.Job{Streams: s}
	c := described("mechanisms")
	c.Long += " NAME is one of\n" + strings.Join(job.FewerNames(), ", ") + "."
	c.Args, c.ValidArgs = cobra.ArbitraryArgs, mechanisms.Names()
	c.RunE = func(_ *cobra.Command, args []string) error {
		names := args
		if len(args) == 0 {
			names = mechanisms.Names()
		}
		found, err := job.FindMechanisms(strings.Join(names, ","), mechanisms.Lookup)
		if err != nil {
			return err
		}
		var docs []document.Mechanism
		for _, m := range found {
			docs = append(docs, document.Describe(m))
		}
		command.ShowAll(&j, docs, func(w io.Writer) {
			if len(args) == 0 {
				listMechanisms(w, docs)
				return
			}
			for i, d := range docs {
				if i > 0 {
					fmt.Fprintln(w)
				}
				printMechanism(w, &d)
			}
		})
		return nil
	}
	c.Flags().BoolVar(&j.JSON, "json", false, "print one JSON document")
	return c
}

func listMechanisms(w io.Writer, docs []document.Mechanism) {
	t := decimal.Table(w, 2)
	fmt.Fprintln(t, "name\tprivacy claim\tsensitivities\tpmf\tsampler\tsource")
	for _, d := range docs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Claim, job.Choose(d.Uniform, "one", "each"), d.PMF, job.Choose(d.Sampler, "yes", "no"), d.Source)
	}
	t.Flush()
}

// printMechanism tells what is known of one.
func printMechanism(w io.Writer, d *document.Mechanism) {
	name := d.Name
	if d.Alias != "" {
		name += " (" + d.Alias + ")"
	}
	if d.Summary != "" {
		name += ": " + d.Summary
	}
	fmt.Fprintln(w, name)
	t := decimal.Table(w, 2)
	row := func(head, format string, values ...any) {
		fmt.Fprintf(t, "  %s\t"+format+"\n", append([]any{head}, values...)...)
	}
	if d.Source != "" {
		row("source", "%s", d.Source)
	}
	row("privacy", "%s%s", cmp.Or(d.Claim, "nothing is claimed"), job.Choose(d.Tight, ", and for all real scores at no smaller ε", ""))
	if d.Rho != nil {
		row("zCDP", "ρ = %s at ε = 1, for all real scores", d.Rho)
	}
	row("sensitivities", "%s", job.Choose(d.Uniform, "one for all candidates", "one for each candidate"))
	row("symmetric", "%s", job.Choose(d.Symmetric, "yes", "not known to be"))
	row("shifts", "%s", job.Choose(d.Shifts, "adding one number to all scores changes no probability", "adding one number to all scores may change probabilities"))
	row("monotonic scores", "%s", job.Choose(d.Monotonic, "it runs at half the sensitivity (--monotonic-scores)", "no parameter of its own is known"))
	row("probabilities", "%s", map[string]string{"exact": "exact on the lattice where e^ε is rational, enclosed otherwise", "enclosed": "enclosed", "estimate": "estimates, without proof"}[d.PMF])
	row("sampler", "%s", job.Choose(d.Sampler, "exact, given uniform bits", "none"))
	t.Flush()
}
