// Package secretary holds the secretary problem under differential privacy: n
// candidates arrive in uniformly random order, a rule sees only relative
// ranks, must take exactly one candidate at the moment it appears, and the
// preference order is the secret (Grining, Klonowski & Sulkowska, "What Do Our
// Choices Say About Our Preferences?").
//
// Ranks count from 1, the best. A rule's outcome law is q_k = Pr[the k-th best
// is taken]; slices hold it from index 0. Neighboring preference orders swap
// two candidates at most l places apart (the metric d_l), so a rule is
// (ε, δ)-private iff q_i <= e^ε q_j + δ whenever |i-j| <= l.
//
// The package has outcome laws (exact, enclosed, float), any relative-rank
// rule, the best rule for a payoff per rank, and the tightest ε, δ and mixing
// weight that a law allows. It does not optimise under a privacy constraint:
// package internal/stopping does.
package secretary
