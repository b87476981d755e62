// Package audit examines mechanisms that it cannot see into: programs, samplers, tables of probabilities, mechanisms of this process. What others
// import of it, and what programs are asked, is said in package verify/audit.
//
// It has three rooms. A child is a program that runs (child.go); an asker puts questions to it, or to a mechanism of this process (program.go, subject.go), as lines
// (protocol.go) whose outcomes it reads (outcomes.go), and refuses what never answers (child.go). Stated
// probabilities, of programs, mechanisms, and tables (table.go), are remembered (record.go) and decided by package
// verify (report.go), on score vectors (domain.go) or other inputs (inputs.go), or rated by lp (subject.go). Samples are drawn by one asker or several (draws.go) and
// searched for a pair and an event (explore.go, search.go) that are worth a bet (wealth.go), which decides (sampler.go).
package audit
