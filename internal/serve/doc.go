// Package serve is a local web server that shows the pages of package front. It runs the jobs behind them in this process, in turn and
// under limits, and writes what was pasted to temporary files that only the job reads.
package serve
