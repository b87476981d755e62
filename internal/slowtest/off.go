//go:build !slow

package slowtest

// Enabled says whether the build tag slow is set.
const Enabled = false
