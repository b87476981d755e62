// Package front has the pages that answer questions in a browser: forms, and the answers to them, drawn by package report.
// The local server of package serve shows them with the command behind them; the static site shows the same pages with the
// engine compiled to WebAssembly.
//
// The package does no mathematics. It turns the fields of a form, checked one by one, into a question of package job, has it answered,
// and draws the document: the numbers are the command's, and every answer says which command line gives it.
// No field names a file; what is pasted is handed on beside the question, as a file of a fixed name.
package front
