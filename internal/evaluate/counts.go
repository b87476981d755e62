package evaluate

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"optratio/internal/decimal"
)

// Counts reads the lines of a histogram: a count alone, or the name of a bin and its count, between a comma, a semicolon or a tab.
type Counts struct {
	Values []int64 // so far

	lines, number int
	last          *big.Rat // the last bin that is a number; such bins come in ascending order, as the counts are taken in the order of the lines
}

var headName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"?\pL[\pL\pN _.-]*"?$`) })

// count returns the count of a line. The first line may be a head, whose columns have names.
func (c *Counts) count(text string) (count string, isHead bool, err error) {
	cells := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '\t' })
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if len(cells) == 0 || len(cells) > 2 {
		return "", false, fmt.Errorf("%s has %d columns; give one count a line, or the name of a bin and its count", strconv.Quote(shortened(text)), len(cells))
	}
	if c.lines++; c.lines == 1 {
		c.number = len(cells)
		name := cells[len(cells)-1]
		if _, err := strconv.ParseFloat(name, 64); err != nil && headName().MatchString(name) {
			return "", true, nil
		}
	}
	if len(cells) != c.number {
		return "", false, fmt.Errorf("%s has %d columns where the lines before have %d", strconv.Quote(shortened(text)), len(cells), c.number)
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

// Line reads a line that is neither empty nor a comment.
func (c *Counts) Line(text string) error {
	count, isHead, err := c.count(text)
	if err != nil || isHead {
		return err
	}
	x, err := ParseCount(count)
	c.Values = append(c.Values, x)
	return err
}

// shortened leaves out the middle of a long text.
func shortened(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:40]) + "…" + string(r[len(r)-20:])
	}
	return s
}
