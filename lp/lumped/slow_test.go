//go:build slow

package lumped

import "testing"

// TestTargets is TestTarget for lattices that cannot be enumerated: 1.4 million, 20 million and 6.9e10 orbits.
func TestTargets(t *testing.T) {
	reaches(t, 12, 12, "0.5", 300_000_000, 1.009)
	reaches(t, 20, 10, "0.5", 500_000_000, 1.0017) // 1.00131 at least: docs/product.md
	reaches(t, 20, 20, "0.3", 500_000_000, 1.0055)
}
