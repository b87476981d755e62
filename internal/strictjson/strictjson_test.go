package strictjson

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[1,"x",{"b":null}],"A":{}}`:    "",
		" [ ] ":                              "",
		`{ "a" : { } , "b" : [ 1 , [ ] ] }`:  "",
		`"\ud83d\ude00 \ufffd \\ud800 \" é"`: "",
		"\"\ufffd\"":                         "",
		`1e999999999999999999999`:            "",
		`"\udc80"`:                           `the escape \udc80 is half a character`,
		`{"a":["\ud800"]}`:                   `the escape \ud800 is half a character`,
		`{"\ud800\ud800":1}`:                 `the escape \ud800 is half a character`,
		`"\ud83dx\ude00"`:                    `the escape \ud83d is half a character`,
		"\"report-\x80\"":                    `the string "report-\x80" is not UTF-8`,
		"{\"\xed\xa0\x80\":1}":               `is not UTF-8`,
		`{"a":1,"b":{"c":1,"\u0063":2}}`:     `the key "c" is there twice`,
		`[1,2`:                               "not JSON: unexpected end",
		`{} {}`:                              "not JSON: invalid character",
		"":                                   "not JSON: unexpected end",
		Mark + `{}`:                          "byte-order mark",
		"\xff\xfe{\x00}\x00":                 "UTF-16",
		strings.Repeat("[", 20_000):          "not JSON",
		`{"` + strings.Repeat("x", 90) + `":` + "\"\xff\"}": "is not UTF-8",
	} {
		err := Check([]byte(text))
		if want == "" {
			assert.NoError(t, err, text)
			continue
		}
		assert.ErrorContains(t, err, want, text)
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.LessOrEqual(t, e.Offset, len(text))
	}
	var e *Error
	require.ErrorAs(t, Check([]byte("{\n\"a\": \"\\udc80\"}")), &e)
	assert.Equal(t, 8, e.Offset)
}

func TestObject(t *testing.T) {
	fields, err := Object([]byte(`{"pmf":1,"PMF":2}`))
	require.NoError(t, err)
	assert.Equal(t, map[string]json.RawMessage{"pmf": []byte("1"), "PMF": []byte("2")}, fields)
	for _, text := range []string{`[1]`, `null`, `"{}"`, `3`} {
		_, err := Object([]byte(text))
		assert.ErrorContains(t, err, "not a JSON object", text)
	}
}

// Each line has texts of one value; values of different lines are different.
var values = [][]string{
	{`1`, `1.0`, `1e0`, `10e-1`, ` 0.001E+3 `, `1e-0000`}, {`-1`, `-1.00`}, {`0`, `-0`, `0.0`, `0e999999999999999999999`}, {`"1"`, `"\u0031"`}, {`true`}, {`"true"`}, {`null`}, {`"null"`},
	{`1e400`, `10e399`, `0.1e401`}, {`1e401`}, {`1e1000000000`, `100e999999998`}, {`1e-1000000000`}, {`9007199254740993`}, {`9007199254740992`}, {`0.1`, `1e-1`},
	{`0.1000000000000000055511151231257827`}, {`123.456`, `123456e-3`}, {`1e20`, `100000000000000000000`}, {`1e21`, `1000000000000000000000`}, {`1e22`},
	{`[1,2]`, ` [ 1.0 , 2 ] `}, {`"[1,2]"`}, {`[2,1]`}, {`[[1],2]`}, {`[]`}, {`{}`}, {`[[]]`},
	{`{"a":1,"b":[2]}`, `{ "b":[2.0], "\u0061":1e0 }`}, {`{"a":1,"B":[2]}`}, {`{"a":{"b":1,"c":2},"d":3}`, `{"d":3,"a":{"c":2,"b":1}}`},
	{"\"\u00e9\"", `"\u00e9"`}, {"\"e\u0301\"", `"e\u0301"`}, {`"x"`}, {`" x"`}, {`"x "`}, {`"X"`}, {`"\r\n"`}, {`"\n"`}, {`"\\u0031"`}, {`"\ufffd"`, `"�"`}, {`"\ud83d\ude00"`, `"😀"`}, {`"<"`, `"\u003c"`}, {`""`}, {`"\u0000"`},
}

func TestKey(t *testing.T) {
	at := map[string]int{}
	for i, texts := range values {
		for _, text := range texts {
			key, err := Key([]byte(text))
			require.NoError(t, err, text)
			first, known := at[key]
			require.True(t, !known || first == i, "%s and %s have the key %s", text, values[first][0], key)
			require.True(t, known || text == texts[0], "%s has the key %s", text, key)
			at[key] = i
		}
	}
	_, err := Key([]byte(`[1e9999999999999999]`))
	assert.ErrorContains(t, err, "the exponent of \"1e9999999999999999\" is too large")
}

// A text is refused or read without loss: written anew by encoding/json it has the same key, and equal numbers have equal keys.
func FuzzKey(f *testing.F) {
	for _, texts := range values {
		f.Add([]byte(texts[0]), []byte(texts[len(texts)-1]))
	}
	f.Add([]byte(`"\ud800"`), []byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, text, other []byte) {
		key, err := Key(text)
		if err != nil {
			return
		}
		require.NoError(t, Check(text))
		require.True(t, json.Valid(text))
		var x any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		require.NoError(t, d.Decode(&x))
		again, err := json.Marshal(x)
		require.NoError(t, err)
		same, err := Key(again)
		require.NoError(t, err)
		require.Equal(t, key, same)

		another, err := Key(other)
		var a, b json.Number
		if err != nil || len(text)+len(other) > 100 || json.Unmarshal(text, &a) != nil || json.Unmarshal(other, &b) != nil || bytes.ContainsRune(text, '"') || bytes.ContainsRune(other, '"') || a == "" || b == "" {
			return
		}
		p, ok := new(big.Rat).SetString(small(a))
		q, ok2 := new(big.Rat).SetString(small(b))
		if ok && ok2 {
			require.Equal(t, p.Cmp(q) == 0, key == another, "%s, %s", a, b)
		}
	})
}

// small returns a number whose exponent is not too large to be computed with, else nothing.
func small(x json.Number) string {
	if _, e, _ := strings.Cut(strings.ToLower(x.String()), "e"); len(e) > 4 {
		return ""
	}
	return x.String()
}
