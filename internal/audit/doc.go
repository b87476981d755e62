// Package audit examines mechanisms that it cannot see into: programs, samplers, tables of probabilities, mechanisms of this process.
// Package verify/audit is what other modules import of it, and says what programs are asked.
//
// It has three rooms:
//   - Children. A child is a program that runs (child.go). An asker puts questions to it, or to a mechanism of this process (program.go,
//     subject.go), as lines (protocol.go), reads their outcomes (outcomes.go), and refuses what never answers (child.go).
//   - Stated probabilities, of programs, mechanisms and tables (table.go). They are remembered (record.go), and package verify decides about
//     them (report.go), on score vectors (domain.go) or other inputs (inputs.go); or lp rates them (subject.go).
//   - Samples. One asker or several draw them (draws.go). A search looks for a pair and an event that are worth a bet (explore.go,
//     search.go), and bets decide (wealth.go, sampler.go).
package audit
