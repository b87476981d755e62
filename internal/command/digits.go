package command

import (
	"cmp"
	"errors"
	"io"
	"strconv"

	"optratio/internal/decimal"
)

// How many significant digits the numbers of tables have, at most and where --digits does not say.
const mostDigits, usualDigits = 12, 6

// digits is the flag --digits, 0 where it is not given.
type digits int

func (d *digits) String() string {
	return strconv.Itoa(int(cmp.Or(*d, usualDigits)))
}

func (*digits) Type() string { return "int" }

func (d *digits) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostDigits {
		return errors.New("give a number of digits from 1 to " + strconv.Itoa(mostDigits) + ", such as 6")
	}
	*d = digits(n)
	return nil
}

// Short returns a writer of text for people, whose numbers have the digits that are wanted.
func (j *Job) Short(w io.Writer) io.Writer {
	return decimal.Short{To: w, Digits: int(cmp.Or(j.digits, usualDigits))}
}
