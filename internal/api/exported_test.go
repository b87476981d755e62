package api

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/exported.txt")

const golden = "testdata/exported.txt"

// listing has a line for each exported name of the packages, with its type: package, name, what it is. A struct and an interface have a
// line for each exported field and method more. The values of typed constants belong to it; those of untyped ones, such as the version, do not.
func listing(packages []*types.Package) []string {
	var lines []string
	for _, p := range packages {
		local := strings.TrimPrefix(p.Path(), "optratio/")
		short := func(other *types.Package) string {
			if other == p {
				return ""
			}
			return strings.TrimPrefix(other.Path(), "optratio/")
		}
		add := func(name, what string) { lines = append(lines, local+"."+name+": "+what) }
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			what := types.TypeString(o.Type(), short)
			switch o := o.(type) {
			case *types.Const:
				if basic, ok := o.Type().(*types.Basic); !ok || basic.Info()&types.IsUntyped == 0 {
					what += " = " + o.Val().ExactString()
				}
				add(name, "const "+what)
			case *types.Var:
				add(name, "var "+what)
			case *types.Func:
				add(name, what)
			case *types.TypeName:
				named, ok := o.Type().(*types.Named)
				if !ok || o.IsAlias() {
					add(name, "= "+types.TypeString(types.Unalias(o.Type()), short))
					continue
				}
				switch u := named.Underlying().(type) {
				case *types.Struct:
					add(name, "struct"+parameters(named, short))
					for f := range u.Fields() {
						if f.Exported() {
							add(name+"."+f.Name(), types.TypeString(f.Type(), short))
						}
					}
				case *types.Interface:
					closed := "" // by a method that other packages cannot have
					for m := range u.Methods() {
						if m.Exported() {
							add(name+"."+m.Name(), "must be "+types.TypeString(m.Type(), short))
						} else {
							closed = ", closed"
						}
					}
					add(name, "interface"+parameters(named, short)+closed)
				default:
					add(name, types.TypeString(u, short)+parameters(named, short))
				}
				methods := types.NewMethodSet(types.NewPointer(named)) // with those of embedded fields
				if types.IsInterface(named) {
					methods = types.NewMethodSet(types.Typ[types.Invalid])
				}
				for m := range methods.Methods() {
					if m.Obj().Exported() {
						receiver := ""
						if types.NewMethodSet(named).Lookup(p, m.Obj().Name()) == nil {
							receiver = " of a pointer"
						}
						add(name+"."+m.Obj().Name(), types.TypeString(m.Type(), short)+receiver)
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func parameters(named *types.Named, short types.Qualifier) string {
	var list []string
	for p := range named.TypeParams().TypeParams() {
		list = append(list, p.String()+" "+types.TypeString(p.Constraint(), short))
	}
	if list == nil {
		return ""
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// changes returns the lines of now that old lacks and the other way round.
func changes(old, now []string) (added, gone []string) {
	for _, line := range now {
		if !slices.Contains(old, line) {
			added = append(added, line)
		}
	}
	for _, line := range old {
		if !slices.Contains(now, line) {
			gone = append(gone, line)
		}
	}
	return added, gone
}

// breaking returns the lines of a release that today's packages have no longer as they were, and new demands on implementations of interfaces,
// but for the names that the changelog has as `package.Name`.
func breaking(released, now []string, changelog string) []string {
	added, broken := changes(released, now)
	for _, line := range added {
		if name, what, _ := strings.Cut(line, ": "); strings.HasPrefix(what, "must be ") {
			of := name[:strings.LastIndex(name, ".")] + ": "
			if slices.ContainsFunc(released, func(l string) bool { return strings.HasPrefix(l, of) }) {
				broken = append(broken, line)
			}
		}
	}
	return slices.DeleteFunc(broken, func(line string) bool {
		name, _, _ := strings.Cut(line, ": ")
		return strings.Contains(changelog, "`"+name+"`")
	})
}

// TestExportedNames compares what other modules can use with the listing in testdata, and with the listing of the last release.
func TestExportedNames(t *testing.T) {
	now := listing(public(t))
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	read := func(text []byte, err error) []string {
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	added, gone := changes(read(os.ReadFile(golden)), now)
	assert.Empty(t, added, "new exported names; where they are meant: go test ./internal/api -run ExportedNames -update")
	assert.Empty(t, gone, "this breaks modules that use it; where it is meant: -update, and CHANGELOG.md says so after a release")

	tag, err := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "--match", "v*").Output()
	if err != nil {
		return // no release yet, or no repository
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	released := read(run(t, root, nil, "git", "show", strings.TrimSpace(string(tag))+":internal/api/"+golden), nil)
	assert.Empty(t, breaking(released, now, string(changelog)), "since %s; CHANGELOG.md has to name each as `package.Name`", tag)
}

// TestListing: the listing sees each kind of change, and which of them break others.
func TestListing(t *testing.T) {
	of := func(source string) []string {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "p.go", "package p\n"+source, 0)
		require.NoError(t, err)
		p, err := new(types.Config).Check("optratio/p", files, []*ast.File{file}, nil)
		require.NoError(t, err)
		return listing([]*types.Package{p})
	}
	const base = `
		type S struct { A int; b int }
		func (S) M() int { return 0 }
		func (*S) P(string) {}
		func (S) m() {}
		type e struct{}
		func (e) Promoted() {}
		type E struct { e }
		type I interface { X(int) error }
		type T[V any] []V
		type K int
		const One K = 1
		const Text = "a"
		type A = map[string]S
		var V func(T[int]) A
		func F(x int, y ...string) (z bool) { return }
		func f() {}`
	assert.Empty(t, breaking(of(base), of(base), ""))
	for _, c := range []struct{ from, to, broken string }{
		{"A int; b int", "A int; b string; C int", ""},
		{"A int; b int", "A int64; b int", "p.S.A"},
		{"A int; b int", "b int", "p.S.A"},
		{"(S) M() int", "(*S) M() int", "p.S.M"},
		{"P(string)", "P(int)", "p.S.P"},
		{"(e) Promoted()", "(e) promoted()", "p.E.Promoted"},
		{"X(int) error }", "X(int) error; Y() }", "p.I.Y"},
		{"X(int) error }", "X(int) error; y() }", "p.I"},
		{"T[V any]", "T[V comparable]", "p.T"},
		{"One K = 1", "One K = 2", "p.One"},
		{`"a"`, `"b"`, ""},
		{"map[string]S", "map[int]S", "p.A"},
		{"V func(T[int])", "V func(T[uint])", "p.V"},
		{"y ...string", "y []string", "p.F"},
		{"func f() {}", "func G() {}", ""},
	} {
		require.Equal(t, 1, strings.Count(base, c.from), c.from)
		now := of(strings.Replace(base, c.from, c.to, 1))
		broken := breaking(of(base), now, "")
		if c.broken == "" {
			assert.Empty(t, broken, c.to)
			continue
		}
		require.NotEmpty(t, broken, c.to)
		for _, line := range broken {
			assert.True(t, strings.HasPrefix(line, c.broken+": "), "%s: %s", c.to, line)
		}
		assert.Empty(t, breaking(of(base), now, "- `"+c.broken+"` is another one."), c.to)
	}
}

// undocumented returns the exported names of a file's package level, and the methods of exported types, that have no comment. One comment
// may serve a group of constants or variables; what Error and String return is said by error and fmt.Stringer.
func undocumented(file *ast.File) []string {
	var names []string
	lacks := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if name.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return strings.TrimSpace(c.Text()) != "" }) {
			names = append(names, name.Name)
		}
	}
	receiver := regexp.MustCompile(`^\*?([A-Z])`)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && (d.Name.Name == "String" || d.Name.Name == "Error") {
				continue
			}
			if d.Recv == nil || receiver.MatchString(types.ExprString(d.Recv.List[0].Type)) {
				lacks(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					lacks(s.Name, d.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						lacks(name, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return names
}

func TestExportedNamesAreDocumented(t *testing.T) {
	parse := func(name string, source any) *ast.File {
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		require.NoError(t, err)
		return file
	}
	for _, p := range public(t) {
		folder, comment := filepath.Join(root, strings.TrimPrefix(p.Path(), "optratio/")), ""
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file := parse(name, nil)
			comment += file.Doc.Text()
			assert.Empty(t, undocumented(file), name)
		}
		assert.True(t, strings.HasPrefix(comment, "Package "), fmt.Sprintf("%s: the comment of the package: %.40q", p.Path(), comment))
	}
	// The test can fail.
	assert.Equal(t, []string{"F", "M", "String", "T", "V", "W"}, undocumented(parse("p.go", `package p
func F() {}
func f() {}
func (*T[V]) M() {}
func (t) M() {}
func (T) String() {}
func String() {}
// G is documented.
func G() {}
type T[V any] struct{}
var V, W = 1, 2
// Both are documented.
const (
	A = 1
	B = 2
)
`)))
}
