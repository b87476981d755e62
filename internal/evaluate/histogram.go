package evaluate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"

	"github.com/sbinet/npyio/npy"

	"optratio/internal/decimal"
)

// ErrFile is wrapped by errors about the content of a file, which say the remedy.
var ErrFile = errors.New("not a histogram")

// ReadNPY returns the counts in a .npy file, the whole of which is data: a one-dimensional array of integers, or of floats with whole values, none of
// them negative. Errors wrap ErrFile.
func ReadNPY(data []byte) ([]int64, error) {
	r, rest, err := openNPY(data)
	if err != nil {
		return nil, err
	}
	shape, kind := r.Header.Descr.Shape, r.Header.Descr.Type
	if len(shape) != 1 {
		return nil, fmt.Errorf("%w: an array of %d dimensions; save one of one dimension, such as counts.ravel()", ErrFile, len(shape))
	}
	t := npy.TypeFrom(kind)
	if t == nil || t.Kind() == reflect.String || t.Kind() == reflect.Complex64 || t.Kind() == reflect.Complex128 || t.Kind() == reflect.Bool {
		return nil, notCounts(kind)
	}
	if n, size := shape[0], int(t.Size()); n < 1 || n > rest/size {
		return nil, fmt.Errorf("%w: %d entries of %d bytes announced and %d bytes there; is it cut off?", ErrFile, n, size, rest)
	} else if n*size != rest {
		return nil, fmt.Errorf("%w: %d bytes after the array; save one array", ErrFile, rest-n*size)
	}
	switch t.Kind() {
	case reflect.Int8:
		return entries[int8](r)
	case reflect.Int16:
		return entries[int16](r)
	case reflect.Int32:
		return entries[int32](r)
	case reflect.Int64:
		return entries[int64](r)
	case reflect.Uint8:
		return entries[uint8](r)
	case reflect.Uint16:
		return entries[uint16](r)
	case reflect.Uint32:
		return entries[uint32](r)
	case reflect.Uint64:
		return entries[uint64](r)
	case reflect.Float32:
		return entries[float32](r)
	case reflect.Float64:
		return entries[float64](r)
	}
	return nil, notCounts(kind)
}

func notCounts(kind string) error {
	return fmt.Errorf("%w: entries of type %q; save integers, such as counts.astype('int64')", ErrFile, kind)
}

// ParseCount reads a count: a whole number from 0 to 2^60, in any notation of a decimal.
func ParseCount(text string) (int64, error) {
	r, err := decimal.Parse(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w; give one count a line", err)
	case !r.IsInt() || r.Sign() < 0 || r.Cmp(new(big.Rat).SetInt64(MaxTotal)) > 0:
		return 0, fmt.Errorf("%q is not a whole number from 0 to 2^60; give one count a line", text)
	}
	return r.Num().Int64(), nil
}

// openNPY reads the header, and returns the reader and how many bytes are left. What the library takes for granted is checked before, and its
// panics on malformed headers become errors.
func openNPY(data []byte) (r *npy.Reader, rest int, err error) {
	malformed := fmt.Errorf("%w: no .npy file; write one with numpy.save", ErrFile)
	defer func() {
		if recover() != nil {
			r, rest, err = nil, 0, malformed
		}
	}()
	if len(data) < 12 || !bytes.HasPrefix(data, npy.Magic[:]) {
		return nil, 0, malformed
	}
	header, start := uint64(binary.LittleEndian.Uint16(data[8:])), 10
	if data[6] > 1 {
		header, start = uint64(binary.LittleEndian.Uint32(data[8:])), 12
	}
	if header > uint64(len(data)-start) {
		return nil, 0, malformed
	}
	in := bytes.NewReader(data)
	if r, err = npy.NewReader(in); err != nil {
		return nil, 0, fmt.Errorf("%w: %v; write one with numpy.save", ErrFile, err)
	}
	return r, in.Len(), nil
}

// entries reads all entries and checks that they are counts.
func entries[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](r *npy.Reader) ([]int64, error) {
	var values []T
	if err := r.Read(&values); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFile, err)
	}
	counts := make([]int64, len(values))
	for i, x := range values {
		if f := float64(x); !(f >= 0) || f > MaxTotal || f != math.Floor(f) {
			return nil, fmt.Errorf("%w: bin %d is %v; counts are whole numbers from 0 to 2^60", ErrFile, i, x)
		}
		counts[i] = int64(x)
	}
	return counts, nil
}
