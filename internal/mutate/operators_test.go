package mutate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A mutant is one change of a source file: the bytes from start to end become text.
type mutant struct {
	file       string // path of the source file
	id         string // what the list of equivalents names it by
	start, end int
	text       string
}

// apply returns the source with the change made.
func (m mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.start], []byte(m.text), source[m.end:])
}

// rank orders the mutants of a package at random, so that a sample is the first few. It depends on the seed and on
// the mutant alone: an edit elsewhere in the package leaves the rest of the sample as it was.
func (m mutant) rank(seed int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", seed, m.id))
	return string(sum[:])
}

// operators maps an operator to what a mutant has in its place: the boundary and the negation of a comparison, and
// the opposite of an operation.
var operators = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.AND},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}, token.MUL_ASSIGN: {token.QUO_ASSIGN},
	token.QUO_ASSIGN: {token.MUL_ASSIGN}, token.OR_ASSIGN: {token.AND_ASSIGN}, token.AND_ASSIGN: {token.OR_ASSIGN},
	token.SHL_ASSIGN: {token.SHR_ASSIGN}, token.SHR_ASSIGN: {token.SHL_ASSIGN}, token.INC: {token.DEC}, token.DEC: {token.INC},
}

// names holds pairs of fields, methods, functions and constants that a mutant swaps, whatever they are declared as:
// above all the two directions of rounding and the two ends of an enclosure.
var names = pairs("Lo Hi", "lo hi", "min max", "Min Max", "lesser greater", "ToNegativeInf ToPositiveInf", "Above Below", "MinExp MaxExp",
	"Add Sub", "Mul Quo", "Lsh Rsh", "Floor Ceil", "floor ceil", "Lower Upper", "lower upper", "Down Up", "down up", "Num Denom", "true false")

func pairs(lines ...string) map[string]string {
	m := map[string]string{}
	for _, line := range lines {
		a, b, _ := strings.Cut(line, " ")
		m[a], m[b] = b, a
	}
	return m
}

// walker collects the mutants of one file.
type walker struct {
	fset     *token.FileSet
	info     *types.Info
	path     string // of the file
	label    string // what ids call the file
	source   []byte
	function string         // the function in which the walk is
	results  []*types.Tuple // the results of the functions, literals too, in which the walk is
	seen     map[string]int // how often an id occurred before
	mutants  []mutant
	same     map[ast.Expr]int64 // steps of constants that change what another operator beside them does
}

func mutantsOf(fset *token.FileSet, info *types.Info, file *ast.File, label string, source []byte) []mutant {
	w := &walker{fset: fset, info: info, path: fset.Position(file.Pos()).Filename, label: label, source: source, seen: map[string]int{}, same: map[ast.Expr]int64{}}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				w.function = d.Name.Name
				signature := info.Defs[d.Name].Type().(*types.Signature)
				w.walk(d.Body, signature.Results())
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR || d.Tok == token.CONST {
				w.function = "-"
				w.walk(d, nil)
			}
		}
	}
	return w.mutants
}

func (w *walker) offset(p token.Pos) int { return w.fset.Position(p).Offset }

// replace adds the mutant that has text in place of the source from one position to another.
func (w *walker) replace(from, to token.Pos, text string) {
	m := mutant{file: w.path, start: w.offset(from), end: w.offset(to), text: text}
	if text == string(w.source[m.start:m.end]) {
		return
	}
	first := bytes.LastIndexByte(w.source[:m.start], '\n') + 1
	last := m.end
	if i := bytes.IndexByte(w.source[m.end:], '\n'); i >= 0 {
		last += i
	}
	change := func(middle string) string {
		line := string(w.source[first:m.start]) + middle + string(w.source[m.end:last])
		return cmp.Or(strings.Join(strings.Fields(line), " "), "nothing")
	}
	m.id = fmt.Sprintf("%s: %s: %s => %s", w.label, w.function, change(string(w.source[m.start:m.end])), change(text))
	w.seen[m.id]++
	if n := w.seen[m.id]; n > 1 {
		m.id += fmt.Sprintf(" (%d)", n)
	}
	w.mutants = append(w.mutants, m)
}

