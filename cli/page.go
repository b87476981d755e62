package cli

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"path/filepath"
	"time"

	"optratio/internal/command"
	"optratio/internal/document"
	"optratio/internal/job"
	"optratio/internal/report"
	"optratio/lattice"
	"optratio/verify/certificate"
)

// certified is the number of orbits up to which a page has a certificate though none was asked for.
const certified = 20_000

// isPlain reports whether a page has a certificate though none was asked for: that of a small ratio job about the plain question.
func isPlain(q job.Question) bool {
	r, ok := q.(*job.Ratio)
	if !ok || r.N < 1 || r.K < 1 || r.N > certified || r.K > certified {
		return false
	}
	plain := job.New[job.Ratio]()
	plain.Size, plain.Epsilon, plain.Mechanism, plain.Constraints, plain.Objective = r.Size, r.Epsilon, r.Mechanism, r.Constraints, r.Objective
	plain.Gap, plain.Solver, plain.Sensitivity, plain.Exact, plain.Monotonic = r.Gap, r.Solver, r.Sensitivity, r.Exact, r.Monotonic
	return *r == *plain && lattice.Orbits(r.N, r.K).Cmp(big.NewInt(certified)) <= 0
}

// curveTime is how long each question of a curve may take.
const curveTime = 20 * time.Second

// page draws the answer to the command's question, with the certificate that was kept; where none was asked for, with one of the page's own.
func (a *asking) page(ctx context.Context, h *job.Host, found *job.Answer, kept []byte) *report.Page {
	at := report.Context{Question: a.question, Optimal: a.path("optimal"), Command: job.CommandText(a.question), Certificate: kept, CertificateName: filepath.Base(a.cert)}
	if a.cert == "" && h.Certificate {
		var b bytes.Buffer
		err := found.Certificate(&b)
		if err == nil {
			err = command.Checker(certificate.Check).Accepts(ctx, b.Bytes(), h.MaxMemory)
		}
		if err == nil {
			size := a.question.(*job.Ratio).Size
			at.Certificate, at.CertificateName = b.Bytes(), fmt.Sprintf("ratio-%d-%d.cert", size.N, size.K)
		}
	}
	at.Curve = report.CurveFor(found.Documents[0], a.question, func(q job.Question) []document.Document {
		ctx, stop := context.WithTimeout(ctx, curveTime)
		defer stop()
		answer, err := job.Ask(ctx, &job.Host{Open: h.Open, Begin: job.Quietly, MaxMemory: h.MaxMemory}, q)
		if err != nil || answer.Violated != "" || answer.Undecided != "" {
			return nil
		}
		return answer.Documents
	})
	return report.New(found, at)
}
