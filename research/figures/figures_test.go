package figures

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

// drawn computes a figure with its fast parameters, changed by the given ones: name, value, ….
func drawn(t *testing.T, name string, change ...string) *Figure {
	t.Helper()
	spec, err := Lookup(name)
	require.NoError(t, err)
	given := maps.Clone(spec.Fast)
	if given == nil {
		given = map[string]string{}
	}
	for i := 0; i < len(change); i += 2 {
		given[change[i]] = change[i+1]
	}
	a, err := spec.NewArgs(given, nil)
	require.NoError(t, err)
	f, err := spec.Draw(context.Background(), a)
	require.NoError(t, err)
	return f
}

// series finds a series of a figure by name.
func series(t *testing.T, f *Figure, name string) *Series {
	t.Helper()
	for _, p := range f.each() {
		for _, s := range p.Series {
			if s.Name == name {
				return s
			}
		}
	}
	require.Fail(t, "no series "+name)
	return nil
}

func written(t *testing.T, f *Figure, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, f.Write(&b, format))
	return b.Bytes()
}

// TestEveryFigure draws every figure with fast parameters: the data are numbers under the names of the series, the three formats can be opened, and
// the same parameters give the same bytes.
func TestEveryFigure(t *testing.T) {
	slowtest.Only(t)
	for _, spec := range Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			f := drawn(t, spec.Name)
			assert.NotEmpty(t, f.Title)
			assert.NotEmpty(t, spec.Shows)
			if spec.Source != "" {
				letter := strings.TrimLeft(spec.Name, "abcdefghijklmnopqrstuvwxyz-")
				assert.Contains(t, f.Subtitle, "Fig. "+letter, "the source's figure is named in the picture")
			}
			last := f.Panels[len(f.Panels)-1][0]
			assert.NotEmpty(t, last.X.Label)
			assert.NotEmpty(t, last.Y.Label)
			for _, p := range f.each() {
				assert.NotEmpty(t, p.X.Name)
				assert.NotEmpty(t, p.Y.Name)
				for _, s := range p.Series {
					assert.Len(t, s.Y, len(s.X), s.Name)
					if s.Lower != nil {
						assert.Len(t, s.Lower, len(s.X), s.Name)
						assert.Len(t, s.Upper, len(s.X), s.Name)
					}
					for i := range s.Lower {
						assert.LessOrEqual(t, s.Lower[i], s.Upper[i], s.Name)
					}
				}
			}
			checkData(t, f)
			again := drawn(t, spec.Name)
			for format, check := range map[string]func(*testing.T, *Figure, []byte){"svg": checkSVG, "png": checkPNG, "pdf": checkPDF} {
				bytes := written(t, f, format)
				check(t, f, bytes)
				assert.True(t, slices.Equal(bytes, written(t, again, format)), "%s: the same bytes", format)
			}
			var one, two bytes.Buffer
			require.NoError(t, f.WriteData(&one))
			require.NoError(t, again.WriteData(&two))
			assert.Equal(t, one.String(), two.String())
		})
	}
}

// checkData reads the data back: as many lines as points, under the series' names, with the numbers that are drawn.
func checkData(t *testing.T, f *Figure) {
	var b bytes.Buffer
	require.NoError(t, f.WriteData(&b))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"panel", "series"}, rows[0][:2])
	rest := rows[1:]
	for _, p := range f.each() {
		if g := p.Cells; g != nil {
			at := slices.Index(rows[0], f.Scale.Name)
			require.Positive(t, at)
			for i := range g.X {
				for j := range g.Y {
					assert.Equal(t, digits(g.Z[i][j]), rest[0][at])
					rest = rest[1:]
				}
			}
		}
		for _, s := range p.Series {
			for i := range s.X {
				assert.Equal(t, s.Name, rest[0][1])
				y, err := strconv.ParseFloat(rest[0][3], 64)
				if !math.IsNaN(s.Y[i]) {
					require.NoError(t, err)
					assert.Equal(t, s.Y[i], y) //nolint:testifylint // all digits are written
				}
				rest = rest[1:]
			}
		}
	}
	assert.Empty(t, rest)
	assert.Greater(t, len(rows), 3)
}

// checkColours reads the colours of a picture: six hexadecimal digits, or none.
func checkColours(t *testing.T, file []byte) {
	t.Helper()
	colours := regexp.MustCompile(`(?:fill|stroke):([^;"]*)`).FindAllSubmatch(file, -1)
	assert.NotEmpty(t, colours)
	for _, c := range colours {
		assert.Regexp(t, `^(none|#[0-9A-F]{6})$`, string(c[1]))
	}
}

