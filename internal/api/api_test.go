// Package api tests the module as other modules see it.
package api

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
)

const root = "../.."

// run executes a command in a folder and returns its output on stdout.
func run(t *testing.T, dir string, environment []string, command ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	require.NoError(t, err, "%s: %s%s", strings.Join(command, " "), out, &errs)
	return out
}

// internal reports whether a package may not be named by other modules.
func internal(path string) bool {
	return strings.HasPrefix(path, "optratio/") && strings.Contains("/"+path+"/", "/internal/")
}

// public imports the packages that other modules can import, from the build cache.
func public(t *testing.T) []*types.Package {
	exported, paths := map[string]string{}, []string(nil)
	list := json.NewDecoder(bytes.NewReader(run(t, root, nil, "go", "list", "-export", "-deps", "-json=ImportPath,Export,Name", "./...")))
	for {
		var p struct{ ImportPath, Export, Name string }
		if err := list.Decode(&p); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		exported[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, "optratio/") && p.Name != "main" && !internal(p.ImportPath) && p.Export != "" {
			paths = append(paths, p.ImportPath)
		}
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) })
	var packages []*types.Package
	for _, path := range paths {
		p, err := from.Import(path)
		require.NoError(t, err)
		packages = append(packages, p)
	}
	return packages
}

// reach finds the types that a user of a package meets in its exported names: in signatures, fields, methods and embedded types, and in what
// unexported types among these have to show.
type reach struct {
	seen  map[types.Type]bool
	found map[string]bool // names of what lies in internal packages
}

