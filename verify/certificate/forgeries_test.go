//go:build !slow

package certificate_test

const forgeries = 400 // of each question
