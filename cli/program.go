package cli

import (
	"optratio/internal/command"
)

// checkSize checks -n and -k.
func checkSize(n, k int) error {
	if n < 1 {
		return command.Usagef("-n is missing or 0: give the number of candidates, at least 1")
	}
	if k < 1 {
		return command.Usagef("-k is missing or 0: give the greatest depth, at least 1")
	}
	return nil
}
