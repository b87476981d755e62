package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"optratio/internal/grid"
)

// settled is a row of a table with settings, in Parquet.
type settled struct {
	Row
	Settings string `parquet:"settings"`
}

// writeParquet writes the table as one Parquet file with the columns of the CSV file: n and k are integers, seconds is a double, all others are texts, so
// that no digit of a bound is lost.
func writeParquet(w io.Writer, t *grid.Table[Row]) error {
	if t.Settings == "" {
		return writeRows(w, t.Rows)
	}
	rows := make([]settled, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = settled{r, t.Settings}
	}
	return writeRows(w, rows)
}

func writeRows[T any](w io.Writer, rows []T) error {
	p := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Snappy), parquet.CreatedBy("optratio", "", ""))
	if _, err := p.Write(rows); err != nil {
		return err
	}
	return p.Close()
}

// checkColumns refuses a file whose columns are not those of a sweep, with or without that of the settings.
func checkColumns(file *parquet.File) error {
	var names []string
	for _, column := range file.Schema().Columns() {
		names = append(names, column[len(column)-1])
	}
	want := len(columns)
	if len(names) == want+1 && names[want] == grid.SettingsColumn {
		want++
	}
	if len(names) != want {
		return fmt.Errorf("%w: its columns are not those of a sweep", grid.ErrFile)
	}
	for i, name := range columns {
		if names[i] != name {
			return fmt.Errorf("%w: column %d is %s, want %s", grid.ErrFile, i+1, names[i], name)
		}
	}
	return nil
}

// parseParquet reads what writeParquet wrote. Where the context ends before that is done, the error is its cause.
func parseParquet(ctx context.Context, data []byte) (t *grid.Table[Row], err error) {
	defer func() {
		if p := recover(); p != nil { // of the Parquet library, about a damaged file
			t, err = nil, fmt.Errorf("%w: damaged: %v", grid.ErrFile, p)
		}
	}()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", grid.ErrFile, err)
	}
	if err := checkColumns(file); err != nil {
		return nil, err
	}
	in := parquet.NewGenericReader[settled](file)
	defer in.Close()
	t = &grid.Table[Row]{}
	rows := make([]settled, 1000)
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n, err := in.Read(rows)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: %w", grid.ErrFile, err)
		}
		for _, r := range rows[:n] {
			at := len(t.Rows) + 1
			if err := r.Row.complete(); err != nil {
				return nil, fmt.Errorf("%w: row %d: %w", grid.ErrFile, at, err)
			}
			if at > 1 && r.Settings != t.Settings {
				return nil, fmt.Errorf("%w: row %d: settings %q and before it %q", grid.ErrFile, at, r.Settings, t.Settings)
			}
			t.Settings, t.Rows = r.Settings, append(t.Rows, r.Row)
		}
		if err != nil {
			return t, nil
		}
	}
}
