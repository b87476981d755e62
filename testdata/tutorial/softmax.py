"""A private choice, as it is often written: softmax of ε times the scores."""
import json, math, sys

for line in sys.stdin:
    q = json.loads(line)
    best = max(q["scores"])
    weights = [math.exp(q["epsilon"] * (s - best) / q["sensitivity"]) for s in q["scores"]]
    print(json.dumps({"pmf": [w / sum(weights) for w in weights]}), flush=True)
