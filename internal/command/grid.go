package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"optratio/internal/escape"
	"optratio/internal/grid"
	"optratio/internal/job"
)

// RangeHelp says in a flag's help what Range reads.
const RangeHelp = "values and ranges from:to[:step], separated by commas"

// Range reads a range that a flag holds.
func Range(flag, text, example string, parse func(string) (*big.Rat, error)) ([]*big.Rat, error) {
	values, err := grid.Range(text, parse)
	if err != nil {
		return nil, Usagef("%s %s: %w; give values or from:to[:step] such as %s", flag, escape.Quoted(text), err, example)
	}
	return values, nil
}

// Counts reads a range of whole numbers.
func Counts(flag, text string) ([]int, error) {
	if text == "" {
		return nil, Usagef("%s is missing: give values or from:to[:step] such as 2:5 or 2,4,8", flag)
	}
	values, err := Range(flag, text, "2:5 or 2,4,8", job.Scaled)
	if err != nil {
		return nil, err
	}
	var counts []int
	for _, v := range values {
		if !v.IsInt() || v.Sign() <= 0 || v.Num().BitLen() > 31 {
			return nil, Usagef("%s %s: has the value %s, give whole numbers from 1 to 2^31", flag, escape.Quoted(text), v.RatString())
		}
		counts = append(counts, int(v.Num().Int64()))
	}
	return counts, nil
}

// Shard reads what --shard says, or else what a scheduler's environment does.
func Shard(text string) (shard grid.Shard, err error) {
	if text != "" {
		if shard, err = grid.ParseShard(text); err != nil {
			return shard, Usagef("--shard: %w; give I/M with I from 0 to M-1 such as 0/4", err)
		}
	} else if shard, err = grid.Environment(os.Getenv); err != nil {
		return shard, Usagef("%w; give --shard I/M, or a job array such as 0-3", err)
	}
	return shard, nil
}

// ShardPath puts a shard's number for %i in the name of a file.
func ShardPath(out string, index int) string {
	return filepath.Clean(strings.ReplaceAll(out, "%i", strconv.Itoa(index)))
}

// Resumable adds to the error on a file that is there how to go on with it.
func Resumable(err error) error {
	if errors.Is(err, grid.ErrExists) {
		return fmt.Errorf("%w, or go on with --resume", err)
	}
	return err
}

// Merge merges files into one that no run is writing meanwhile.
func Merge[R any](ctx context.Context, path string, kind *grid.Kind[R], merge func() (*grid.Table[R], error)) (*grid.Table[R], error) {
	out, err := CreateOutput("-o", path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		held, err := grid.Open(path, false)
		if err != nil {
			return nil, Usagef("-o %s: %w", path, err)
		}
		defer held.Close()
	}
	table, err := job.Await(ctx, 0, func() (*grid.Table[R], error) {
		t, err := merge()
		if err != nil && ctx.Err() == nil {
			err = Exit(Usage, err)
		}
		return t, err
	})
	if err != nil {
		return nil, err
	}
	return table, out.Commit(ctx, func(w io.Writer) error { return kind.WriteCSV(w, table) })
}
