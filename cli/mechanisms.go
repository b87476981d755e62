package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/mechanisms"
)

func newMechanisms(s command.Streams) *cobra.Command {
	j := command.Job{Streams: s}
	c := &cobra.Command{
		Use:   "mechanisms",
		Short: "What is known of each mechanism: source, privacy, exactness",
		Long: `heterogeneous, pmf and recommend also know NAME:M, such as geo-pair:2: the mechanism NAME on the M least sensitive
candidates alone. NAME is one of
` + strings.Join(job.FewerNames(), ", ") + `.`,
		Example: `  optratio mechanisms`,
		Args:    command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var docs []document.Mechanism
			for _, name := range mechanisms.Names() {
				m, err := mechanisms.Lookup(name)
				if err != nil {
					return err
				}
				d, err := document.Describe(m)
				if err != nil {
					return err
				}
				docs = append(docs, d)
			}
			command.ShowAll(&j, docs, func(w io.Writer) { printMechanisms(w, docs) })
			return nil
		},
	}
	c.Flags().BoolVar(&j.JSON, "json", false, "print one JSON document")
	return c
}

func printMechanisms(w io.Writer, docs []document.Mechanism) {
	t := command.Table(w, 2)
	fmt.Fprintln(t, "name\tprivacy claim\tsensitivities\tpmf\tsampler\tsource")
	for _, d := range docs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Claim, job.Choose(d.Uniform, "one", "each"), d.PMF, job.Choose(d.Sampler, "yes", "no"), d.Source)
	}
	t.Flush()
}
