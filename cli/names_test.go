package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/command"
)

// inFolder returns what writes files into a folder, and what runs a command line there.
func inFolder(t *testing.T) (write func(name, text string), run func(line string) (out, problems string, code int)) {
	t.Chdir(t.TempDir())
	write = func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o644)) }
	return write, func(line string) (string, string, int) {
		var out, problems bytes.Buffer
		code := Run(context.Background(), strings.Fields(line), strings.NewReader(""), &out, &problems)
		return out.String(), problems.String(), code
	}
}

// What one reader or the other would take for the same is refused with its place, whoever reads it.
func TestNamesThatAreNoText(t *testing.T) {
	write, run := inFolder(t)
	const twoRows = `{"input":1,"pmf":{"a":"1"}}` + "\n"
	for _, c := range []struct {
		line, file, text, want string
	}{
		{"audit --pmf-file t --inputs in --neighbors nb --outcomes labels --eps 1", "t", twoRows + `{"input":2,"pmf":{"\udc81":"1"}}`, `t:2: the escape \udc81 is half a character`},
		{"audit --pmf-file t --inputs in --neighbors nb --outcomes labels --eps 1", "t", "{\"input\":1,\"pmf\":{\"report-\x80\":\"1\"}}", `t:1: the string "report-\x80" is not UTF-8`},
		{"audit --pmf-file t --inputs in --neighbors nb --outcomes labels --eps 1", "t", `{"input":"\ud800","pmf":{"a":"1"}}`, `t:1: the escape \ud800`},
		{"audit --pmf-file t --inputs in --neighbors nb --outcomes labels --eps 1", "t", `{"input":1,"pmf":{"a":"1/2","\u0061":"1/2"}}`, `t:1: the key "a" is there twice`},
		{"audit --pmf-file t --inputs i --neighbors nb --eps 1", "i", "1\n\"\\udc80\"\n", `i:2: the escape \udc80`},
		{"audit --pmf-file t --inputs i --neighbors nb --eps 1", "i", "{\"a\":1,\"a\":2}\n", `i:1: the key "a" is there twice`},
		{"audit --pmf-file t --inputs i --neighbors nb --eps 1", "i", "1\n1e9999999999999999999\n", `i:2: the exponent of "1e9999999999999999999" is too large`},
		{"audit --pmf-file t --inputs in --neighbors n --eps 1", "n", "0,1\n[1,\"\xff\"]\n", `n:2: the string "\xff" is not UTF-8`},
		{"optimum p --eps 1", "p", "{\"inputs\":[\"a\",\n\"\\udc80\"],\"loss\":\"zero-one\"}", `p:2: the escape \udc80`},
		{"optimum p --eps 1", "p", "{\"inputs\":[\"a\",\"\xff\"],\"loss\":\"zero-one\"}", `p:1: the string "\xff" is not UTF-8`},
		{"optimum p --eps 1", "p", `{"inputs":["a"],"inputs":["b"],"loss":"zero-one"}`, `p:1: the key "inputs" is there twice`},
		{"optimum p --eps 1", "p", `{"inputs":[1,1.0],"loss":"zero-one"}`, `p:1: inputs[1]: "1" is there twice`},
		{"optimum p --eps 1", "p", `{"inputs":["a"],"loss":"zero-one"} {}`, `p:1: not JSON: invalid character '{'`},
		{"optimum --pairs p --loss zero-one --eps 1", "p", "a,\xff\n", `p:1: "\xff" is not UTF-8`},
		{"optimum --pairs p --loss zero-one --eps 1", "p", "a,b\r\n\"b\r\nc\",a\r\n", `p:2: "b\nc" has a line end in quotes`},
		{"optimum --preset count:1 --prior p --eps 1", "p", "0,1/2\n 1,1/2\n", `p:2: no input is called " 1"`},
		{"optimum --preset count:1 --rate t.jsonl --eps 1", "t.jsonl", `{"input":[0],"pmf":{"a":1}}`, `row 1: the input [0] is not a name`},
	} {
		write("in", "1\n2\n")
		write("nb", "0,1\n")
		write("t", twoRows)
		write(c.file, c.text)
		out, problems, code := run(c.line)
		assert.Equal(t, command.Usage, code, "%s: %q: %s%s", c.line, c.text, out, problems)
		assert.Contains(t, problems, c.want)
		assert.Equal(t, 1, strings.Count(problems, "\n"), problems)
	}
}

// Names that look alike are different, in every file.
func TestNamesThatLookAlike(t *testing.T) {
	write, run := inFolder(t)
	write("in", "1\n2\n")
	write("nb", "[1.0, 2e0]\n")
	for _, pair := range [][2]string{{"a", " a"}, {"a", "a "}, {"a", "A"}, {"\u00e9", "e\u0301"}, {`\n`, `\r\n`}, {"\ufffd", `\ufffe`}, {"1", "1.0"}, {"", " "}} {
		write("t", `{"input":1.0,"pmf":{"`+pair[0]+`":"1"}}`+"\n"+`{"input":2,"pmf":{"`+pair[1]+`":"1"}}`)
		out, problems, code := run("audit --pmf-file t --inputs in --neighbors nb --outcomes labels --eps 1")
		assert.Equal(t, command.Violated, code, "%q: %s%s", pair, out, problems)
		assert.Contains(t, out, "tight ε inf", "%q", pair)
		assert.Contains(t, out, ", output ", "%q", pair)
	}
	write("pairs", "a, a\n\"\n\",\"\n\n\"\n")
	write("loss", "a,o,0\n a,o,0\na, o,0\n a, o,0\n\"\n\",o,0\n\"\n\", o,0\n\"\n\n\",o,0\n\"\n\n\", o,0\n")
	out, problems, code := run("optimum --pairs pairs --loss loss --eps 1 --json")
	assert.Zero(t, code, problems)
	assert.Contains(t, out, `"inputs": 4`)
	assert.Contains(t, out, `"outputs": 2`)
	write("problem", `{"inputs":[1.0,"2"],"pairs":[["1",2e0]],"loss":"abs"}`)
	_, problems, code = run("optimum problem --eps 1")
	assert.Zero(t, code, problems)
}

