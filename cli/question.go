package cli

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/command"
	"optratio/internal/decimal"
)

// parseDelta reads a δ.
func parseDelta(text string) (*big.Rat, error) {
	x, err := decimal.ParseNumber(text)
	if err != nil || x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, command.Usagef("--delta %s: give a decimal or a fraction from 0 to 1 such as 1e-6", command.Quoted(text))
	}
	return x, nil
}

// readColumn reads a file of numbers, one a line. Where there is no such file, choices say what to give, if it need not be one.
func readColumn(ctx context.Context, flag, path, choices string) ([]*big.Rat, error) {
	return command.ReadAll(ctx, flag, path, choices, "has no numbers, give one a line", func(text string) (*big.Rat, error) {
		x, err := decimal.ParseNumber(text)
		if err != nil {
			return nil, fmt.Errorf("%w; give one decimal or fraction a line", err)
		}
		return x, nil
	})
}
