//go:build slow

package scenario

// everySplit asks tests for all splits.
const everySplit = true
