package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"optratio/internal/certtext"
	"optratio/internal/evidence"
	"optratio/internal/job"
	"optratio/number"
	"optratio/verify/certificate"
)

// CreateCertificate is CreateOutput for --cert. Certificates at an ε are refused where that is longer than the format takes.
func CreateCertificate(path string, at number.Epsilon) (*OutputFile, error) {
	if x := cmp.Or(at.Exp(), at.Eps()); x != nil && max(x.Num().BitLen(), x.Denom().BitLen()) > evidence.MaxEpsilonBits {
		return nil, Usagef("--cert: in certificates ε and e^ε have at most %d bits; give it with fewer digits, or leave --cert out", evidence.MaxEpsilonBits)
	}
	return CreateOutput("--cert", path)
}

// CommitCertificate writes a certificate, checks it with so many bytes of memory, and puts it in its place if it is valid. It returns how the command ends: as
// without it, by end, which a certificate that fails is added to. That there is none to write is only said.
func (f *OutputFile) CommitCertificate(ctx context.Context, s Streams, most int64, write func(io.Writer) error, end error) error {
	err := f.Commit(ctx, func(w io.Writer) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		// The context may have ended, and whoever waits for the file knows for how long.
		if err := Checker(certificate.Check).Accepts(context.WithoutCancel(ctx), b.Bytes(), most); err != nil {
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
