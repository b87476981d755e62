package ratiomap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	files "optratio/internal/grid"
	"optratio/lp"
)

// store is the file of a run, which no other process writes meanwhile. The rows of a lattice are appended as they come; finish puts them in order.
type store struct {
	path   string
	file   *os.File
	rows   map[[2]int][]Row
	synced time.Time
}

// syncEvery is how often rows are made safe from a loss of power. From the end of this process they are safe as soon as they are written.
const syncEvery = time.Second

// open locks the file of a run and reads what need not be computed: the lattices that the file has, complete and within the target, and with a folder for certificates those whose
// certificate proves what the rows say. Unless the run resumes, a file that exists is an error. The others are taken out of the file. Where the context ends before, the
// file is left as it is and the error is the cause.
func (f *Files) open(ctx context.Context, p *Plan, lattices [][2]int) (*store, error) {
	file, err := files.Open(f.Path, !f.Resume)
	if err != nil {
		return nil, f.failed(f.Path, err)
	}
	s := &store{path: f.Path, file: file, synced: time.Now()}
	begin := func() error {
		data, err := io.ReadAll(file)
		if err != nil {
			return f.failed(f.Path, err)
		}
		if s.rows, err = read(ctx, f.Path, data); err != nil {
			return err
		}
		if err := f.drop(ctx, p, s.rows, lattices); err != nil {
			return err
		}
		return s.finish()
	}
	err = f.folder()
	if err == nil {
		err = begin()
	}
	if err != nil {
		if info, err := file.Stat(); err == nil && info.Size() == 0 {
			_ = os.Remove(f.Path) // it was not there before
		}
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// folder makes the folder for certificates, and cleans it of what killed runs left.
func (f *Files) folder() error {
	if f.Certs == "" {
		return nil
	}
	err := os.MkdirAll(f.Certs, 0o777)
	if err == nil {
		err = files.Clean(f.Certs, certificateSuffix)
	}
	if err != nil {
		return f.failed(f.Certs, err)
	}
	return nil
}

// drop takes out the lattices of a table that are to be computed again.
func (f *Files) drop(ctx context.Context, p *Plan, table map[[2]int][]Row, lattices [][2]int) error {
	for _, rows := range table {
		if c := rows[0].Constraints; c != p.Level.String() {
			return f.failed(f.Path, fmt.Errorf("has constraints %s; name another file for %s", c, p.Level))
		}
	}
	for _, at := range lattices {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rows, have := table[at]
		if !have {
			continue
		}
		lacks := Check(rows) != nil || boundOf(rows).Cmp(p.Target) > 0
		if f.Certs != "" && !lacks {
			proved, err := f.proved(ctx, rows, p.Level)
			if err != nil {
				return err
			}
			lacks = !proved
		}
		if lacks {
			delete(table, at)
		}
	}
	return nil
}

// proved reports whether a lattice has a certificate that is valid and states what the rows say, ratios seen aside.
func (f *Files) proved(ctx context.Context, rows []Row, level lp.Level) (bool, error) {
	text, err := os.ReadFile(filepath.Join(f.Certs, CertificateName(rows[0].N, rows[0].K, level)))
	if err != nil || !cites(string(text), rows) {
		return false, nil
	}
	return f.Valid(ctx, text)
}

const certificateSuffix = ".cert"

// CertificateName is the name of a lattice's certificate in its folder.
func CertificateName(n, k int, level lp.Level) string {
	return fmt.Sprintf("%d-%d-%s%s", n, k, level, certificateSuffix)
}

// certify writes a lattice's certificate.
func (f *Files) certify(c *Cover) error {
	path := filepath.Join(f.Certs, CertificateName(c.N, c.K, c.Level))
	file, err := files.Replace(path, c.WriteCertificate)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return f.failed(path, err)
	}
	return nil
}

// failed says which file could not be read or written.
func (f *Files) failed(path string, err error) error {
	return fmt.Errorf("%w %s: %w", ErrFile, path, err)
}

// append adds the rows of a lattice, in one write.
func (s *store) append(c *Cover) error {
	rows := c.rows()
	s.rows[[2]int{c.N, c.K}] = rows
	var b bytes.Buffer
	err := writeRows(&b, rows)
	if err == nil {
		_, err = s.file.Write(b.Bytes())
	}
	if err == nil && time.Since(s.synced) > syncEvery {
		err, s.synced = files.Sync(s.file), time.Now()
	}
	if err != nil {
		return fmt.Errorf("%w %s: not written: %w", ErrFile, s.path, err)
	}
	return nil
}

// finish writes all rows in order, by k, n and z.
func (s *store) finish() error {
	whole, err := files.Replace(s.path, func(w io.Writer) error { return WriteTable(w, ordered(s.rows)) })
	if err != nil {
		return fmt.Errorf("%w %s: not written: %w", ErrFile, s.path, err)
	}
	old := s.file
	s.file = whole
	return old.Close()
}

func (s *store) close() error { return errors.Join(files.Sync(s.file), s.file.Close()) }

// ordered returns the rows of a table by k, n and z.
func ordered(table map[[2]int][]Row) (rows []Row) {
	for _, r := range table {
		rows = append(rows, r...)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.K, b.K), cmp.Compare(a.N, b.N), a.From.Cmp(b.From)) })
	return rows
}
