// Package audit examines mechanisms that it cannot see into: programs in any
// language that answer with probabilities or with samples, and tables of probabilities. Mechanism and Draws
// examine mechanisms of the same process in the same way.
//
// A program is a command line for sh -c. It is sent one JSON object a line and answers one
// line each:
//
//	{"scores":[0,-1,-2.5],"epsilon":1,"sensitivity":1,"monotonic":false}                  {"pmf":[0.6,"3/10",0.1]}
//	{"scores":[0,-1,-2.5],"epsilon":1,"sensitivity":1,"monotonic":false,"samples":100}    {"counts":[61,29,10]}
//
// Programs are not trusted to behave: whatever is no answer (a crash, silence, NaN, a wrong
// length) is the output event "error", which counts as an output like any other and is
// a Finding. What a program starts ends with it, unless it leaves its process group. After Supervise nothing is left of it on Linux, whatever it does and
// however the audit ends.
//
// Probabilities are checked by package verify, a JSON number standing for every real
// number near it. Samples permit statistical verdicts alone: a lower bound on ε at a
// stated confidence, and a test of fit. What a sampler that keeps within its ε does is never proved.
package audit

import "optratio/internal/supervise"

// Supervise is to be called first in the main of a program whose audits shall leave nothing behind, not even after SIGKILL or of programs that leave their
// process group: these run below a supervisor from then on, which is this executable again, under another name.
func Supervise() { supervise.Enable() }
