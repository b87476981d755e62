package certificate_test

import (
	"strings"
	"testing"

	"optratio/verify/certificate"
)

func check(t *testing.T, text string) *certificate.Report {
	t.Helper()
	rep, err := certificate.Check(strings.NewReader(text), certificate.Options{})
	if err != nil {
		t.Fatalf("%v\n%.400s", err, text)
	}
	return rep
}

func TestExactCertificates(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for k := 0; k <= 3; k++ {
			for _, exp := range []string{"1", "6/5", "3/2", "2", "5/2"} {
				for _, objective := range []string{"paper", "box"} {
					for _, level := range []string{"paper", "dp", "monotone", "full"} {
						if objective == "box" && level != "paper" && exp != "3/2" {
							continue
						}
						p := newProblem(n, k, exp, objective, level)
						text := p.exactDraft(exp, p.solve()).String()
						if rep := check(t, text); !rep.Valid {
							t.Errorf("(%d, %d, %s) %s %s: %s", n, k, exp, objective, level, rep.Reason)
						}
					}
				}
			}
		}
	}
}
