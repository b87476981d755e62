"""The median of a dataset of numbers from 0 to 2, by the exponential mechanism: a value scores less the more rows lie on one side of it."""
import json
import math
import sys

for line in sys.stdin:
    q = json.loads(line)
    rows = q["input"]
    scores = [-abs(sum(x < v for x in rows) - sum(x > v for x in rows)) for v in range(3)]
    weights = [math.exp(q["epsilon"] * s / 2) for s in scores]  # one row more, or less, changes a score by 1
    print(json.dumps({"pmf": [w / sum(weights) for w in weights]}), flush=True)
