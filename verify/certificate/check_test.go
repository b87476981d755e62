package certificate_test

import (
	"encoding/json"
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

// TestNothingToChoose: with one candidate, or none worse than another, there is no error at any ε.
func TestNothingToChoose(t *testing.T) {
	for _, size := range [][2]int{{1, 3}, {1, 0}, {4, 0}} {
		for _, epsilon := range []string{"epsilon 0", "epsilon 1/2", "exp-epsilon 2"} {
			p := newProblem(size[0], size[1], "2", "paper", "full")
			d := p.draft(epsilon, p.solve(), hex)
			for _, on := range []string{"optimum", "error pf", "error em"} {
				d.claim(on, "0", "0")
			}
			d.claim("ratio pf", "1", "1").claim("ratio em", "1", "1")
			if rep := check(t, d.String()); !rep.Valid {
				t.Errorf("%v, %s: %s", size, epsilon, rep.Reason)
			}
			d.claims[0] = "claim optimum 1e-30 1"
			if check(t, d.String()).Valid {
				t.Errorf("%v, %s: a positive optimum", size, epsilon)
			}
		}
	}
}

func TestReportJSON(t *testing.T) {
	p := newProblem(2, 1, "3/2", "paper", "paper")
	d := p.exactDraft("3/2", p.solve())
	object := func(text string) map[string]any {
		data, err := json.Marshal(check(t, text))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	valid := object(d.String())
	problem := valid["problem"].(map[string]any)
	if valid["valid"] != true || valid["reason"] != nil || valid["optimum"].(map[string]any)["exact"] != "2/9" ||
		problem["n"] != 2.0 || problem["objective"] != "paper" || problem["exp_eps"].(map[string]any)["exact"] != "3/2" {
		t.Errorf("valid: %v", valid)
	}
	d.claims[0] = "claim optimum 1 1"
	invalid := object(d.String())
	optimum, ok := invalid["optimum"]
	if invalid["valid"] != false || !ok || optimum != nil || invalid["reason"] == "" || invalid["problem"] == nil {
		t.Errorf("invalid: %v", invalid)
	}
	torn := object("optratio-certificate 3\nproblem program\nn 2\n")
	if problem, ok := torn["problem"]; torn["valid"] != false || !ok || problem != nil {
		t.Errorf("torn: %v", torn)
	}
}

// TestProposals checks certificates far from optimal, with all rows of the levels, on a lattice beyond the oracle's.
func TestProposals(t *testing.T) {
	for _, level := range []string{"paper", "dp", "monotone", "full"} {
		for _, epsilon := range []string{"epsilon 1/2", "exp-epsilon 5/3"} {
			text := proposal(5, 5, epsilon, 0.6, level)
			if rep := check(t, text); !rep.Valid {
				t.Errorf("%s %s: %s", level, epsilon, rep.Reason)
			}
			if check(t, strings.Replace(text, "optimum 0", "optimum 1", 1)).Valid {
				t.Errorf("%s %s: the multipliers proved too much", level, epsilon)
			}
		}
	}
}
