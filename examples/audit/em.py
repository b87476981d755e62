"""The exponential mechanism, for optratio audit --pmf-exec 'python3 em.py'."""
import json, math, sys

for line in sys.stdin:
    q = json.loads(line)
    best = max(q["scores"])
    w = [math.exp(q["epsilon"] * (s - best) / (2 * q["sensitivity"])) for s in q["scores"]]
    print(json.dumps({"pmf": [x / sum(w) for x in w]}), flush=True)
