package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
	"optratio/internal/job"
	"optratio/internal/slowtest"
	"optratio/verify/certificate"
)

// asker makes up command lines that ask for a certificate.
type asker struct {
	*rand.Rand
	dir string
}

func (a *asker) one(of ...string) string { return of[a.IntN(len(of))] }

// some returns a flag and one of its values, or nothing as often.
func (a *asker) some(flag string, of ...string) []string {
	if a.IntN(2) == 0 {
		return nil
	}
	return []string{"--" + flag, a.one(of...)}
}

func (a *asker) epsilon() []string {
	if a.IntN(2) == 0 {
		return []string{"--eps", a.one("0", "0.01", "0.3", "1", "2.5", "8", "20")}
	}
	return []string{"--exp-eps", a.one("1", "101/100", "3/2", "2", "7", "1000")}
}

func (a *asker) small(from, to int) string { return fmt.Sprint(from + a.IntN(to-from+1)) }

func (a *asker) file(name, text string) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		panic(err)
	}
	return path
}

// row states a distribution of so many outcomes: as fractions, decimals, or numbers that do not sum to 1 exactly; of labels, if there are any.
func (a *asker) row(n int, labels []string) string {
	parts, sum := make([]int64, n), int64(0)
	for sum == 0 {
		for i := range parts {
			parts[i] = int64(a.IntN(5) * (1 + a.IntN(30)))
			sum += parts[i]
		}
	}
	as := a.IntN(3)
	var out []string
	for i, p := range parts {
		x := big.NewRat(p, sum)
		text := `"` + x.RatString() + `"`
		if f, _ := x.Float64(); as == 1 {
			text = fmt.Sprint(f)
		} else if as == 2 {
			text = fmt.Sprintf("%.3e", f)
		}
		if labels != nil {
			name, _ := json.Marshal(labels[i])
			text = string(name) + ":" + text
		}
		out = append(out, text)
	}
	if labels != nil {
		return "{" + strings.Join(out, ",") + "}"
	}
	return "[" + strings.Join(out, ",") + "]"
}

// facing are the flags that say what an audit is to decide.
func (a *asker) facing() []string {
	return slices.Concat(a.epsilon(), a.some("delta", "0", "1/100", "0.2"), a.some("rho", "0.1"), a.some("range", "1"), a.some("slack", "0", "1e-6", "0.1"),
		a.some("pmf-precision", "0", "1e-9", "1e-3"), a.some("property", "dp", "dp,approximate-dp", "approximate-dp,bounded-range", "bounded-range", "zcdp,dp"), a.claims())
}

// claims are of Rényi divergences.
func (a *asker) claims() []string {
	if a.IntN(3) > 0 {
		return nil
	}
	return []string{"--order", a.one("2", "1,3/2,inf"), "--claimed", a.one("0", "0.2", "1")}
}

