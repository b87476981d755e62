"""The exponential mechanism: softmax of ε times the scores, over 2Δ."""
import json, math, sys

for line in sys.stdin:
    q = json.loads(line)
    best = max(q["scores"])
    weights = [math.exp(q["epsilon"] * (s - best) / (2 * q["sensitivity"])) for s in q["scores"]]
    print(json.dumps({"pmf": [w / sum(weights) for w in weights]}), flush=True)
