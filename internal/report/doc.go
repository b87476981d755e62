// Package report draws the answer of a ratio, verify, audit or stopping job as one self-contained HTML page.
//
// It starts from the JSON document that the job printed. Every number on the page is one of that document, in the form in
// which package number prints it, or follows from such numbers in rational arithmetic. A page has no script, loads nothing, and its pictures
// are inline SVG with their numbers beside them as text.
package report
