"""Report noisy max with exponential noise, for optratio audit --sample-exec 'python3 noisy_max.py'."""
import json, random, sys

for line in sys.stdin:
    q = json.loads(line)
    rate = q["epsilon"] / (2 * q["sensitivity"])
    counts = [0] * len(q["scores"])
    for _ in range(q["samples"]):
        noisy = [s + random.expovariate(rate) for s in q["scores"]]
        counts[noisy.index(max(noisy))] += 1
    print(json.dumps({"counts": counts}), flush=True)
