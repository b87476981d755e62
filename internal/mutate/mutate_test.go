package mutate

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	packages = flag.String("packages", "", "packages to mutate, as in number,lp; all: every one of the list")
	sample   = flag.Int("sample", 100, "mutants a package, drawn at random; 0: every one")
	seed     = flag.Int("seed", 1, "of the sample")
	tests    = flag.String("tests", "", "tests to run in place of those of the list: survivors of fewer tests are tried again with all")
	only     = flag.String("only", "", "text that the names of the mutants to try have in them; a file of such texts, one per line, after @")
)

const (
	module      = "optratio"
	equivalents = "equivalents.txt" // mutants that behave as the source does, each with the reason
	goal        = 0.9               // the share of mutants that tests must kill
)

// A target is a package to mutate, some of its files if not all, and the tests to run if not all.
type target struct {
	pkg   string
	files []string
	run   string
}

var targets = []target{
	{pkg: "number"},
	{pkg: "internal/arith"},
	{pkg: "verify/certificate"},
	{pkg: "internal/evidence"},
	{pkg: "lp", files: []string{"closed.go"}, run: "FlipTotal|ClosedBound|DualPoint"},
	{pkg: "lp", files: []string{"total.go"}, run: "FlipTotal|ExponentialTotal|OfTotals|SizesOf|StoppedSums|OptimalMechanismAttains"},
	{pkg: "lp", files: []string{"threshold.go"}, run: "Threshold|Simplest"},
	{pkg: "lp", files: []string{"optimality.go"}, run: "ThresholdDecides|DualPoint|ThresholdIsSharp|ThresholdTable"},
	{pkg: "internal/lumped", files: []string{"bound.go", "dual.go", "weight.go"}},
	{pkg: "internal/table"},
	{pkg: "verify"},
	{pkg: "proptest"},
	{pkg: "internal/audit", files: []string{"bet.go", "wealth.go", "independence.go"},
		run: "Bet|Wealth|Reached|Levels|Tail|LogFactorial|Confidence|Tie|Independence|Stake|Fit|Repeated|KeptOrRefuted|Reproducible"},
}

