//go:build !slow

package variant_test

// largestTable bounds n·k in the tables of docs/approximate.md that are recomputed; the build tag slow lifts it.
const largestTable = 40
