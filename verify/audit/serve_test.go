package audit

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuestion(t *testing.T) {
	q, err := read([]byte(`{"scores":[0,-2.5,"-1/3","1/8"],"epsilon":0.5,"sensitivity":2,"monotonic":true,"samples":7}`))
	require.NoError(t, err)
	assert.Equal(t, Question{[]float64{0, -2.5, -1. / 3, 0.125}, 0.5, 2, true, 7}, q)
	for _, bad := range []string{`{"scores":["a/b"]}`, `{"scores":["1/"]}`, `{"scores":[null]}`, `{"scores":[[1]]}`, `no JSON`} {
		_, err = read([]byte(bad))
		assert.Error(t, err, bad)
	}
}

func said(t *testing.T, answer func(Question) (any, error), questions string) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, lines(strings.NewReader(questions), &out, answer))
	return out.String()
}

// Whatever goes wrong with one question is the answer to it, and the next one is answered.
func TestErrors(t *testing.T) {
	answer := func(q Question) (any, error) {
		switch q.Scores[0] {
		case 1:
			return nil, errors.New("too far apart")
		case 2:
			panic("tied scores")
		case 3:
			return map[string]float64{"pmf": math.NaN()}, nil
		}
		return map[string][]int{"pmf": {1}}, nil
	}
	got := said(t, answer, "{\"scores\":[1]}\n{\"scores\":[2]}\n{\"scores\":[3]}\nnonsense\n{\"scores\":[0]}")
	answers := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	require.Len(t, answers, 5)
	assert.Equal(t, `{"error":"too far apart"}`, answers[0])
	assert.Equal(t, `{"error":"panic: tied scores"}`, answers[1])
	assert.Contains(t, answers[2], "NaN")
	assert.Contains(t, answers[3], "invalid character")
	assert.Equal(t, `{"pmf":[1]}`, answers[4])
}

func TestSamples(t *testing.T) {
	q := Question{Scores: []float64{0, -1}, Samples: 5}
	calls := 0
	counted, err := samples(q, func(Question) (int, error) { calls++; return calls % 2, nil })
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"counts": []int{2, 3}}, counted)
	labelled, err := samples(q, func(Question) (string, error) { return "nobody", nil })
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"counts": map[string]int{"nobody": 5}}, labelled)
	real, err := samples(q, func(Question) (float64, error) { return 0.5, nil })
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"values": []float64{0.5, 0.5, 0.5, 0.5, 0.5}}, real)
	for _, r := range []int{-1, 2} {
		_, err = samples(q, func(Question) (int, error) { return r, nil })
		assert.ErrorContains(t, err, fmt.Sprintf("drew candidate %d of 2", r))
	}
	_, err = samples(q, func(Question) (string, error) { return "report-\x80", nil })
	assert.ErrorContains(t, err, `the label "report-\x80"`)
	_, err = samples(q, func(Question) (int, error) { return 0, errors.New("no source") })
	assert.ErrorContains(t, err, "no source")
}
