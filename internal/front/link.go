package front

import (
	"maps"
	"math/big"
	"net/url"
	"strings"

	"optratio/internal/job"
)

// asking are the views that ask what a command of this name asks.
var asking = map[string]string{"ratio": "rate", "recommend": "choose", "pmf": "pmf", "evaluate": "evaluate", "optimum": "optimum"}

// Link is the address of the page that asks what a command line asks, with its form filled in; "" where no page asks exactly that. read
// returns the text of a file that the line names.
func (s *Site) Link(words []string, read func(name string) (string, error)) string {
	if len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = append([]string{"ratio"}, words...)
	}
	given, ok := flagsOf(words)
	if !ok || len(given) == 0 || asking[words[0]] == "" {
		return ""
	}
	delete(given, "cert") // which only keeps the proof
	values := url.Values{}
	for name, value := range given {
		switch name {
		case exp:
			values.Set("of", exp)
			name = "eps"
		case "histogram":
			text, err := read(value)
			if err != nil {
				return ""
			}
			value, given[name] = text, "counts.csv"
		}
		values.Set(name, value)
	}
	c := s.Begin(asking[words[0]], values)
	if c.Err != nil {
		return ""
	}
	if asked, ok := flagsOf(job.CommandLine(c.asked)); !ok || !maps.EqualFunc(given, asked, sameValue) {
		return ""
	}
	return s.href(asking[words[0]], values.Encode())
}

// flagsOf returns the flags of a command line that has nothing else.
func flagsOf(words []string) (flags map[string]string, ok bool) {
	flags = map[string]string{}
	for i := 1; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		flag := strings.TrimLeft(name, "-")
		if flag == name {
			return nil, false
		}
		if flag == "worst" {
			value = "true"
		} else if !joined {
			if i++; i == len(words) {
				return nil, false
			}
			value = words[i]
		}
		flags[flag] = value
	}
	return flags, len(words) > 0
}

// sameValue reports whether two values of a flag mean the same.
func sameValue(a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, too := new(big.Rat).SetString(b)
	return a == b || ok && too && x.Cmp(y) == 0
}