// Files are read alike where they begin with a byte-order mark and their lines end as in Windows; UTF-16 is named.
func TestNamesThatLookLikeShortenedNumbers(t *testing.T) {
	write, run := inFolder(t)
	names := []string{"≈0.12345678", "≈0.12345679", "0.12345678…", "0.12345679…", "1.0000000001 ± 1e-9", "1"}
	quoted := strings.Join(names, `","`)
	write("p", `{"inputs":["`+quoted+`"],"pairs":[],"loss":"zero-one"}`)
	out, problems, _ := run("optimum p --exp-eps 2")
	for _, name := range names[:len(names)-1] {
		assert.Equal(t, 2, strings.Count(out, name), "%s: %s%s", name, out, problems)
	}
	write("t", `{"scores":[0,-1],"pmf":{"`+names[0]+`":1}}`+"\n"+`{"scores":[-1,0],"pmf":{"`+names[4]+`":1}}`+"\n")
	out, problems, _ = run("audit --pmf-file t --outcomes labels --eps 1")
	assert.Contains(t, out, `output "`+names[0]+`"`, problems)
	assert.Contains(t, out, names[4], problems)
}

func TestMarksAndLineEnds(t *testing.T) {
	write, run := inFolder(t)
	const audit = "audit --pmf-file t --inputs i --neighbors n --outcomes labels --eps 1"
	files := map[string]string{
		"t": `{"input":1,"pmf":{"a":"1/2","b":"1/2"}}` + "\n" + `{"input":"x","pmf":{"a":"1/3","b":"2/3"}}` + "\n", "i": "1\n\"x\"\n", "n": "\"oneway\"\n[1,\"x\"]\n",
		"d": "0,-1\n[0,-2]\n", "s": "0\n-1\n", "l": "0\n1\n3\n", "h": "bin,count\na,3\nb,7\n",
		"p": "{\"inputs\":[\"a\",\"b\"],\n\"pairs\":[[\"a\",\"b\"]],\"loss\":\"zero-one\"}\n", "pairs": "x,y,d\na,b,1\n", "loss": "x,o,value\na,o,1\nb,o,2\n", "prior": "x,p\na,1/4\nb,3/4\n",
		"rate": "input,output,probability\na,a,1/2\na,b,1/2\nb,a,1/2\nb,b,1/2\n",
	}
	for line, names := range map[string]string{
		audit:                              "t i n",
		"pmf --scores-file s --eps 1":      "s",
		"ratio -n 3 -k 2 --eps 1 --loss l": "l",
		"evaluate --task mode --histogram h --eps 1":                "h",
		"optimum p --eps 1 --prior prior --rate rate --users prior": "p prior rate",
		"optimum --pairs pairs --loss loss --prior prior --eps 1":   "pairs loss",
		"verify --mechanism em --domain d --eps 1":                  "d",
		"calibrate --mechanism em --domain d --eps 1":               "d",
	} {
		for name, text := range files {
			write(name, text)
		}
		want, problems, code := run(line)
		require.NotEqual(t, command.Usage, code, "%s: %s", line, problems)
		for _, name := range strings.Fields(names) {
			write(name, "\xef\xbb\xbf"+strings.ReplaceAll(files[name], "\n", "\r\n"))
			got, problems, again := run(line)
			assert.Equal(t, want, got, "%s: %s: %s", line, name, problems)
			assert.Equal(t, code, again, line)
			write(name, "\xff\xfe0\x00\n\x00")
			_, problems, again = run(line)
			assert.Equal(t, command.Usage, again, "%s: %s", line, name)
			assert.Contains(t, problems, "it is UTF-16 text; save it as UTF-8", line)
			assert.Contains(t, problems, name, line)
			write(name, files[name])
		}
	}
}

// Files of sweeps, which are added to, and certificates are not read so: the cause is named.
func TestMarksThatAreNamed(t *testing.T) {
	write, run := inFolder(t)
	_, problems, code := run("sweep -n 2 -k 1 --eps 1 -o a.csv")
	require.Zero(t, code, problems)
	text, err := os.ReadFile("a.csv")
	require.NoError(t, err)
	for _, changed := range []string{"\xef\xbb\xbf" + string(text), strings.ReplaceAll(string(text), "\n", "\r\n")} {
		write("b.csv", changed)
		_, problems, code = run("sweep merge -o c.csv b.csv")
		assert.Equal(t, command.Usage, code)
		assert.Contains(t, problems, "b.csv:1: it was saved with a byte-order mark or with the line ends of Windows")
	}
	write("cert", "optratio-certificate 3\r\nproblem ratio\r\n")
	_, problems, code = run("check cert")
	assert.Equal(t, command.Usage, code)
	assert.Contains(t, problems, "line 1: lines end in CR LF")
}
