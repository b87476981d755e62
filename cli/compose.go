package cli

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/internal/job"
)

func newCompose(s command.Streams) *cobra.Command {
	q := job.New[job.Compose]()
	a := asking{question: q, plain: true, exports: true, certifies: true}
	a.begin = func() error {
		if a.optimal != "" && (q.Adversary == "equal" || q.Eps == "" && q.Step == "") {
			return command.Usagef("--export: there is a pair of distributions for selections at a given ε and an adaptive adversary; give --eps or --step, and leave --adversary out")
		}
		return nil
	}
	return a.command(s, &cobra.Command{
		Use:   "compose --mechanism NAME (--eps E -T N (--delta D | --total-eps S) | --total-eps S --delta D -T N)",
		Short: "What several selections cost together, and the largest ε that each may have",
		Long: `compose finds the least ε in total at which all answers together are (ε,δ)-DP, or the least δ. That holds against every
adversary who chooses each query, and the neighbor's scores, by the answers before. An attack attains the lower end of
what is printed; the upper end holds for all real scores, any number of candidates, and neighbors that move each score
by at most Δ. Without --eps compose finds the largest ε of each selection that keeps --total-eps and --delta; its lower
end is safe. Several mechanisms run at the largest ε of each; with -n and -k, the one with the least mean error comes
first.

Beside it stands what other accounting proves: basic composition, the optimal one for ε-DP mechanisms (Kairouz, Oh &
Viswanath), bounded range (Dong, Durfee & Rogers), and zCDP with the tight ρ.

--export FILE writes two distributions that bound all selections together, to compose them with other mechanisms:

  arguments = json.load(open(FILE))["arguments"]
  privacy_loss_distribution.from_two_probability_mass_functions(**arguments)

Each ε is fixed before the first answer. compose refuses what is not known: an ε that is chosen by the answers before,
subsampling, unequal sensitivities, and Laplace noisy max, of which only bounds are proved.`,
		Example: `  optratio compose --mechanism em --eps 0.5 -T 10 --delta 1e-6
  optratio compose --mechanism pf --total-eps 1 --delta 1e-6 -T 10
  optratio compose --mechanism pf --eps 0.5 -T 10 --delta 1e-6 --cert cost.txt
  optratio compose --step em:0.1:50 --step pf:0.5:1 --delta 1e-6
  optratio compose --mechanism em,pf,geo -n 10 -k 10 --total-eps 1 --delta 1e-6 -T 10`,
	})
}
