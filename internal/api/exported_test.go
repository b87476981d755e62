package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxExported bounds the exported names of all open packages, fields and methods included. It only ever falls.
const maxExported = 499

func TestExportedNamesAreFew(t *testing.T) {
	count := map[string]int{}
	total := 0
	for _, p := range public(t) {
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				count[p.Path()] += 1 + members(o)
			}
		}
		total += count[p.Path()]
	}
	assert.LessOrEqual(t, total, maxExported, "%v", count)
	assert.Greater(t, total, maxExported-10, "fewer: lower the bound")
}

// members counts the exported fields and methods of a type.
func members(o types.Object) (n int) {
	named, ok := o.Type().(*types.Named)
	if _, isType := o.(*types.TypeName); !isType || !ok {
		return 0
	}
	if s, ok := named.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				n++
			}
		}
	}
	over := types.Type(types.NewPointer(named))
	if types.IsInterface(named) {
		over = named
	}
	for m := range types.NewMethodSet(over).Methods() {
		if m.Obj().Exported() {
			n++
		}
	}
	return n
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