// TestMutants is the mutation tester. It fails where a mutant survives that is not listed as equivalent, and where the
// list names a mutant that does not exist or that a test does kill.
func TestMutants(t *testing.T) {
	if *packages == "" {
		t.Skip("no -packages; see make mutate")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	list, err := readEquivalents(equivalents)
	require.NoError(t, err)
	wanted, err := parseOnly(*only)
	require.NoError(t, err)
	fmt.Println("| package | mutants | tried | killed | equivalent | survived | score | seed | time |\n|---|---|---|---|---|---|---|---|---|")
	var rows []string
	for _, tg := range targets {
		tg.run = cmp.Or(*tests, tg.run)
		if *packages == "all" || slices.Contains(strings.Split(*packages, ","), tg.pkg) {
			r, err := run(root, module, tg, *sample, *seed, wanted, list, os.Stderr)
			require.NoError(t, err)
			fmt.Println(r)
			rows = append(rows, r.String())
			for _, s := range r.survivors {
				t.Errorf("survived: %s", s)
			}
			for _, s := range r.wrong {
				t.Errorf("%s: %s", equivalents, s)
			}
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no package %s in the list of targets", *packages)
	}
}

// A result counts what became of the mutants of a package.
type result struct {
	target
	all, killed, equivalent int
	survivors, wrong        []string
	seed                    int
	took                    time.Duration
}

func (r result) score() float64 {
	return float64(r.killed) / float64(max(1, r.killed+len(r.survivors)))
}

func (r result) String() string {
	name := r.pkg
	if r.files != nil {
		name += " (" + strings.Join(r.files, ", ") + ")"
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %.1f %% | %d | %v |", name, r.all, r.killed+r.equivalent+len(r.survivors), r.killed, r.equivalent,
		len(r.survivors), 100*r.score(), r.seed, r.took.Round(time.Second))
}

// parseOnly returns what the flag only asks for.
func parseOnly(s string) (func(id string) bool, error) {
	texts := []string{s}
	if name, file := strings.CutPrefix(s, "@"); file {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts = strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	return func(id string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(id, text) })
	}, nil
}

// run tries a sample of the mutants of a package, of those that are wanted, each with the package's short tests.
func run(root, module string, tg target, sample, seed int, wanted func(id string) bool, list map[string]string, log io.Writer) (r result, err error) {
	r = result{target: tg, seed: seed}
	begin := time.Now()
	defer func() { r.took = time.Since(begin) }()
	p, err := load(root, module, tg)
	if err != nil {
		return r, err
	}
	mutants := p.mutants()
	r.all = len(mutants)
	known := map[string]bool{}
	for _, m := range mutants {
		known[m.id] = true
	}
	for id := range list {
		dir, file := filepath.Split(strings.SplitN(id, ":", 2)[0])
		if dir == tg.pkg+"/" && (tg.files == nil || slices.Contains(tg.files, file)) && !known[id] {
			r.wrong = append(r.wrong, "no such mutant: "+id)
		}
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !wanted(m.id) })
	if len(mutants) == 0 {
		return r, nil
	}
	slices.SortFunc(mutants, func(a, b mutant) int { return cmp.Compare(a.rank(seed), b.rank(seed)) })
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	v, used, out := p.try(dir, nil, 10*time.Minute)
	if v != passed {
		return r, fmt.Errorf("%s: the tests do not pass on the source itself:\n%s", tg.pkg, out)
	}
	limit := 2*time.Second + 2*used
	tried := 0
	for _, m := range mutants {
		if sample > 0 && tried == sample {
			break
		}
		if p.check(m) != nil {
			continue // not Go
		}
		v, _, out := p.try(dir, &m, limit)
		if v == unbuilt {
			return r, fmt.Errorf("%s: type-checks but does not compile:\n%s", m.id, out)
		}
		if tried++; tried%10 == 0 {
			fmt.Fprintf(log, "%s: %d tried, %d survived, %v\n", tg.pkg, tried, len(r.survivors), time.Since(begin).Round(time.Second))
		}
		_, listed := list[m.id]
		switch {
		case v == failed && listed:
			r.wrong = append(r.wrong, "a test kills "+m.id)
			r.killed++
		case v == failed:
			r.killed++
		case listed:
			r.equivalent++
		default:
			r.survivors = append(r.survivors, m.id)
			fmt.Fprintf(log, "survived: %s\n", m.id)
		}
	}
	return r, nil
}

// loaded is a package with its types.
type loaded struct {
	target
	root, path string
	fset       *token.FileSet
	names      []string // of the files
	sources    map[string][]byte
	files      map[string]*ast.File
	info       *types.Info
	imports    types.Importer
}

