// Package serve shows the answers of jobs in a browser: a local web server whose views are forms, and whose answers are
// the pages of package report.
//
// The server does no mathematics. It turns the fields of a form, checked one by one, into a command line, runs it in this process, and
// draws the JSON document that the command prints: the numbers are the command's, and every answer says which command line gives it.
// No field names a file; what is pasted goes to a temporary file that only the job reads.
package serve
