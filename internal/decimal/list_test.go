package decimal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseList(t *testing.T) {
	for text, want := range map[string]string{
		"0.5":           "1/2",
		"1:3":           "1 2 3",
		"0.1:1.0:0.1":   "1/10 1/5 3/10 2/5 1/2 3/5 7/10 4/5 9/10 1",
		"0.1:0.35:0.1":  "1/10 1/5 3/10",
		"2, 1/3 ,4:5,7": "2 1/3 4 5 7",
		"-1:-1":         "-1",
	} {
		list, err := ParseList(text, 10)
		require.NoError(t, err, text)
		var got []string
		for _, x := range list {
			got = append(got, x.RatString())
		}
		assert.Equal(t, want, strings.Join(got, " "), text)
	}
	for text, want := range map[string]string{
		"": "not a decimal", "1,,2": "not a decimal", "1:2:0": "the step is 0", "2:1": "it ends at 1, before its beginning 2", "1:2:-1": "the step is -1", "1:2:3:4": "not a range",
		"1:11": "more than 10", "0:1:1e-9": "more than 10", "1:9,1,2": "more than 10", "a:b": "not a decimal",
	} {
		_, err := ParseList(text, 10)
		assert.ErrorContains(t, err, want, text)
	}
}
