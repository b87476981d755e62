// Package check checks certificates as package certificate does, and those of section interval: bounds on permute-and-flip's ratio at every ε of a range.
// Like that package it shares nothing with what writes them. docs/reference/certificate.md has the format, research/docs/map.md the theorems.
package check

import (
	"bufio"
	"io"

	"optratio/internal/evidence"
	"optratio/verify/certificate"
)

var sections = map[string]func() evidence.Section{"interval": func() evidence.Section { return &intervalCertificate{} }}

// Check is certificate.Check, for one section more.
func Check(in io.Reader, o certificate.Options) (*certificate.Report, error) {
	const begin = evidence.Magic + "\nproblem interval"
	b := bufio.NewReaderSize(in, 1<<16)
	if first, _ := b.Peek(len(begin)); string(first) != begin {
		return certificate.Check(b, o)
	}
	problem, s, reason, err := evidence.Check(b, evidence.Options{Context: o.Context, MaxMemory: o.MaxMemory, MaxSteps: o.MaxSteps}, sections)
	if err != nil {
		return nil, err
	}
	rep := &certificate.Report{Valid: reason == "", Problem: (*certificate.Problem)(problem), Reason: reason}
	if s != nil {
		for _, q := range s.Stated() {
			rep.Claims = append(rep.Claims, certificate.Claim(q))
		}
	}
	return rep, nil
}