func checkSVG(t *testing.T, f *Figure, file []byte) {
	checkColours(t, file)
	decoder := xml.NewDecoder(bytes.NewReader(file))
	elements, text := map[string]int{}, ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			elements[x.Name.Local]++
		case xml.CharData:
			text += string(x)
		}
	}
	assert.Equal(t, 1, elements["title"])
	assert.Equal(t, 1, elements["desc"])
	assert.Contains(t, text, f.Subtitle)
	for _, p := range f.each() {
		for _, s := range p.Series {
			assert.Contains(t, text, s.Name, "the legend names every series")
		}
	}
}

func checkPNG(t *testing.T, _ *Figure, file []byte) {
	picture, err := png.Decode(bytes.NewReader(file))
	require.NoError(t, err)
	assert.InDelta(t, 6.5*pngResolution, picture.Bounds().Dx(), 1)
}

func checkPDF(t *testing.T, _ *Figure, file []byte) {
	assert.True(t, bytes.HasPrefix(file, []byte("%PDF-1.")))
	assert.True(t, bytes.Contains(file, []byte("/CreationDate (D:19700101")), "no time in the file")
	assert.True(t, bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF")))
}

func TestNamesOfFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Specs() {
		assert.False(t, seen[s.Name], s.Name)
		assert.Empty(t, Impossible[s.Name])
		seen[s.Name] = true
		for name := range s.Fast {
			assert.True(t, s.Has(name), "%s: %s", s.Name, name)
		}
	}
	for name, why := range Impossible {
		_, err := Lookup(name)
		require.ErrorIs(t, err, ErrParameter)
		assert.ErrorContains(t, err, why)
	}
	_, err := Lookup("pf1a")
	require.ErrorContains(t, err, `"pf1a"; research figure --list`)
}

// TestParameters: what is wrong with a parameter is said with its flag and a remedy, before anything is computed.
func TestParameters(t *testing.T) {
	for _, c := range []struct{ figure, name, value, want string }{
		{"pf-1a", "points", "1", `--points "1": give a whole number from 2`},
		{"pf-1a", "n", "x", `-n "x": give a whole number`},
		{"pf-1a", "eps", "0", `--eps "0": give a number from 1e-06`},
		{"pf-1b", "n", "2,1.5", "give whole numbers such as 2,3,8 or 2:6 from 2"},
		{"pf-2a", "objective", "square", "give paper or box"},
		{"pf-2a", "eps-range", "1", "give from:to"},
		{"pf-2a", "eps-range", "0:1", "1e-06 <= from"},
		{"pf-2b", "n", "3,4", "give a whole number"},
		{"pf-2a", "k", "3,4", "give a whole number"},
		{"pf-4", "c-range", "-1:1", "to <= 0"},
		{"resolution", "eps", "0.5,0", "give numbers, separated by commas, from 1e-06"},
		{"stopping-rule", "l", "8", "from 1 to n-1 = 7"},
		{"stopping-2", "p", "0.5,2", "from 0 to 1"},
		{"stopping-4", "l", "12", "from 1 to n-1 = 11"},
		{"witness", "mechanism", "nobody", "optratio mechanisms"},
	} {
		spec, err := Lookup(c.figure)
		require.NoError(t, err)
		given := maps.Clone(spec.Fast)
		given[c.name] = c.value
		a, err := spec.NewArgs(given, nil)
		require.NoError(t, err)
		_, err = spec.Draw(context.Background(), a)
		require.ErrorIs(t, err, ErrParameter, "%s %s", c.figure, c.value)
		assert.ErrorContains(t, err, c.want)
	}
	spec, err := Lookup("pf-1a")
	require.NoError(t, err)
	_, err = spec.NewArgs(map[string]string{"seed": "1"}, nil)
	assert.ErrorContains(t, err, "--seed: figure pf-1a has no such parameter; it has -n, --eps, --points")
}

// TestLimits: a figure ends with its context.
func TestLimits(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	for _, name := range []string{"pf-2a", "worst-ratio", "resolution"} {
		spec, err := Lookup(name)
		require.NoError(t, err)
		a, err := spec.NewArgs(nil, nil)
		require.NoError(t, err)
		_, err = spec.Draw(ctx, a)
		require.ErrorIs(t, err, why, name)
	}
}
