package evaluate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"optratio/internal/decimal"
)

// ErrFile is wrapped by errors about the content of a file, which say the remedy.
var ErrFile = errors.New("not a histogram")

// ReadNPY returns the counts in a .npy file, the whole of which is data: a one-dimensional array of integers, or of floats with whole values, none of
// them negative. Errors wrap ErrFile. The format is numpy's (numpy.lib.format): a header that is a Python dictionary, then the entries. It is read here,
// as github.com/sbinet/npyio takes what is cut off for zeros, and links linear algebra.
func ReadNPY(data []byte) ([]int64, error) {
	header, entries, err := splitNPY(data)
	if err != nil {
		return nil, err
	}
	var found [3]string
	for i, key := range []string{`'descr': *'([^']*)'`, `'fortran_order': *(True|False)`, `'shape': *\(([-0-9, ]*)\)`} {
		m := regexp.MustCompile(key).FindSubmatch(header)
		if m == nil {
			return nil, fmt.Errorf("%w: its header has no %s; write one with numpy.save", ErrFile, key[:strings.IndexByte(key, ':')])
		}
		found[i] = string(m[1])
	}
	kind, shape := found[0], strings.FieldsFunc(found[2], func(r rune) bool { return r == ',' || r == ' ' })
	if len(shape) != 1 {
		return nil, fmt.Errorf("%w: an array of %d dimensions; save one of one dimension, such as counts.ravel()", ErrFile, len(shape))
	}
	read := entryTypes[strings.TrimLeft(kind, "<>|")]
	if len(kind) != 3 || read == nil {
		return nil, fmt.Errorf("%w: entries of type %q; save integers, such as counts.astype('int64')", ErrFile, kind)
	}
	size := int(kind[2] - '0')
	if n, err := strconv.Atoi(shape[0]); err != nil || n < 1 || n > len(entries)/size {
		return nil, fmt.Errorf("%w: %s entries of %d bytes announced and %d bytes there; is it cut off?", ErrFile, shape[0], size, len(entries))
	} else if n*size != len(entries) {
		return nil, fmt.Errorf("%w: %d bytes after the array; save one array", ErrFile, len(entries)-n*size)
	}
	if kind[0] == '>' {
		return read(entries, binary.BigEndian)
	}
	return read(entries, binary.LittleEndian)
}

// entryTypes read the entries of numpy's types that can be counts.
var entryTypes = map[string]func([]byte, binary.ByteOrder) ([]int64, error){
	"i1": whole[int8], "i2": whole[int16], "i4": whole[int32], "i8": whole[int64],
	"u1": whole[uint8], "u2": whole[uint16], "u4": whole[uint32], "u8": whole[uint64],
	"f4": whole[float32], "f8": whole[float64],
}

// whole reads counts that are stored as numbers of a type.
func whole[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](data []byte, order binary.ByteOrder) ([]int64, error) {
	entries := make([]T, len(data)/binary.Size(T(0)))
	if _, err := binary.Decode(data, order, entries); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	counts := make([]int64, len(entries))
	for i, entry := range entries {
		x := float64(entry)
		if !(x >= 0) || x > MaxTotal || int64(entry) > MaxTotal || x != math.Floor(x) {
			return nil, fmt.Errorf("%w: bin %d is %v; counts are whole numbers from 0 to 2^60", ErrFile, i, x)
		}
		counts[i] = int64(entry)
	}
	return counts, nil
}

// splitNPY returns the header of a .npy file and what follows it.
func splitNPY(data []byte) (header, entries []byte, err error) {
	if len(data) < 12 || !bytes.HasPrefix(data, []byte("\x93NUMPY")) {
		return nil, nil, fmt.Errorf("%w: no .npy file; write one with numpy.save", ErrFile)
	}
	length, start := uint64(binary.LittleEndian.Uint16(data[8:])), 10
	switch data[6] {
	case 1:
	case 2:
		length, start = uint64(binary.LittleEndian.Uint32(data[8:])), 12
	default:
		return nil, nil, fmt.Errorf("%w: major version %d of the format; write one with numpy.save", ErrFile, data[6])
	}
	if length > uint64(len(data)-start) {
		return nil, nil, fmt.Errorf("%w: it ends within its header; is it cut off?", ErrFile)
	}
	return data[start : start+int(length)], data[start+int(length):], nil
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
