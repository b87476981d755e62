//go:build slow

package certificate_test

const forgeries = 300_000 // of each kind
