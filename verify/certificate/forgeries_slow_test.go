//go:build slow

package certificate_test

const forgeries = 30_000 // of each question
