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
// a Finding. What a program starts ends with it, and with the audit, however that ends: on Linux even what has left its process group or was orphaned, and even after
// SIGKILL, since a supervisor stands between the two. For that a process of this package starts its own executable again, under another name.
//
// Probabilities are checked by package verify, a JSON number standing for every real
// number near it. Samples permit statistical verdicts alone: a lower bound on ε at a
// stated confidence, and a test of fit. What a sampler that keeps within its ε does is never proved.
package audit
