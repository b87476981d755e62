// Package report says the answers of jobs to people: a document becomes blocks (lines, a table, a picture), once, which one writer prints as text, and another as
// one self-contained HTML page.
//
// Every number is one of the document, in the form in which package number prints it, or follows from such numbers in rational arithmetic. A page has no script, loads
// nothing, and its pictures are inline SVG, drawn from tables that stand beside them.
package report
