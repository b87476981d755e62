package audit

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/verify"
)

// A program whose labels are not text is not taken for one that answers alike: nothing is proved of it, and its answers are violated.
func TestLabelsThatAreNoText(t *testing.T) {
	for name, c := range map[string]struct{ first, second, want string }{
		"lone surrogates": {`\udc80`, `\udc81`, `the escape \udc80 is half a character`},
		"bytes":           {"\x80", "\x81", "is not UTF-8"},
		"a key twice":     {`a":"1/2","\u0061`, `a`, `the key "a" is there twice`},
	} {
		program := func(what, one string) string {
			return `while read -r q; do case $q in *'"input":1,'*) printf '%s\n' '{"` + what + `":{"` + c.first + `":` + one + `}}';; *) printf '%s\n' '{"` + what + `":{"` + c.second + `":` + one + `}}';; esac; done`
		}
		o := Options{Epsilon: epsilon(t, "0.1"), Outcomes: Labels, Inputs: &Inputs{Values: []json.RawMessage{[]byte("1"), []byte("2")}, Pairs: []InputPair{{From: 0, To: 1}}}}
		r, err := pmfOf(context.Background(), program("pmf", `"1"`), o)
		require.NoError(t, err)
		assert.NotEqual(t, verify.Proved, r.Find(verify.DP).Verdict, "%s: %v", name, r)
		assert.Equal(t, verify.Violated, r.Find(Answers).Verdict, "%s: %v", name, r)
		assert.Contains(t, r.Findings[0].Detail, c.want, name)

		l := &labelled{ids: map[string]int{}}
		_, err = l.parse([]byte(`{"counts":{"`+c.first+`":3}}`), 3)
		assert.ErrorContains(t, err, c.want, name)
		_, err = (&shapes{}).parse([]byte(`{"values":[{"x":1,"`+c.first+`":0},["no"]]}`), 2)
		assert.ErrorContains(t, err, c.want, name)
	}
	assert.ErrorContains(t, (&Inputs{}).Add([]byte(`"\ud800"`)), `the escape \ud800`)
}

// A label that is called error is no failure, and the keys of mixed outcomes are told apart whatever is in them.
func TestNamesOfOtherThings(t *testing.T) {
	program := `while read -r q; do case $q in *'"input":1,'*) echo '{"pmf":{"error":"1"}}';; *) echo '{"error":"x"}';; esac; done`
	o := Options{Epsilon: epsilon(t, "1"), Outcomes: Labels, Inputs: &Inputs{Values: []json.RawMessage{[]byte("1"), []byte("2")}, Pairs: []InputPair{{From: 0, To: 1}}}}
	r, err := pmfOf(context.Background(), program, o)
	require.NoError(t, err)
	assert.Equal(t, verify.Violated, r.Find(verify.DP).Verdict, "%v", r)

	got, err := (&shapes{}).parse([]byte(`{"values":[{"a":{"b":1},"a.b":2,"0":3,"":4},[5]]}`), 2)
	require.NoError(t, err)
	for place, want := range map[string]float64{".a.b": 1, `["a.b"]`: 2, ".0": 3, `[""]`: 4} {
		x, ok := got[0].number(place)
		assert.True(t, ok, place)
		assert.Equal(t, want, x, place)
	}
	assert.Len(t, got[0].numbers, 4)
	assert.Equal(t, []float64{5}, got[1].numbers)
}
