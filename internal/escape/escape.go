// Package escape writes text that others chose (labels, file names, command lines, messages of programs) among this program's own words. It has
// one function for each format. All of them replace the same characters by escape sequences of Go: those that a reader cannot see, and those that
// would begin a line or a command of a build server.
package escape

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// hidden reports whether a character is shown as an escape sequence: control characters, among them line ends and tabs, characters that turn or hide
// text, separators of lines and paragraphs, and those for private use.
func hidden(r rune) bool {
	return r < ' ' || r > '~' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// shown returns a text in which no character is hidden but those of keep, and in which bytes that are no UTF-8 stand as \x and two digits.
func shown(text, keep string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case hidden(r) && !strings.ContainsRune(keep, r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Text is for a terminal: lines and tabs stay.
func Text(text string) string { return shown(text, "\n\t") }

// marked finds how build servers mark commands in the middle of a line: ##[error], ##vso[task.complete].
var marked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`##([A-Za-z]*\[)`) })

// unmarked returns a text with something else for the second number sign of such marks.
func unmarked(text, second string) string {
	if !strings.Contains(text, "##") {
		return text
	}
	return marked().ReplaceAllString(text, "#"+second+"$1")
}

// Line is a text in one line, for a terminal, a log and the other formats. Two colons at its begin, and marks of commands in it, get a backslash.
func Line(text string) string {
	line := unmarked(shown(text, ""), `\#`)
	if blanks := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace)); strings.HasPrefix(line[blanks:], "::") {
		line = line[:blanks] + `\` + line[blanks:]
	}
	return line
}

// longest is how many characters of a text are quoted.
const longest = 80

// Quoted is a text in quotes, in one line, without its middle where it is very long.
func Quoted(text string) string {
	if utf8.RuneCountInString(text) <= longest {
		return strconv.Quote(text)
	}
	begin, end := 0, len(text)
	for range longest / 2 {
		_, size := utf8.DecodeRuneInString(text[begin:])
		begin += size
	}
	for range longest / 4 {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return strconv.Quote(text[:begin] + "…" + text[end:])
}

// JSON returns a JSON text in which the hidden characters are escaped too that JSON need not escape, all of them in strings.
func JSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case hidden(r) && r != '\n' && r != '\t' && r > 0xffff:
			high, low := (r-0x10000)>>10, (r-0x10000)&0x3ff
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+high, 0xdc00+low)
		case hidden(r) && r != '\n' && r != '\t':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return unmarked(b.String(), `\u0023`)
}

// HTML is a line as text of HTML and SVG, also between double quotes.
func HTML(text string) string { return html.EscapeString(shown(text, "")) }

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./:,+=@%^-]+$`) })

// Shell is a word as a shell reads it, in one line; one with hidden characters as bash and zsh do.
func Shell(word string) string {
	switch line := shown(strings.ReplaceAll(word, `\`, `\\`), ""); {
	case plainWord().MatchString(word):
		return word
	case line != strings.ReplaceAll(word, `\`, `\\`):
		return "$'" + strings.ReplaceAll(line, "'", `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// apart is a space of no width. It keeps what follows an @, a number sign or a colon from being taken for a name, an issue or an address by what
// reads a page after Markdown has become HTML.
const apart = "&#8203;"

// Markdown is a line as text of Markdown, wherever it stands, also in a table.
func Markdown(text string) string {
	line := Line(text)
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	var b strings.Builder
	for i, r := range line {
		rest := line[i+utf8.RuneLen(r):]
		switch {
		case strings.ContainsRune("<>&|", r), r == ' ' && (i == 0 || rest == ""):
			fmt.Fprintf(&b, "&#%d;", r)
		case r == '#':
			b.WriteString(`\#` + apart)
		case r == '@', r == ':' && rest != "" && rest[0] != ' ':
			b.WriteString(string(r) + apart)
		case r == '.' && strings.EqualFold(line[max(0, i-3):i], "www"):
			b.WriteString(apart + ".")
		case strings.ContainsRune("\\`*_[]~$!", r), i == 0 && strings.ContainsRune("-+=", r), i == digits && digits > 0 && strings.ContainsRune(".)", r):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Message is a line as the message of a command of GitHub Actions.
func Message(text string) string { return strings.ReplaceAll(Line(text), "%", "%25") }

// Property is a line as the value of a property of such a command.
func Property(text string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(Line(text))
}