// load reads, parses and type-checks a package. Its imports come from the compiler's export data.
func load(root, module string, tg target) (*loaded, error) {
	p := &loaded{target: tg, root: root, path: module + "/" + tg.pkg, fset: token.NewFileSet(), sources: map[string][]byte{}, files: map[string]*ast.File{}}
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", "./"+tg.pkg)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
		}
		if err := dec.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if l.ImportPath == p.path {
			for _, f := range l.GoFiles {
				p.names = append(p.names, filepath.Join(l.Dir, f))
			}
		}
	}
	p.imports = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, name := range p.names {
		if p.sources[name], err = os.ReadFile(name); err != nil {
			return nil, err
		}
		if p.files[name], err = parser.ParseFile(p.fset, name, p.sources[name], parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	return p, p.types("", nil, p.info)
}

// types type-checks the package with file as one of its files.
func (p *loaded) types(name string, file *ast.File, info *types.Info) error {
	var files []*ast.File
	for _, n := range p.names {
		if n == name {
			files = append(files, file)
		} else {
			files = append(files, p.files[n])
		}
	}
	conf := types.Config{Importer: p.imports}
	_, err := conf.Check(p.path, p.fset, files, info)
	return err
}

// check reports why the package with a mutant is not Go, and nil if it is.
func (p *loaded) check(m mutant) error {
	file, err := parser.ParseFile(p.fset, m.file, m.apply(p.sources[m.file]), parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	return p.types(m.file, file, nil)
}

func (p *loaded) mutants() []mutant {
	var all []mutant
	for _, name := range p.names {
		if p.target.files == nil || slices.Contains(p.target.files, filepath.Base(name)) {
			all = append(all, mutantsOf(p.fset, p.info, p.files[name], p.pkg+"/"+filepath.Base(name), p.sources[name])...)
		}
	}
	return all
}

type verdict int

const (
	passed verdict = iota
	failed         // or out of time or memory
	unbuilt
)

// script runs the test binary with little priority, for so many seconds of processor time, and with at most 6 GB of addresses: a
// mutant that does not end, and one that allocates without end, fail and do no harm, however busy the machine is.
const script = `ulimit -v 6000000; ulimit -t $0; exec nice "$@"`

// try runs the package's tests with a mutant, or without one, and returns the processor time they took. The source tree stays
// as it is: the compiler reads the changed file in place of the original.
func (p *loaded) try(dir string, m *mutant, limit time.Duration) (v verdict, used time.Duration, output string) {
	binary := filepath.Join(dir, "tests")
	build := []string{"go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}
	if m != nil {
		changed, overlay := filepath.Join(dir, filepath.Base(m.file)), filepath.Join(dir, "overlay.json")
		text, _ := json.Marshal(map[string]any{"Replace": map[string]string{m.file: changed}})
		if err := os.WriteFile(changed, m.apply(p.sources[m.file]), 0o666); err != nil {
			return unbuilt, 0, err.Error()
		}
		if err := os.WriteFile(overlay, text, 0o666); err != nil {
			return unbuilt, 0, err.Error()
		}
		build = append(build, "-overlay", overlay)
	}
	cmd := exec.Command("nice", append(build, "./"+p.pkg)...)
	cmd.Dir = p.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return unbuilt, 0, string(out)
	}
	// The limit on processor time does not end a test that waits for ever. On a busy machine a test with low priority may wait
	// long for its turn, and must not count as noticed for that.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+20*limit)
	defer cancel()
	cmd = exec.CommandContext(ctx, "sh", "-c", script, fmt.Sprint(int(limit.Seconds())), binary, "-test.short", "-test.failfast", "-test.run="+p.run, "-test.timeout=0")
	cmd.Dir = filepath.Join(p.root, p.pkg)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return failed, 0, string(out)
	}
	return passed, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), ""
}

// readEquivalents reads the list of equivalent mutants: a line with the mutant, as the tester prints it, then indented lines with
// the reason. Several mutants in a row share a reason. Empty lines and lines that start with # say nothing.
func readEquivalents(name string) (map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list := map[string]string{}
	var ids []string
	reasoned := false
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || strings.HasPrefix(line, "#"):
		case trimmed != line && len(ids) == 0:
			return nil, fmt.Errorf("%s:%d: a reason without a mutant", name, n)
		case line[0] == ' ' || line[0] == '\t':
			reasoned = true
			for _, id := range ids {
				list[id] = strings.TrimSpace(list[id] + " " + trimmed)
			}
		default:
			if reasoned {
				ids, reasoned = nil, false
			}
			if _, twice := list[line]; twice {
				return nil, fmt.Errorf("%s:%d: listed twice", name, n)
			}
			ids = append(ids, line)
			list[line] = ""
		}
	}
	for id, reason := range list {
		if reason == "" {
			return nil, fmt.Errorf("%s: no reason for %s", name, id)
		}
	}
	return list, s.Err()
}
