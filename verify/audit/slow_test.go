//go:build slow

package audit

import "testing"

// TestAThousandAudits is TestFalseAlarms with as many audits as docs/auditing.md reports.
func TestAThousandAudits(t *testing.T) {
	t.Setenv("AUDIT_RUNS", "1000")
	TestFalseAlarms(t)
}
