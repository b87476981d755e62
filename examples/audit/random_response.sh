#!/bin/sh
# 2-randomised response for two candidates, with awk: the better one with probability e^ε/(e^ε+1).
# optratio audit --pmf-exec 'sh random_response.sh' --eps 1 -n 2 --domain half-lattice --property dp,symmetry,sum
while read -r question; do
	echo "$question" | tr -d '{}"[' | awk -F'[]:,]' '{
		for (i = 1; i <= NF; i++) if ($i == "epsilon") eps = $(i + 1)
		n = 0
		for (i = 2; $i != "" && $i !~ /[a-z]/; i++) q[++n] = $i
		if (n == 1) { print "{\"pmf\":[1]}"; exit }
		p = exp(eps) / (exp(eps) + 1)
		if (q[1] == q[2]) p = 0.5
		if (q[1] < q[2]) p = 1 - p
		printf "{\"pmf\":[%.17g,%.17g]}\n", p, 1 - p
	}'
done
