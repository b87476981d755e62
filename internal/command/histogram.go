package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"optratio/internal/evaluate"
)

// ReadHistogram reads counts: a .npy file, or a text file as evaluate.Counts reads it.
func ReadHistogram(ctx context.Context, path string) (counts []int64, err error) {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		file, err := OpenInput(ctx, "--histogram", path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, MostInput))
		if cause := context.Cause(ctx); cause != nil && err != nil {
			return nil, fmt.Errorf("--histogram %s: cannot be read: %w", Quoted(path), cause)
		}
		if err != nil {
			return nil, Usagef("--histogram %s: cannot be read: %w", Quoted(path), WithoutPath(err))
		}
		if len(data) == MostInput {
			return nil, Usagef("%s: longer than %d MiB, give a smaller file", path, MostInput>>20)
		}
		if counts, err = evaluate.ReadNPY(data); err != nil {
			return nil, Usagef("%s: %w", path, err)
		}
		return counts, nil
	}
	var table evaluate.Counts
	if err = ReadLines(ctx, "--histogram", path, table.Line); err == nil && table.Values == nil {
		err = Usagef("--histogram %s: has no counts, give one a line", Quoted(path))
	}
	return table.Values, err
}
