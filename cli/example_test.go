package cli_test

import (
	"context"
	"os"

	"optratio/cli"
)

// The command line as a function; cli.Main() is a whole main.
func Example() {
	cli.Run(context.Background(), []string{"threshold", "-n", "2", "-k", "3"}, os.Stdin, os.Stdout, os.Stderr)
	// Output:
	// n = 2, k = 3: on the lattice of step 2Δ permute-and-flip is optimal at every ε
}
