package mechanisms

// Report noisy max with two of the noises is another mechanism by another name: with exponential
// noise of mean 2Δ/ε it is permute-and-flip (Ding et al. 2021), with Gumbel
// noise of scale 2Δ/ε it is the exponential mechanism (the Gumbel-max trick).
func init() {
	Register(permuteAndFlipAs(Info{
		Name:    "rnm-exponential",
		Summary: "report noisy max, exponential noise",
		Source:  "Ding et al. 2021",
		Claim:   "ε-DP",
		Private: true,
		Uniform: true,
	}))
	Register(exponentialAs(Info{
		Name:    "rnm-gumbel",
		Summary: "report noisy max, Gumbel noise",
		Source:  "Gumbel 1954; Yellott 1977",
		Claim:   "ε-DP",
		Private: true,
		Uniform: true,
	}))
}
