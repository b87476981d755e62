package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mayImport says which packages of the module a package may import, tests aside: imports
// point one way. A trailing slash allows everything below a folder. Packages of
// internal/ that are listed under arithmetic are open to all.
var mayImport = map[string][]string{
	"internal/decimal":    {},
	"internal/escape":     {},
	"internal/patience":   {},
	"internal/strictjson": {},
	"internal/supervise":  {},
	"internal/quadrature": {"internal/arith", "number"},

	"internal/arith":                 {"number"},
	"number":                         {"internal/decimal"},
	"lattice":                        {arithmetic},
	"mechanisms":                     {arithmetic, "lattice"},
	"internal/secretary":             {arithmetic, "mechanisms"},
	"internal/compose":               {arithmetic, "mechanisms", "internal/certtext"},
	"internal/linear":                {arithmetic},
	"internal/clp":                   {arithmetic, "internal/linear"},
	"internal/chain":                 {},
	"internal/lumped":                {arithmetic, "lattice", "internal/chain", "internal/linear"},
	"internal/totals":                {arithmetic, "lattice"},
	"internal/table":                 {arithmetic, "lattice", "internal/linear", "mechanisms", "internal/certtext"},
	"lp":                             {arithmetic, "internal/patience", "lattice", "internal/chain", "internal/clp", "internal/linear", "internal/lumped", "internal/table", "mechanisms", "internal/totals", "internal/certtext"},
	"internal/heterogeneous":         {arithmetic, "internal/inquiry", "mechanisms", "internal/optimum", "verify", "internal/certtext"},
	"internal/stopping":              {arithmetic, "internal/linear", "mechanisms", "internal/secretary", "internal/certtext"},
	"internal/inquiry":               {arithmetic, "lattice", "mechanisms"},
	"verify":                         {arithmetic, "internal/escape", "internal/inquiry", "lattice", "mechanisms"},
	"internal/audit":                 {arithmetic, "internal/inquiry", "internal/escape", "internal/strictjson", "internal/supervise", "lattice", "mechanisms", "verify"},
	"verify/audit":                   {arithmetic, "internal/audit", "internal/supervise", "mechanisms", "verify"},
	"internal/evidence":              {arithmetic},
	"internal/evidence/evidencetest": {arithmetic, "internal/certtext"},
	"verify/certificate":             {arithmetic, "internal/evidence"},
	"internal/certtext":              {arithmetic},
	"proptest":                       {arithmetic, "internal/inquiry", "lattice", "mechanisms", "verify"},
	"internal/recommend":             {arithmetic, "internal/patience", "mechanisms"},
	"internal/sweep":                 {arithmetic, "internal/patience", "internal/lumped", "internal/table", "lp"},
	"internal/document":              {arithmetic, "lp", "mechanisms", "internal/heterogeneous", "internal/secretary", "internal/topk", "internal/optimum", "verify", "verify/certificate"},
	"optimum":                        {arithmetic, "internal/optimum", "verify"},
	"internal/optimum":               {arithmetic, "internal/inquiry", "internal/patience", "internal/strictjson", "internal/linear", "internal/table", "mechanisms", "verify", "internal/certtext"},
	"internal/report":                {"*"},
	"internal/front":                 {arithmetic, "mechanisms", "internal/document", "internal/escape", "internal/job", "internal/recommend", "internal/report"},
	"internal/serve":                 {"number", "internal/document", "internal/front", "internal/job"},
	"internal/evaluate":              {"*"},
	"internal/topk":                  {"*"},
	"internal/job":                   {"*"},
	"internal/command":               {"*"},
	"internal/command/":              {"internal/command", "internal/job"},
	"cli":                            {"*"},
	"research":                       {"*"},
	"research/":                      {"*"},
	"cmd/optratio":                   {"cli"},
	"site":                           {"*"},
	"examples/":                      {"*"},
}

// arithmetic stands for the packages that know only numbers.
const arithmetic = "arithmetic"

var numbers = []string{"internal/decimal", "internal/quadrature", "number", "internal/arith"}

func allowed(from, to string) bool {
	rules, ok := mayImport[from]
	for prefix, r := range mayImport {
		if !ok && strings.HasSuffix(prefix, "/") && strings.HasPrefix(from, prefix) {
			rules, ok = r, true
		}
	}
	for _, rule := range rules {
		switch {
		case rule == "*", rule == to:
			return true
		case rule == arithmetic:
			for _, n := range numbers {
				if to == n {
					return true
				}
			}
		}
	}
	return false
}

func TestImportsPointOneWay(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	seen := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || (strings.HasPrefix(name, ".") && path != root)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(rel)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to, ok := strings.CutPrefix(to, "optratio/"); ok {
				seen++
				assert.True(t, allowed(from, to), "%s imports %s", from, to)
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, seen, 20)
	// The policy itself can fail.
	assert.False(t, allowed("internal/linear", "mechanisms"))
	assert.False(t, allowed("verify/certificate", "internal/linear"))
	assert.False(t, allowed("internal/table", "verify"))
	assert.False(t, allowed("nowhere", "lattice"))
	assert.False(t, allowed("cmd/optratio", "lp"))
}

// What the program links is what its start and its size come from: no plotting library, and no tools that write manual pages or matrices.
func TestLinked(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	assert.LessOrEqual(t, len(packages), 265)
	for _, p := range packages {
		for _, not := range []string{"gonum.org/v1/plot", "gonum.org/v1/gonum/mat", "github.com/spf13/cobra/doc", "google.golang.org/protobuf", "optratio/research", "testing"} {
			assert.False(t, p == not || strings.HasPrefix(p, not+"/"), p)
		}
	}
}

// TestLibrariesNameNoFlags looks for flags in the texts of packages that others import: their errors name parameters, and only the commands name
// flags.
func TestLibrariesNameNoFlags(t *testing.T) {
	flagName := regexp.MustCompile(`(^|[ (])--[a-z]`)
	literals := 0
	for _, folder := range []string{"lattice", "lp", "mechanisms", "number", "optimum", "proptest", "verify", "internal/evaluate", "internal/heterogeneous", "internal/job", "internal/linear", "internal/lumped", "internal/optimum", "internal/recommend", "internal/secretary", "internal/stopping", "internal/sweep", "internal/table", "internal/topk"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					literals++
					s, _ := strconv.Unquote(text.Value)
					assert.NotRegexp(t, flagName, s, path)
				}
				return true
			})
			return nil
		}))
	}
	assert.Greater(t, literals, 1000)
}

// make test-slow runs the tests whose own body asks package slowtest: no function that a test calls may ask it.
func TestSlowTestsSayThatTheyAre(t *testing.T) {
	seen := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		tagged := slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
			return c.Pos() < file.Package && strings.HasPrefix(c.List[0].Text, "//go:build") && strings.Contains(c.List[0].Text, "slow")
		})
		for _, d := range file.Decls {
			f, isFunction := d.(*ast.FuncDecl)
			assert.False(t, tagged && isFunction && strings.HasPrefix(f.Name.Name, "Test"), "%s: make test-slow does not look for build tags", path)
			ast.Inspect(d, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "slowtest" {
						seen++
						assert.True(t, isFunction && strings.HasPrefix(f.Name.Name, "Test"), "%s asks slowtest outside a test", path)
					}
				}
				return true
			})
		}
		return nil
	}))
	assert.Greater(t, seen, 50)
}
