package variant

import "optratio/internal/table"

// EachRow visits the rows of a question between numbered cells.
func EachRow(q Question, visit func(above, below int, private bool)) {
	p, err := New(q)
	if err != nil {
		panic(err)
	}
	p.Question.eachRow(p.vars, func(r table.Row) bool {
		visit(int(r.Above), int(r.Below), r.Private)
		return true
	})
}
