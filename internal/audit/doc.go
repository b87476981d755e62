// Package audit examines mechanisms that it cannot see into: programs, samplers, tables of probabilities, mechanisms of this process. What others
// import of it, and what programs are asked, is said in package verify/audit.
//
// It has three rooms. A child is a program that runs (child.go), with the lines that it is asked and answers (protocol.go, outcomes.go, silent.go). Stated
// probabilities, of programs (program.go, and subject.go for ratios), tables (table.go) and mechanisms (mechanism.go), are remembered (record.go) and decided by package
// verify (report.go), on score vectors (domain.go) or other inputs (inputs.go). Samples are searched for a pair and an event (explore.go, search.go) that are worth
// a bet (wealth.go), which decides (sampler.go).
package audit
