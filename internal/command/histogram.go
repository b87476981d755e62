package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"optratio/internal/evaluate"
)

// ReadHistogram reads counts: a .npy file, or one count a line.
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
	err = ReadLines(ctx, "--histogram", path, func(text string) error {
		x, err := evaluate.ParseCount(text)
		counts = append(counts, x)
		return err
	})
	if err == nil && counts == nil {
		err = Usagef("--histogram %s: has no counts, give one a line", Quoted(path))
	}
	return counts, err
}
