// Command research is the reproduction of the three papers that optratio builds on: the ledger of what they state, their figures drawn from
// computed numbers, their synthetic scenarios and their bandit; and the bounds that hold at every ε. It is a module of its own, so that optratio needs no plotting library.
package main

import (
	"github.com/spf13/cobra"

	"optratio/internal/command"
	"optratio/lp"
	"optratio/research/check"
	"optratio/research/pairwise"
)

func main() { command.Main(newRoot) }

// newRoot returns the command tree.
func newRoot(s command.Streams) *cobra.Command {
	lp.Register()
	pairwise.Register()
	root := &cobra.Command{Use: "research", Short: "Recompute what the papers behind optratio state, draw and simulate, and what holds at every ε"}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newClaims(s), newFigure(s), newScenario(s), newBandit(s), newMap(s), newConstant(s), newProduct(s), newStoppingLimit(s), newWorstCase(s), newCoins(s), newPairwise(s), command.NewCheck(s, check.Check))
	return root
}