// operator adds the mutants with another operator at a position.
func (w *walker) operator(at token.Pos, op token.Token) {
	for _, other := range operators[op] {
		w.replace(at, at+token.Pos(len(op.String())), other.String())
	}
}

func (w *walker) walk(root ast.Node, results *types.Tuple) {
	w.results = append(w.results, results)
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			signature := w.info.TypeOf(n).(*types.Signature)
			w.walk(n.Body, signature.Results())
			return false
		case *ast.BinaryExpr:
			w.operator(n.OpPos, n.Op)
			w.compared(n)
		case *ast.UnaryExpr:
			if n.Op == token.SUB || n.Op == token.NOT {
				w.replace(n.OpPos, n.X.Pos(), "")
			}
		case *ast.BasicLit:
			if n.Kind == token.INT {
				if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
					for _, step := range []int64{1, -1} {
						if w.same[n] != step {
							w.replace(n.Pos(), n.End(), strconv.FormatInt(i+step, 10))
						}
					}
				}
			}
		case *ast.Ident:
			if other, ok := names[n.Name]; ok && w.info.Uses[n] != nil {
				w.replace(n.Pos(), n.End(), other)
			}
		case *ast.IncDecStmt:
			w.operator(n.TokPos, n.Tok)
			w.replace(n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			w.operator(n.TokPos, n.Tok)
			if n.Tok != token.DEFINE {
				w.replace(n.Pos(), n.End(), "")
			}
		case *ast.ExprStmt, *ast.BranchStmt, *ast.DeferStmt:
			w.replace(n.Pos(), n.End(), "")
		case *ast.IfStmt:
			w.condition(n.Cond)
			if n.Else == nil {
				w.replace(n.Pos(), n.End(), "")
			}
		case *ast.ForStmt:
			// A loop without its condition seldom ends; its comparisons are mutated as expressions.
		case *ast.CaseClause:
			for _, c := range n.List {
				w.condition(c)
			}
		case *ast.ReturnStmt:
			w.returned(n)
		}
		return true
	})
	w.results = w.results[:len(w.results)-1]
}

// compared notes the steps of a compared integer that are mutants already: x > c-1 is x >= c.
func (w *walker) compared(n *ast.BinaryExpr) {
	switch n.Op {
	case token.GTR, token.LEQ:
		w.same[n.Y] = -1
	case token.LSS, token.GEQ:
		w.same[n.Y] = 1
	}
}

// condition negates a condition that is not a comparison, whose operator is mutated anyway.
func (w *walker) condition(e ast.Expr) {
	t, ok := w.info.TypeOf(e).(*types.Basic)
	if !ok || t.Info()&types.IsBoolean == 0 {
		return
	}
	switch e.(type) {
	case *ast.CallExpr, *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		w.replace(e.Pos(), e.Pos(), "!")
	}
}

// returned puts the zero value of its type, or the opposite, in the place of each result.
func (w *walker) returned(n *ast.ReturnStmt) {
	results := w.results[len(w.results)-1]
	if results == nil || len(n.Results) != results.Len() {
		return
	}
	for i, e := range n.Results {
		source := string(w.source[w.offset(e.Pos()):w.offset(e.End())])
		var zeros []string
		switch t := results.At(i).Type().Underlying().(type) {
		case *types.Basic:
			switch {
			case t.Info()&types.IsBoolean != 0:
				zeros = []string{"true", "false"}
			case t.Info()&types.IsNumeric != 0:
				zeros = []string{"0"}
			case t.Info()&types.IsString != 0:
				zeros = []string{`""`}
			}
		case *types.Pointer:
			zeros = []string{"nil"}
			if name, ok := strings.CutPrefix(results.At(i).Type().String(), "*math/"); ok {
				zeros = []string{"new(" + name + ")"}
			}
		case *types.Slice, *types.Map, *types.Signature, *types.Chan:
			zeros = []string{"nil"}
		case *types.Interface:
			if _, ok := results.At(i).Type().(*types.TypeParam); !ok {
				zeros = []string{"nil"}
			}
		}
		if source == "true" || source == "false" || source == "nil" {
			continue // true and false are swapped as names; nil is the zero already
		}
		for _, zero := range zeros {
			w.replace(e.Pos(), e.End(), zero)
		}
	}
}
