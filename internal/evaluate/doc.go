// Package evaluate turns histograms into selection problems and says how well mechanisms solve them: scores for the mode and for quantiles, expected
// errors on them, and the ε at which a mechanism reaches a given error.
//
// Errors are exact or enclosed, or estimates marked as such where an enclosure would take too long. The package reads .npy files, opens
// no files itself, and prints nothing.
package evaluate
