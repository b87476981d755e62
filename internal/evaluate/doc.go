// Package evaluate turns histograms into selection problems and says how well mechanisms solve them: scores for the mode and for quantiles, expected
// errors on them, and the ε at which a mechanism reaches a given error. For the mode, the score of a bin is its count. Adding or removing one item changes one score by 1: the
// sensitivity is 1, and scores are monotonic. Where one item moves from a bin to another instead, the sensitivity is 1 as well, but scores are not.
//
// Errors are exact or enclosed, or estimates marked as such where an enclosure would take too long. The package reads .npy files, opens
// no files itself, and prints nothing.
package evaluate
