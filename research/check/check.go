// Package check checks certificates as package certificate does, and those of two sections more: interval, bounds on permute-and-flip's ratio at every ε of a range, and product,
// points of the program on lattices of any size. Like that package it shares nothing with what writes them. docs/reference/certificate.md has the formats, research/docs/map.md and
// product.md the theorems.
package check

import (
	"bufio"
	"io"
	"strings"

	"optratio/internal/evidence"
	"optratio/verify/certificate"
)

var sections = map[string]func() evidence.Section{
	"constant": func() evidence.Section { return &constantCertificate{} },
	"interval": func() evidence.Section { return &intervalCertificate{} },
	"product":  func() evidence.Section { return &productCertificate{} },
}

// Check is certificate.Check, for these sections too.
func Check(in io.Reader, o certificate.Options) (*certificate.Report, error) {
	const begin = evidence.Magic + "\nproblem "
	b := bufio.NewReaderSize(in, 1<<16)
	first, _ := b.Peek(len(begin) + len("interval"))
	name, _, _ := strings.Cut(strings.TrimPrefix(string(first), begin), "\n")
	if sections[name] == nil {
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