func (r *reach) visit(t types.Type) {
	if t == nil || r.seen[t] {
		return
	}
	r.seen[t] = true
	if named, ok := t.(interface{ Obj() *types.TypeName }); ok && named.Obj().Pkg() != nil {
		if path := named.Obj().Pkg().Path(); internal(path) {
			r.found[path+"."+named.Obj().Name()] = true
			return
		}
	}
	switch t := t.(type) {
	case *types.Alias:
		r.visit(types.Unalias(t))
	case *types.Named:
		if path := t.Obj().Pkg(); path == nil || !strings.HasPrefix(path.Path(), "optratio/") {
			break // other modules are not ours to judge, but for what they are instantiated with
		}
		for m := range t.Methods() {
			if m.Exported() {
				r.visit(m.Type())
			}
		}
		r.visit(t.Underlying())
	case *types.TypeParam:
		r.visit(t.Constraint())
	case *types.Signature:
		r.visit(t.Params())
		r.visit(t.Results())
		for p := range t.TypeParams().TypeParams() {
			r.visit(p)
		}
	case *types.Tuple:
		for v := range t.Variables() {
			r.visit(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() || f.Embedded() {
				r.visit(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				r.visit(m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			r.visit(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			r.visit(term.Type())
		}
	case *types.Map:
		r.visit(t.Key())
		r.visit(t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		r.visit(t.Elem())
	}
	if t, ok := t.(*types.Named); ok {
		for a := range t.TypeArgs().Types() {
			r.visit(a)
		}
	}
}

// names returns what lies in internal packages of all that a package exports.
func names(p *types.Package) map[string]bool {
	r := &reach{seen: map[types.Type]bool{}, found: map[string]bool{}}
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); o.Exported() {
			r.visit(o.Type())
		}
	}
	return r.found
}

// open are the packages that other modules may import.
var open = []string{"cli", "lattice", "lp", "mechanisms", "number", "optimum", "proptest", "verify", "verify/audit", "verify/certificate"}

func TestExportedSignaturesNameNothingInternal(t *testing.T) {
	packages := public(t)
	var paths []string
	for _, p := range packages {
		path := strings.TrimPrefix(p.Path(), "optratio/")
		paths = append(paths, path)
		assert.Empty(t, names(p), path)
	}
	slices.Sort(paths)
	assert.Equal(t, open, paths)
	// The test can fail: a signature, a field, a method of a type that is met, a type argument, and not what stays inside.
	hidden := types.NewPackage("optratio/internal/hidden", "hidden")
	secret := types.NewNamed(types.NewTypeName(token.NoPos, hidden, "Secret", nil), types.NewStruct(nil, nil), nil)
	empty := func() *types.Package { return types.NewPackage("optratio/open", "open") }
	define := func(p *types.Package, name string, u types.Type) *types.Named {
		n := types.NewNamed(types.NewTypeName(token.NoPos, p, name, nil), u, nil)
		p.Scope().Insert(n.Obj())
		return n
	}
	result := func(t types.Type) *types.Signature {
		return types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewVar(token.NoPos, nil, "", t)), false)
	}
	function := empty()
	function.Scope().Insert(types.NewFunc(token.NoPos, function, "F", result(types.NewSlice(types.NewPointer(secret)))))
	field := empty()
	define(field, "T", types.NewStruct([]*types.Var{types.NewField(token.NoPos, field, "X", types.NewMap(types.Typ[types.Int], secret), false)}, nil))
	method := empty()
	lower := define(method, "lower", types.NewStruct(nil, nil))
	lower.AddMethod(types.NewFunc(token.NoPos, method, "M", result(secret)))
	method.Scope().Insert(types.NewVar(token.NoPos, method, "V", lower))
	for _, p := range []*types.Package{function, field, method} {
		assert.Equal(t, map[string]bool{"optratio/internal/hidden.Secret": true}, names(p))
	}
	inside := empty()
	define(inside, "T", types.NewStruct([]*types.Var{types.NewField(token.NoPos, inside, "x", secret, false)}, nil))
	inside.Scope().Insert(types.NewFunc(token.NoPos, inside, "f", result(secret)))
	assert.Empty(t, names(inside))
}

// Another module, whose go.mod is the one of docs/reference/go.md, makes mechanisms, rates, verifies, audits and tests them, and has the command line over
// them. The whole program of that page runs there and prints what the page says.
func TestOutsideModule(t *testing.T) {
	repository, err := filepath.Abs(root)
	require.NoError(t, err)
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(root, "examples/mechanism/*.go"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range append(files, filepath.Join(root, "go.sum")) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644))
	}
	// It requires what this repository requires, at the same versions, as go mod tidy would write it there. With GOPROXY=off
	// the test fails where the outside module's build needs a module that this repository's own build has not fetched.
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	name := strings.TrimSpace(string(run(t, root, nil, "go", "list", "-m")))
	page, err := os.ReadFile(filepath.Join(root, "docs/reference/go.md"))
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```(?:go)?\n(module .*?|package main.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 2)
	outside := strings.Replace(blocks[0][1], "../optratio", repository, 1)
	module := strings.Replace(string(own), "module "+name+"\n", outside, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644))
	environment := []string{"GOPROXY=off", "GOWORK=off"}
	run(t, dir, environment, "go", "test", "-vet=off", "-ldflags=-w", "-run", "^TestVerdicts$", "./...") // the others are in the tests of this module
	out := run(t, dir, environment, "go", "run", "-ldflags=-w", ".", "ratio", "-n", "3", "-k", "2", "--eps", "0.5", "--mechanism", "softmax,em", "--json")
	var doc struct {
		Mechanisms []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(out, &doc))
	require.Len(t, doc.Mechanisms, 2)
	assert.Equal(t, "softmax", doc.Mechanisms[0].Name)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "page"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "page", "main.go"), []byte(blocks[1][1]), 0o644))
	printed := strings.Split(strings.TrimSpace(string(run(t, dir, environment, "go", "run", "-ldflags=-w", "./page"))), "\n")
	assert.Contains(t, blocks[1][1], "// "+strings.Join(printed, ", ")+"\n")
}

// The documentation of every public package begins with an example of the whole package.
func TestPackagesBeginWithAnExample(t *testing.T) {
	for _, p := range public(t) {
		text, err := os.ReadFile(filepath.Join(root, strings.TrimPrefix(p.Path(), "optratio/"), "example_test.go"))
		if assert.NoError(t, err) {
			assert.Regexp(t, `(?m)^func Example\(\) \{`, string(text), p.Path())
		}
	}
}

// The module under the path that somebody publishes it under: scripts/rename-module changes a copy, a module proxy of files serves that copy, and another
// module gets it from there, finds every package of its own tests and of the program, and tests some of them.
func TestPublishedUnderAnotherPath(t *testing.T) {
	slowtest.Only(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	const path, version = "example.org/someone/optratio", "v0.1.0"
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(root)))
	for _, folder := range []string{".git", "bin", "dist"} {
		require.NoError(t, os.RemoveAll(filepath.Join(copied, folder)))
	}
	run(t, copied, nil, "scripts/rename-module", path)
	run(t, filepath.Join(copied, "research"), nil, "go", "list", "-deps", "./...") // its imports are found

	proxy := t.TempDir()
	served := filepath.Join(proxy, path, "@v")
	require.NoError(t, os.MkdirAll(served, 0o755))
	module, err := os.ReadFile(filepath.Join(copied, "go.mod"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(served, version+".mod"), module, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(served, "list"), []byte(version+"\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(served, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o644))
	archive, err := os.Create(filepath.Join(served, version+".zip"))
	require.NoError(t, err)
	z := zip.NewWriter(archive)
	require.NoError(t, filepath.WalkDir(copied, func(file string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(copied, file)
		if err != nil || d.IsDir() {
			if name == "research" { // a module of its own
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		w, err := z.Create(path + "@" + version + "/" + filepath.ToSlash(name))
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}))
	require.NoError(t, z.Close())
	require.NoError(t, archive.Close())

	outside := t.TempDir()
	files, err := filepath.Glob(filepath.Join(copied, "examples/mechanism/*.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(outside, filepath.Base(file)), text, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(outside, "go.mod"), []byte("module example.com/outside\n\ngo 1.26.0\n"), 0o644))
	// What else it needs comes from this machine's cache, or from where this machine has modules from: more than this repository's own build needs.
	cache := strings.TrimSpace(string(run(t, root, nil, "go", "env", "GOMODCACHE")))
	others := strings.TrimSpace(string(run(t, root, nil, "go", "env", "GOPROXY")))
	environment := []string{
		"GOFLAGS=-mod=mod -modcacherw -trimpath -vet=off", "GOWORK=off", "GOSUMDB=off", "GOMODCACHE=" + t.TempDir(),
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache/download") + "," + others,
	}
	run(t, outside, environment, "go", "get", path+"@"+version, "github.com/stretchr/testify")
	run(t, outside, environment, "go", "list", "-deps", "-test", "./...", path+"/cmd/optratio") // every package that they need is found
	run(t, outside, environment, "go", "test", path+"/number", path+"/lattice")
}
