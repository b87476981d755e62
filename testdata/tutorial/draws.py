"""The same choice as softmax.py, but it draws candidates instead of stating probabilities."""
import json, math, random, sys

random.seed(1)
for line in sys.stdin:
    q = json.loads(line)
    best = max(q["scores"])
    weights = [math.exp(q["epsilon"] * (s - best) / q["sensitivity"]) for s in q["scores"]]
    counts = [0] * len(weights)
    for _ in range(q["samples"]):
        x = random.random() * sum(weights)
        r = 0
        while r < len(weights) - 1 and x >= weights[r]:
            x -= weights[r]
            r += 1
        counts[r] += 1
    print(json.dumps({"counts": counts}), flush=True)
