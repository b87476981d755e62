package evaluate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numpyFile writes a .npy file of version 1 or 2 with any header, as numpy.save lays it out.
func numpyFile(version byte, header string, data []byte) []byte {
	header = header + strings.Repeat(" ", 16) + "\n"
	out := append([]byte("\x93NUMPY"), version, 0)
	if version == 1 {
		out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(header)))
	}
	return append(append(out, header...), data...)
}

func numpyHeader(kind, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
}

func packed(order binary.AppendByteOrder, size int, values ...uint64) (out []byte) {
	for _, x := range values {
		switch size {
		case 1:
			out = append(out, byte(x))
		case 2:
			out = order.AppendUint16(out, uint16(x))
		case 4:
			out = order.AppendUint32(out, uint32(x))
		case 8:
			out = order.AppendUint64(out, x)
		}
	}
	return out
}

// All integer types of either byte order and both float types, written byte by byte from the format's description.
func TestReadNPY(t *testing.T) {
	want := []int64{3, 0, 100}
	for _, kind := range []string{"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"} {
		values := []uint64{3, 0, 100}
		size := int(kind[1] - '0')
		switch kind {
		case "f4":
			values = []uint64{uint64(math.Float32bits(3)), 0, uint64(math.Float32bits(100))}
		case "f8":
			values = []uint64{math.Float64bits(3), 0, math.Float64bits(100)}
		}
		for sign, order := range map[string]binary.AppendByteOrder{"<": binary.LittleEndian, ">": binary.BigEndian} {
			if size == 1 {
				sign = "|"
			}
			for version := byte(1); version <= 2; version++ {
				got, err := ReadNPY(numpyFile(version, numpyHeader(sign+kind, "(3,)"), packed(order, size, values...)))
				require.NoError(t, err, "%s%s", sign, kind)
				assert.Equal(t, want, got, "%s%s", sign, kind)
			}
		}
	}
	var file bytes.Buffer
	want = []int64{3, MaxTotal - 1, MaxTotal} // more digits than a float has
	require.NoError(t, npy.Write(&file, want))
	got, err := ReadNPY(file.Bytes())
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestReadNPYRefuses(t *testing.T) {
	whole := packed(binary.LittleEndian, 8, 1, 2)
	eight := func(kind string, bits uint64) []byte {
		return numpyFile(1, numpyHeader(kind, "(2,)"), packed(binary.LittleEndian, 8, 0, bits))
	}
	for want, data := range map[string][]byte{
		"no .npy file":              []byte("3\n4\n5\n6\n7\n8\n9\n"),
		"write one with numpy":      {0x93, 'N', 'U', 'M'},
		"2 dimensions":              numpyFile(1, numpyHeader("<i8", "(1, 2)"), whole),
		"0 dimensions":              numpyFile(1, numpyHeader("<i8", "()"), whole[:8]),
		"counts.ravel()":            numpyFile(1, strings.Replace(numpyHeader("<i8", "(2, 1)"), "False", "True", 1), whole),
		"'fortran_order'":           numpyFile(1, strings.Replace(numpyHeader("<i8", "(2,)"), "False", "Maybe", 1), whole),
		"is it cut off?":            numpyFile(1, numpyHeader("<i8", "(2,)"), whole[:15]),
		"after the array":           numpyFile(1, numpyHeader("<i8", "(2,)"), append(whole, 0)),
		"0 entries":                 numpyFile(1, numpyHeader("<i8", "(0,)"), nil),
		"-2 entries":                numpyFile(1, numpyHeader("<i8", "(-2,)"), whole),
		"bytes announced":           numpyFile(1, numpyHeader("<i8", "(9223372036854775807,)"), whole),
		`type "<c16"`:               numpyFile(1, numpyHeader("<c16", "(1,)"), append(whole, whole...)),
		`type "|b1"`:                numpyFile(1, numpyHeader("|b1", "(2,)"), []byte{0, 1}),
		`type "<U1"`:                numpyFile(1, numpyHeader("<U1", "(2,)"), whole),
		`type "<M8[s]"`:             numpyFile(1, numpyHeader("<M8[s]", "(2,)"), whole),
		"astype('int64')":           numpyFile(1, numpyHeader("<f2", "(2,)"), whole[:4]),
		"major version":             numpyFile(3, numpyHeader("<i8", "(2,)"), whole),
		"bin 1 is -1":               eight("<i8", math.MaxUint64),
		"from 0 to 2^60":            eight("<u8", 1<<61),
		"bin 1 is 1.15292150460684": eight("<i8", 1<<60+1),
		"bin 1 is NaN":              eight("<f8", math.Float64bits(math.NaN())),
		"bin 1 is +Inf":             eight("<f8", math.Float64bits(math.Inf(1))),
		"bin 1 is 2.5":              eight("<f8", math.Float64bits(2.5)),
		"bin 1 is -3":               eight("<f8", math.Float64bits(-3)),
	} {
		_, err := ReadNPY(data)
		assert.ErrorIs(t, err, ErrFile, want)
		assert.ErrorContains(t, err, want)
	}
	for i := range 50 { // headers that are cut off
		data := numpyFile(1, numpyHeader("<i8", "(2,)")[:i], whole)
		_, err := ReadNPY(data)
		assert.ErrorIs(t, err, ErrFile)
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "17": 17, "3.0": 3, "1e3": 1000, "+4": 4, "1152921504606846976": MaxTotal} {
		got, err := ParseCount(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "four", "-1", "2.5", "3,4", "3 4", "NaN", "inf", "1e99999999", "1/2", "1152921504606846977"} {
		_, err := ParseCount(text)
		assert.Error(t, err, text)
		assert.ErrorContains(t, err, "one count a line", text)
	}
}

// Whatever the bytes: an answer of counts, or an error, and no more memory than the file has.
func FuzzReadNPY(f *testing.F) {
	whole := packed(binary.LittleEndian, 8, 1, 2)
	for _, header := range []string{numpyHeader("<i8", "(2,)"), numpyHeader("<f8", "(2,)"), numpyHeader("<i8", "(1, 2)"), numpyHeader("|S8", "(2,)"), "{}", "}'descr': 'shape': 'fortran_order': "} {
		f.Add(numpyFile(1, header, whole))
		f.Add(numpyFile(2, header, whole))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		counts, err := ReadNPY(data)
		if err != nil {
			assert.ErrorIs(t, err, ErrFile)
			return
		}
		assert.NotEmpty(t, counts)
		assert.LessOrEqual(t, len(counts), len(data))
		for _, x := range counts {
			assert.True(t, x >= 0 && x <= MaxTotal)
		}
		// What was read comes back after writing.
		var file bytes.Buffer
		require.NoError(t, npy.Write(&file, counts))
		again, err := ReadNPY(file.Bytes())
		require.NoError(t, err)
		assert.Equal(t, counts, again)
	})
}

func FuzzParseCount(f *testing.F) {
	for _, text := range []string{"3", "1e3", "2.5", "-1", "NaN", "3,4", "0x10", "1e999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := ParseCount(text)
		if err != nil {
			return
		}
		assert.True(t, x >= 0 && x <= MaxTotal)
		again, err := ParseCount(fmt.Sprint(x))
		require.NoError(t, err)
		assert.Equal(t, x, again)
	})
}
