//go:build slow

package topk

// largestTable bounds n·k in the rows of docs/topk.md that are recomputed; the build tag slow lifts it.
const largestTable = 1000
