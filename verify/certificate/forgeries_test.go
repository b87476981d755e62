//go:build !slow

package certificate_test

const forgeries = 1_000 // of each kind
