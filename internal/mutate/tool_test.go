package mutate

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

const subject = `package p

// Clamp returns x within [lo, hi].
func Clamp(x, lo, hi int) int {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// Count counts the numbers below n that f likes.
func Count(n int, f func(int) bool) (c int) {
	for i := 0; i < n; i++ {
		if f(i) {
			c++
		}
	}
	return c
}
`

const strong = `package p

import "testing"

func Test(t *testing.T) {
	for _, c := range [][4]int{{1, 2, 3, 2}, {2, 2, 3, 2}, {3, 2, 3, 3}, {4, 2, 3, 3}, {5, 2, 9, 5}} {
		if got := Clamp(c[0], c[1], c[2]); got != c[3] {
			t.Error(c, got)
		}
	}
	if got := Count(4, func(i int) bool { return i%4 == 0 || i < 0 }); got != 1 {
		t.Error(got)
	}
}
`

const weak = `package p

import "testing"

func Test(t *testing.T) {
	if Clamp(2, 1, 3) != 2 {
		t.Error()
	}
}
`

// makeModule writes a module with one package, p, and returns its folder.
func makeModule(t *testing.T, tests string) string {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "p"), 0o777))
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.24\n", "p/p.go": subject, "p/p_test.go": tests} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o666))
	}
	return root
}

// TestMutantsOfASource has every mutant of a small package, as the list of equivalents names them.
func TestMutantsOfASource(t *testing.T) {
	p, err := load(makeModule(t, strong), "m", target{pkg: "p"})
	require.NoError(t, err)
	var ids []string
	for _, m := range p.mutants() {
		if p.check(m) == nil {
			ids = append(ids, strings.TrimPrefix(m.id, "p/p.go: "))
		}
	}
	want := []string{
		"Clamp: if x < lo { => if x <= lo {",
		"Clamp: if x < lo { => if x >= lo {",
		"Clamp: if x < lo { => if x < hi {",
		"Clamp: if x < lo { return lo } => nothing",
		"Clamp: return lo => return 0",
		"Clamp: return lo => return hi",
		"Clamp: if x > hi { => if x >= hi {",
		"Clamp: if x > hi { => if x <= hi {",
		"Clamp: if x > hi { => if x > lo {",
		"Clamp: if x > hi { return hi } => nothing",
		"Clamp: return hi => return 0",
		"Clamp: return hi => return lo",
		"Clamp: return x => return 0",
		"Count: for i := 0; i < n; i++ { => for i := 1; i < n; i++ {",
		"Count: for i := 0; i < n; i++ { => for i := -1; i < n; i++ {",
		"Count: for i := 0; i < n; i++ { => for i := 0; i <= n; i++ {",
		"Count: for i := 0; i < n; i++ { => for i := 0; i >= n; i++ {",
		"Count: for i := 0; i < n; i++ { => for i := 0; i < n; i-- {",
		"Count: for i := 0; i < n; i++ { => for i := 0; i < n; {",
		"Count: if f(i) { => if !f(i) {",
		"Count: if f(i) { c++ } => nothing",
		"Count: c++ => c--",
		"Count: c++ => nothing",
		"Count: return c => return 0",
	}
	slices.Sort(want)
	slices.Sort(ids)
	assert.Equal(t, want, ids)
}

// TestScores runs the tester on tests that notice everything but what is the same, and on tests that notice little. An endless
// loop counts as noticed.
func TestScores(t *testing.T) {
	slowtest.Only(t)
	if testing.Short() {
		t.Skip("compiles some thirty programs")
	}
	var log bytes.Buffer
	any, err := parseOnly("")
	require.NoError(t, err)
	same := []string{"p/p.go: Clamp: if x < lo { => if x <= lo {", "p/p.go: Clamp: if x > hi { => if x >= hi {"}
	list := map[string]string{same[0]: "x = lo then", "p/p.go: Count: c++ => c--": "wrong", "p/p.go: gone": "stale", "q/q.go: other": "package"}
	r, err := run(makeModule(t, strong), "m", target{pkg: "p"}, 0, 2, any, list, &log)
	require.NoError(t, err)
	assert.Equal(t, same[1:], r.survivors)
	assert.Equal(t, []int{22, 1}, []int{r.killed, r.equivalent})
	assert.Contains(t, log.String(), "survived: "+same[1]+"\n") // beside lines that say how far it is
	assert.Equal(t, 1, strings.Count(log.String(), "survived: "))
	assert.ElementsMatch(t, []string{"no such mutant: p/p.go: gone", "a test kills p/p.go: Count: c++ => c--"}, r.wrong)
	assert.Equal(t, 22.0/23, r.score())
	assert.Contains(t, r.String(), "| p | 24 | 24 | 22 | 1 | 1 | 95.7 % | 2 |")

	r, err = run(makeModule(t, weak), "m", target{pkg: "p"}, 5, 1, any, nil, &log)
	require.NoError(t, err)
	assert.Equal(t, 5, r.killed+len(r.survivors))
	assert.Less(t, r.score(), goal)

	_, err = run(makeModule(t, strings.Replace(strong, "got != 1", "got == 1", 1)), "m", target{pkg: "p"}, 5, 1, any, nil, &log)
	assert.ErrorContains(t, err, "do not pass on the source itself")
}

func TestOnly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "names")
	require.NoError(t, os.WriteFile(name, []byte("a.go: f\nb.go\n"), 0o666))
	for text, want := range map[string][]bool{"": {true, true, true}, "a.go": {true, true, false}, "a.go: f": {true, false, false}, "@" + name: {true, false, true}} {
		wanted, err := parseOnly(text)
		require.NoError(t, err)
		for i, id := range []string{"p/a.go: f: x => y", "p/a.go: g: x => y", "p/b.go: f: x => y"} {
			assert.Equal(t, want[i], wanted(id), "%s, %s", text, id)
		}
	}
	_, err := parseOnly("@" + name + "x")
	assert.Error(t, err)
}

func TestListOfEquivalents(t *testing.T) {
	read := func(text string) (map[string]string, error) {
		name := filepath.Join(t.TempDir(), "list")
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		return readEquivalents(name)
	}
	list, err := read("# comment\n\na: f: x => y\nb: g: x => y\n\tsame\n  for both\nc: h: x => y\n\talone\n")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a: f: x => y": "same for both", "b: g: x => y": "same for both", "c: h: x => y": "alone"}, list)
	for _, text := range []string{"a\n", "\treason\n", "a\n\tb\na\n\tb\n", "a\n\tb\nc\n"} {
		_, err := read(text)
		assert.Error(t, err, text)
	}
	_, err = readEquivalents(equivalents)
	assert.NoError(t, err)
}

// Whoever changes a line that the list of equivalents names is told so by the ordinary tests.
func TestListedMutantsExist(t *testing.T) {
	slowtest.Only(t)
	if testing.Short() {
		t.Skip("loads every package of the list")
	}
	list, err := readEquivalents(equivalents)
	require.NoError(t, err)
	missing := map[string]map[string]bool{}
	for id := range list {
		dir, _ := filepath.Split(strings.SplitN(id, ":", 2)[0])
		dir = strings.TrimSuffix(dir, "/")
		if missing[dir] == nil {
			missing[dir] = map[string]bool{}
		}
		missing[dir][id] = true
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	for dir, ids := range missing {
		p, err := load(root, module, target{pkg: dir})
		require.NoError(t, err)
		for _, m := range p.mutants() {
			delete(ids, m.id)
		}
		for id := range ids {
			t.Errorf("%s: no such mutant: %s", equivalents, id)
		}
	}
}
