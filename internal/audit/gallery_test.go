package audit

import (
	"bufio"
	"context"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/verify"
)

// buildGallery compiles the gallery and returns its path.
func buildGallery(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gallery")
	out, err := exec.Command("go", "build", "-o", path, "./testdata/gallery").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func TestGallery(t *testing.T) {
	slowtest.Only(t)
	t.Parallel()
	gallery := buildGallery(t)
	f, err := os.Open("testdata/gallery/verdicts.txt")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Fields(lines.Text())
		t.Run(fields[0]+"/"+fields[2], func(t *testing.T) {
			n, err := strconv.Atoi(fields[1])
			require.NoError(t, err)
			o := Options{
				N: n, K: 2, Domain: "lattice", Monotonic: fields[2] == "monotonic", Epsilon: epsilon(t, "1"), Sensitivity: big.NewRat(1, 1),
				Seed: 1, Precision: big.NewRat(1, 1e9), program: Program{Timeout: 5 * time.Minute},
			}
			if fields[0] == "hang" {
				o.program.Timeout = 100 * time.Millisecond
			}
			r, err := pmfOf(context.Background(), gallery+" "+fields[0], o)
			require.NoError(t, err)
			rest := fields[4:]
			switch fields[3] {
			case "inf":
				require.True(t, r.TightEps.IsInf(), "%v", r.TightEps)
			case "-":
				_, bounded := r.TightEps.Upper()
				require.False(t, r.TightEps.IsValid() && bounded, "%v", r.TightEps)
			default:
				rest = fields[5:]
				low, err := strconv.ParseFloat(fields[3], 64)
				require.NoError(t, err)
				high, err := strconv.ParseFloat(fields[4], 64)
				require.NoError(t, err)
				require.GreaterOrEqual(t, r.TightEps.Float64(), low-1e-8)
				require.LessOrEqual(t, r.TightEps.Float64(), high+1e-8)
			}
			want := map[string]string{}
			for _, text := range rest {
				name, verdict, ok := strings.Cut(text, "=")
				require.True(t, ok, text)
				want[name] = verdict
			}
			require.Len(t, r.Properties, 7)
			for _, p := range r.Properties {
				verdict := string(verify.Proved)
				if v, ok := want[string(p.Name)]; ok {
					verdict = v
				}
				require.Equal(t, verdict, string(p.Verdict), "%s: %s %v", p.Name, p.Reason, p.Witness)
				if p.Verdict == verify.Violated {
					require.True(t, p.Witness != nil || p.Name == Answers, p.Name)
					t.Logf("%s: %v %s", p.Name, p.Witness, p.Reason)
				}
			}
		})
	}
	require.NoError(t, lines.Err())
}
