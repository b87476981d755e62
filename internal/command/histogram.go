package command

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/evaluate"
)

// columns reads the lines of a histogram: a count alone, or the name of a bin and its count, between a comma, a semicolon or a tab.
type columns struct {
	lines, number int
	last          *big.Rat // the last bin that is a number; such bins come in ascending order, as the counts are taken in the order of the lines
}

var headName = regexp.MustCompile(`^"?\pL[\pL\pN _.-]*"?$`)

// count returns the count of a line. The first line may be a head, whose columns have names.
func (c *columns) count(text string) (count string, isHead bool, err error) {
	cells := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '\t' })
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if len(cells) == 0 || len(cells) > 2 {
		return "", false, fmt.Errorf("%s has %d columns; give one count a line, or the name of a bin and its count", Quoted(text), len(cells))
	}
	if c.lines++; c.lines == 1 {
		c.number = len(cells)
		name := cells[len(cells)-1]
		if _, err := strconv.ParseFloat(name, 64); err != nil && headName.MatchString(name) {
			return "", true, nil
		}
	}
	if len(cells) != c.number {
		return "", false, fmt.Errorf("%s has %d columns where the lines before have %d", Quoted(text), len(cells), c.number)
	}
	if len(cells) == 2 {
		if bin, err := decimal.Parse(cells[0]); err == nil {
			if c.last != nil && bin.Cmp(c.last) <= 0 {
				return "", false, fmt.Errorf("bin %s comes after bin %s; give the bins in ascending order", cells[0], c.last.RatString())
			}
			c.last = bin
		}
	}
	return cells[len(cells)-1], false, nil
}

// ReadHistogram reads counts: a .npy file, or a text file as columns describes.
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
	var table columns
	err = ReadLines(ctx, "--histogram", path, func(text string) error {
		count, isHead, err := table.count(text)
		if err != nil || isHead {
			return err
		}
		x, err := evaluate.ParseCount(count)
		counts = append(counts, x)
		return err
	})
	if err == nil && counts == nil {
		err = Usagef("--histogram %s: has no counts, give one a line", Quoted(path))
	}
	return counts, err
}
