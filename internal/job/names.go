package job

import (
	"slices"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/escape"
	"optratio/mechanisms"
	"optratio/verify"
)

// words are the names that fields take which take nothing else.
var words = map[string]string{
	"solver": "auto clp embedded", "constraints": "paper dp monotone full", "objective": "paper box", "method": "auto closed-form lumped lp", "task": "mode median quantile scores",
	"loss": "mean square top1 tail", "prior": "uniform box geometric product scores histogram",
}

// Choices returns the names that a flag takes, nil for one that takes other things too, or is not known.
func Choices(flag string) (names []string) {
	switch flag {
	case "mechanism", "against", "gain":
		return mechanisms.Names()
	case "property":
		for _, p := range append(verify.All(), audit.Answers, audit.Against, audit.Same) {
			names = append(names, string(p))
		}
		return names
	}
	return strings.Fields(words[flag])
}

// DidYouMean ends a message on a name that is not known: with the nearest of the names that are, and with nothing where none is near.
func DidYouMean(text string, names []string) string { return didYouMean(nearest(text, names)) }

func didYouMean(name string) string { return Choose(name == "", "", "; did you mean "+name+"?") }

// nearest is the nearest of some names, "" where none is near.
func nearest(text string, names []string) string {
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	letters := []rune(plain.Replace(strings.ToLower(text)))
	best, least := "", max(1, (len(letters)+1)/3)
	for _, name := range names {
		d := distance(letters, []rune(plain.Replace(name)))
		if len(text) > 2 && (strings.HasPrefix(name, text) || len(name) > 2 && strings.HasPrefix(text, name)) {
			d = min(d, 1)
		}
		if d < least || d == least && best == "" {
			best, least = name, d
		}
	}
	return Choose(least < len(letters), best, "")
}

// nearMechanism is DidYouMean for mechanisms, which may also be meant by a word of what they are.
func nearMechanism(text string) string {
	if near := DidYouMean(text, mechanisms.Names()); near != "" {
		return near
	}
	words, meant := mechanisms.Names(), map[string]string{}
	for _, name := range mechanisms.Names() {
		m, _ := mechanisms.Lookup(name)
		summary := m.Info().Summary
		for _, word := range append(strings.Fields(strings.ToLower(summary)), mechanisms.Alias(name)) {
			if other, known := meant[word]; len(word) > 3 && (!known || len(summary) < len(other)-len(name)) {
				meant[word] = name + ", " + summary
				words = append(words, word)
			}
		}
	}
	return didYouMean(meant[nearest(text, words)])
}

// distance counts the letters to insert, delete, replace, or exchange with the next one, that turn a into b.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			same := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				same++
			}
			rows[i][j] = min(same, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// unknown returns the first name of a list that is not one of the names, "" where all are.
func unknown(list string, names []string) string {
	for name := range strings.SplitSeq(list, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), ":")
		if !slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// mechanism reads the name of one, in the given field.
func mechanism(field, name string) mechanisms.Mechanism {
	refuse(strings.Contains(name, ","), "{"+field+"} %s: give one mechanism at a time", escape.Quoted(name))
	return must(find(field, name, mechanisms.Lookup))
}

func find(field, name string, lookup func(string) (mechanisms.Mechanism, error)) (mechanisms.Mechanism, error) {
	m, err := lookup(strings.TrimSpace(name))
	if err != nil {
		return nil, refusal("{"+field+"} %s: no such mechanism; give one that optratio mechanisms lists%s", escape.Quoted(name), nearMechanism(strings.TrimSpace(name)))
	}
	return m, nil
}

// FewerNames returns the names that mechanisms.LookupFewer knows in NAME:M.
func FewerNames() []string {
	return slices.DeleteFunc(mechanisms.Names(), func(name string) bool {
		_, err := mechanisms.LookupFewer(name + ":1")
		return err != nil
	})
}

// FindMechanisms reads a comma-separated list of names: with mechanisms.Lookup, or with mechanisms.LookupFewer where each score vector is
// asked for itself.
func FindMechanisms(list string, lookup func(string) (mechanisms.Mechanism, error)) ([]mechanisms.Mechanism, error) {
	var found []mechanisms.Mechanism
	seen := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		m, err := find("mechanism", name, lookup)
		if _, fewer := lookup(FewerNames()[0] + ":1"); err != nil && fewer == nil && strings.Contains(name, ":") {
			err = refusal("{mechanism} %s: give NAME:M with M from 1 on and one of these names: %s", escape.Quoted(name), strings.Join(FewerNames(), ", "))
		}
		if err != nil {
			return nil, err
		}
		if own := m.Info().Name; !seen[own] {
			found, seen[own] = append(found, m), true
		}
	}
	return found, nil
}
