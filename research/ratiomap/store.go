package ratiomap

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"optratio/internal/grid"
	"optratio/lp"
)

// keep returns the rows of a file but for those of lattices that are to be computed again: of these, complete rows within the target stay, with a folder for certificates where
// the certificate proves what they say. The folder is made, and what killed runs left there is removed.
func (f *Files) keep(ctx context.Context, p *Plan, rows []Row, lattices [][2]int) ([]Row, error) {
	if err := f.folder(); err != nil {
		return nil, err
	}
	table := byLattice(rows)
	for _, r := range rows {
		if r.Constraints != p.Level.String() {
			return nil, fmt.Errorf("has constraints %s; name another file for %s", r.Constraints, p.Level)
		}
	}
	again := map[[2]int]bool{}
	for _, at := range lattices {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows, have := table[at]
		if !have {
			continue
		}
		again[at] = Check(rows) != nil || boundOf(rows).Cmp(p.Target) > 0
		if f.Certs != "" && !again[at] {
			proved, err := f.proved(ctx, rows, p.Level)
			if err != nil {
				return nil, err
			}
			again[at] = !proved
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return again[[2]int{r.N, r.K}] }), nil
}

// folder makes the folder for certificates, and cleans it of what killed runs left.
func (f *Files) folder() error {
	if f.Certs == "" {
		return nil
	}
	err := os.MkdirAll(f.Certs, 0o777)
	if err == nil {
		err = grid.Clean(f.Certs, certificateSuffix)
	}
	if err != nil {
		return grid.At(f.Certs, err)
	}
	return nil
}

// proved reports whether a lattice has a certificate that is valid and states what the rows say, ratios seen aside.
func (f *Files) proved(ctx context.Context, rows []Row, level lp.Level) (bool, error) {
	text, err := os.ReadFile(filepath.Join(f.Certs, CertificateName(rows[0].N, rows[0].K, level)))
	if err != nil || !cites(string(text), rows) {
		return false, nil
	}
	err = f.Check(ctx, text)
	return err == nil, context.Cause(ctx)
}

const certificateSuffix = ".cert"

// CertificateName is the name of a lattice's certificate in its folder.
func CertificateName(n, k int, level lp.Level) string {
	return fmt.Sprintf("%d-%d-%s%s", n, k, level, certificateSuffix)
}

// certify writes a lattice's certificate, which is text.
func (f *Files) certify(c *Cover, text []byte) error {
	path := filepath.Join(f.Certs, CertificateName(c.N, c.K, c.Level))
	file, err := grid.Replace(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return grid.At(path, err)
	}
	return nil
}
