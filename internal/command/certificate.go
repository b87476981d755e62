package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"optratio/internal/certtext"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify/certificate"
)

// CertificateFile is the file of --cert, which no certificate gets into that the checker refuses. It may be nil, for none.
type CertificateFile struct {
	file *OutputFile
	most int64 // bytes that a check may need
}

// CreateCertificate is CreateOutput for --cert; nil where path is "". Certificates at some ε are refused where that is longer than the format takes.
func (l *Limits) CreateCertificate(path string, at ...number.Epsilon) (*CertificateFile, error) {
	if path == "" {
		return nil, nil
	}
	for _, e := range at {
		if x := cmp.Or(e.Exp(), e.Eps()); x != nil && max(x.Num().BitLen(), x.Denom().BitLen()) > certificate.MaxEpsilonBits {
			return nil, Usagef("--cert: in certificates ε and e^ε have at most %d bits; give it with fewer digits, or leave --cert out", certificate.MaxEpsilonBits)
		}
	}
	most, err := l.Bytes()
	if err != nil {
		return nil, err
	}
	file, err := CreateOutput("--cert", path)
	return &CertificateFile{file, most}, err
}

// Commit writes a certificate, checks it, and puts it in its place if it is valid. It returns how the command ends: as without it, by end, which a certificate that
// fails is added to. That there is none to write is only said.
func (f *CertificateFile) Commit(ctx context.Context, s Streams, write func(io.Writer) error, end error) error {
	if f == nil {
		return end
	}
	err := f.file.Commit(ctx, func(w io.Writer) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		// The context may have ended, and whoever waits for the file knows for how long.
		if err := Checker(certificate.Check).Accepts(context.WithoutCancel(ctx), b.Bytes(), f.most); err != nil {
			return err
		}
		_, err := b.WriteTo(w)
		return err
	})
	switch {
	case err == nil:
		return end
	case errors.Is(err, certtext.ErrNone):
		Say(s.Err, "%v", err)
		return end
	case end == nil:
		return err
	}
	return fmt.Errorf("%w; %w", end, err)
}

// Accepts returns why the checker does not accept a certificate that this program wrote; nil where it does.
func (decide Checker) Accepts(ctx context.Context, data []byte, most int64) error {
	r, err := decide(bytes.NewReader(data), certificate.Options{Context: ctx, MaxMemory: most})
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, certificate.ErrLimit):
		return Exit(Undecided, fmt.Errorf("certificates are kept where they can be checked, and this one is %w", err))
	case err != nil:
		return fmt.Errorf("%w: the checker does not accept it: %w", job.ErrInternal, err)
	case !r.Valid:
		return fmt.Errorf("%w: the checker does not accept it: %s", job.ErrInternal, r.Reason)
	}
	return nil
}