// names has labels, and JSON strings, that are hard to write down.
var names = []string{"a", "error", "<b> & c", "new\nline", "ü\u2028\u202e", "\U0001f600", `q"uote\`, ""}

// inputs asks about a table of inputs.
func (a *asker) inputs() []string {
	values := []string{`"a"`, `[3, 1]`, `{"k": 1e400, "a": [true, null]}`, `1.50`, `"\ud83d\ude00 <&>"`, `-7`, `"` + "\u2028" + `"`, `{"b": {}}`}
	n, outcomes := 2+a.IntN(5), 1+a.IntN(4)
	var labels []string
	if a.IntN(2) == 0 {
		labels = names
	}
	var table, pairs strings.Builder
	if a.IntN(3) == 0 {
		pairs.WriteString("\"oneway\"\n")
	}
	for i := range n {
		fmt.Fprintf(&table, `{"input":%s,"pmf":%s}`+"\n", values[i], a.row(outcomes, labels))
		if i > 0 {
			fmt.Fprintf(&pairs, "%d,%d%s\n", i, a.IntN(i), a.one("", "", ",2", ",1/3", ",0.5"))
		}
	}
	return slices.Concat([]string{"audit", "--pmf-file", a.file("table", table.String()), "--inputs", a.file("inputs", strings.Join(values[:n], "\n")),
		"--neighbors", a.file("pairs", pairs.String()), "--outcomes", job.Choose(labels != nil, "labels", "index")}, a.facing())
}

// table asks about a table of score vectors.
func (a *asker) table() []string {
	n := 2 + a.IntN(3)
	var labels []string
	if a.IntN(4) == 0 {
		labels = names
	}
	var rows strings.Builder
	var all []string
	for range 2 + a.IntN(6) {
		scores := make([]string, n)
		for i := range scores {
			scores[i] = a.one("0", "-1", "1", "-2", "0.5", "1/3")
		}
		key := strings.Join(scores, ",")
		if slices.Contains(all, key) {
			continue
		}
		all = append(all, key)
		quoted := strings.ReplaceAll(key, "1/3", `"1/3"`)
		fmt.Fprintf(&rows, `{"scores":[%s],"pmf":%s}`+"\n", quoted, a.row(n, labels))
	}
	out := slices.Concat([]string{"audit", "--pmf-file", a.file("table", rows.String()), "--outcomes", job.Choose(labels != nil, "labels", "index")}, a.facing())
	switch a.IntN(4) {
	case 0:
		out = append(out, "--neighbors", a.file("pairs", all[0]+";"+all[len(all)-1]+"\n"))
	case 1:
		out = append(out, "--neighbors", "monotonic", "--sensitivity", a.one("1", "2", "1/2"))
	case 2:
		out = append(out, "--neighbors", "shifted")
	}
	return out
}

// program asks about a program that answers some questions alike, some wrong and some not at all.
func (a *asker) program() []string {
	answer := func() string {
		return a.one(`{"error":"no"}`, `{"pmf":`+a.row(2, nil)+`}`, `{"pmf":`+a.row(2, nil)+`}`, `{"pmf":[0.2,0.2]}`)
	}
	script := "while read l; do case $l in *'[0,-2]'*) echo '" + answer() + "';; *'[0,0]'*) echo '" + answer() + "';; *) echo '" + answer() + "';; esac; done\n"
	return slices.Concat([]string{"audit", "--pmf-exec", "sh " + a.file("program", script), "-n", "2", "-k", "1", "--domain", a.one("lattice", "half-lattice")},
		a.facing(), a.some("neighbors", "linf", "monotonic"))
}

func (a *asker) verify() []string {
	out := slices.Concat([]string{"verify", "--mechanism", a.one("em", "pf", "krr", "krr", "rnm-gumbel", "rnm-exponential", "krr")}, a.epsilon(), a.some("sensitivity", "1", "2", "1/3"),
		a.some("delta", "0", "1/1000", "0.3"), a.some("range", "0.1"), a.some("rho", "0.01"),
		a.some("property", "dp,dominates-em", "approximate-dp", "dominates-em", "sum,dp"), a.claims())
	switch a.IntN(3) {
	case 0:
		return append(out, "--domain", a.file("domain", "0,-1,-2\n0,0,0\n1/3,0.5,-7\n"), "--neighbors", a.one("linf", "monotonic"))
	case 1:
		out = append(out, "--monotonic-scores")
	case 2:
		out = append(out, "--step", a.one("2delta", "delta", "2delta/3"))
	}
	return append(out, "-n", a.small(1, 3), "-k", a.small(1, 2))
}

func (a *asker) ratio() []string {
	out := slices.Concat([]string{"ratio", "-n", a.small(1, 4), "-k", a.small(1, 3), "--gap", a.one("1e-9", "1e-3")}, a.epsilon(), a.some("constraints", "dp", "monotone", "full"),
		a.some("mechanism", "em", "pf,em,krr"), a.some("method", "auto", "lp", "lumped", "closed-form"))
	switch a.IntN(8) {
	case 6:
		return append(out, "--loss", a.file("loss", "0\n1/2\n1\n7/3\n3\n3\n3\n"), "--method", a.one("auto", "lp"))
	case 7:
		return append(out, "--prior", "product:"+a.file("factors", "1\n1/2\n0.3\n1/7\n"), "--step", "2delta")
	case 0:
		return append(out, a.one("--objective=box", "--worst"))
	case 1:
		return append(out, "--step", a.one("delta", "2delta/3"), "--loss", a.one("mean", "square", "top1", "tail:1"))
	case 2:
		return append(out, "--prior", a.one("box", "geometric:0.8", "uniform"), "--loss", a.one("mean", "square", "top1"))
	case 3:
		return append(out, "--delta", a.one("0", "1/100", "1"))
	case 4:
		return append(out, "--monotonic-scores", "--sensitivity", "2")
	}
	return out
}

func (a *asker) optimum() []string {
	out := slices.Concat([]string{"optimum"}, a.epsilon(), a.some("delta", "0", "1/10", "1/1000"))
	if a.IntN(3) == 0 {
		return append(out, "--preset", a.one("count:4", "krr:3", "grid:2x2", "partition:3", "selection:3,1", "histogram:3,2"))
	}
	n, m := 2+a.IntN(3), 1+a.IntN(4)
	var loss, pairs, forbidden []string
	for x := range n {
		var row []string
		for range m {
			row = append(row, a.one(`"0"`, `"1/3"`, `"1"`, `"5/2"`, `4`))
		}
		loss = append(loss, "["+strings.Join(row, ",")+"]")
		if x > 0 {
			pairs = append(pairs, fmt.Sprintf(`["%d","%d"%s]`, x, a.IntN(x), a.one("", "", `,"3/2"`, `,"0"`)))
		}
		if m > 1 && a.IntN(4) == 0 {
			forbidden = append(forbidden, fmt.Sprintf(`["%d","o%d"]`, x, a.IntN(m)))
		}
	}
	list := func(prefix string, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%q", prefix+fmt.Sprint(i)))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	text := fmt.Sprintf(`{"inputs":%s,"outputs":%s,"pairs":[%s],"loss":[%s],"prior":%s,"forbidden":[%s],"directed":%s}`, list("", n), list("o", m), strings.Join(pairs, ","),
		strings.Join(loss, ","), a.one(`"uniform"`, `"worst"`), strings.Join(forbidden, ","), a.one("false", "false", "true"))
	return append(out, a.file("problem.json", text))
}

func (a *asker) others() []string {
	switch a.IntN(3) {
	case 0:
		return slices.Concat([]string{"topk", "-n", a.small(3, 4), "-k", a.small(1, 2), "--top", a.small(1, 2)}, a.epsilon())
	case 1:
		return slices.Concat([]string{"heterogeneous", "--sensitivities", a.one("1,2", "1,1,2", "1/2,3"), "--grid", a.one("0:3:1", "-1:1:1/2"), "--mechanism", "geo,em"}, a.epsilon(),
			a.some("loss", "mean", "square"), []string{a.one("--json", "--worst", "--shift-invariant")}, []string{"--time-limit", "20s"})
	}
	return slices.Concat([]string{"stopping", "--lp", "-n", a.small(3, 12), "--win", a.small(1, 2), "-l", a.small(1, 2)}, a.epsilon(), a.some("delta", "0", "1/100"))
}

// TestCertificatesRefused: where there can be no certificate, --cert is refused before any work, by the command that it is given to.
func TestCertificatesRefused(t *testing.T) {
	dir := t.TempDir()
	cert, long := filepath.Join(dir, "cert"), "0."+strings.Repeat("3", 1500)
	pairs := filepath.Join(dir, "problem.json")
	require.NoError(t, os.WriteFile(pairs, []byte(`{"inputs":["a","b"],"outputs":["o"],"pairs":[["a","b"]],"loss":[["0"],["1"]]}`), 0o644))
	for line, want := range map[string]string{
		"audit --pmf-exec false --eps 1 --property symmetry":          "ask about one of them",
		"audit --sample-exec false --eps 1":                           "samples prove nothing",
		"audit --pmf-exec false --eps " + long:                        "4096 bits",
		"verify --mechanism em -n 9 -k 9 --eps 1 --property zcdp,sum": "ask about one of them",
		"verify --mechanism rnm-laplace -n 9 -k 9 --eps 1":            "the checker knows the probabilities of",
		"verify --mechanism em -n 9 -k 9 --eps " + long:               "4096 bits",
		"ratio -n 9 -k 9 --eps " + long:                               "4096 bits",
		"ratio -n 9 -k 9 --eps 1,2":                                   "a certificate is about one ε",
		"ratio -n 20 -k 20 --eps 1 --method lp":                       "more variables here than the checker",
		"ratio -n 20 -k 20 --eps 1 --delta 0.1":                       "takes; use smaller n or k",
		"ratio -n 4 -k 4 --eps 1 --loss top1 --method closed-form":    "closed-form proves no certificate",
		"topk -n 9 -k 5 --eps " + long:                                "4096 bits",
		"heterogeneous --sensitivities 1,2 --grid 0:20 --eps " + long: "4096 bits",
		"stopping -n 2000 --eps 1":                                    "at most 1000",
		"stopping -n 100":                                             "give --eps",
		"stopping -n 100 --lp --eps " + long:                          "4096 bits",
		"optimum " + pairs + " --eps " + long:                         "4096 bits",
		"compose --step em:0.1:2,pf:" + long + ":1 --delta 1e-6":      "4096 bits",
		"optimum " + pairs + " --eps 1251":                            "of at most 1250; give --exp-eps",
		"ratio -n 9 -k 9 --method lp --eps 8000":                      "of at most 1250; give --exp-eps",
		"topk -n 9 -k 5 --eps 2500":                                   "of at most 1250; give --exp-eps",
		"heterogeneous --sensitivities 1,2 --grid 0:20 --eps 2500":    "of at most 1250; give --exp-eps",
	} {
		code, out, said := quietly(append(strings.Fields(line), "--cert", cert)...)
		assert.Equal(t, command.Usage, code, "%.80s: %s", line, said)
		assert.Contains(t, said, want, "%.80s", line)
		assert.Empty(t, out, "%.80s", line)
		assert.NoFileExists(t, cert)
	}
}

// TestCertificatesAreValid: whatever command writes a certificate, the checker accepts it, and a violation of privacy by stated numbers has one. Nothing but what was
// asked for changes: the exit code is the one without --cert.
func TestCertificatesAreValid(t *testing.T) {
	each := 16
	if slowtest.Enabled {
		each = 120
	}
	a := &asker{dir: t.TempDir()}
	for i, ask := range []func() []string{a.program, a.inputs, a.table, a.verify, a.ratio, a.optimum, a.others} {
		each := each
		if i == 0 { // programs take their time
			each /= 4
		}
		a.Rand = rand.New(rand.NewPCG(35, uint64(i)))
		name := ask()[0] + fmt.Sprint(i)
		written, want := 0, 0
		for range each {
			args := ask()
			cert := filepath.Join(a.dir, "cert")
			code, _, said := quietly(append(args, "--cert", cert)...)
			line := fmt.Sprintf("optratio %q: exit %d, %s", args, code, said)
			require.NotContains(t, said, "internal", line)
			if code == command.Usage {
				require.Contains(t, said, "optratio: ", line)
				continue
			}
			if strings.Contains(said, "violated: dp") || strings.Contains(said, "violated: approximate-dp") || strings.Contains(said, "violated: rdp:") {
				want++
				require.FileExists(t, cert, line)
			}
			data, err := os.ReadFile(cert)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			require.NoError(t, err)
			r, err := certificate.Check(bytes.NewReader(data), certificate.Options{})
			require.NoError(t, err, line)
			require.True(t, r.Valid, "%s\n%s\n%s", line, r.Reason, data)
			require.NoError(t, os.Remove(cert))
			written++
		}
		t.Logf("%s: %d certificates", name, written)
		assert.GreaterOrEqual(t, written, each/8, name)
		assert.LessOrEqual(t, want, written, name)
	}
}

// An audit that proves DP writes its probabilities and pairs, in the form that the checker decides; what holds to within a precision alone has no certificate.
func TestCertificatesOfProofs(t *testing.T) {
	a := &asker{rand.New(rand.NewPCG(40, 5)), t.TempDir()}
	cert := filepath.Join(a.dir, "cert")
	for _, q := range []struct{ rows, eps, lines string }{
		{`{"scores":[0,-1],"pmf":["2/3","1/3"]}` + "\n" + `{"scores":[-1,0],"pmf":["1/3","2/3"]}` + "\n", "2", "input 0 -1\npmf 2/3 1/3\ninput -1 0\npmf 1/3 2/3\npair 0 1 1\n"},
		{`{"scores":[0,-1],"pmf":["2/3","1/3"]}` + "\n" + `{"scores":[-1,0],"pmf":[0.3333333333,"2/3"]}` + "\n", "2", ""}, // tight, and not known exactly
	} {
		code, _, said := quietly("audit", "--pmf-file", a.file("table", q.rows), "--exp-eps", q.eps, "--cert", cert)
		require.Zero(t, code, said)
		data, err := os.ReadFile(cert)
		if q.lines == "" {
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.Contains(t, said, "to within")
			continue
		}
		require.NoError(t, err, said)
		require.Contains(t, string(data), q.lines)
		r, err := certificate.Check(bytes.NewReader(data), certificate.Options{})
		require.NoError(t, err)
		require.True(t, r.Valid, r.Reason)
		require.NoError(t, os.Remove(cert))
	}
}
