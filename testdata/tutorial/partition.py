"""Shows the name of a group if its size with Laplace noise exceeds a threshold. The threshold is to keep a group of one person hidden with
probability 1 - δ, δ = 0.001; a group without people has no name to show."""
import json
import math
import sys

for line in sys.stdin:
    q = json.loads(line)
    people, eps = q["input"], q["epsilon"]
    threshold = 1 + math.log(1 / 0.001) / eps
    needed = eps * (threshold - people)  # the noise that takes it there, which has probability e^-needed / 2
    shown = 0 if people == 0 else math.exp(-needed) / 2 if needed > 0 else 1 - math.exp(needed) / 2
    print(json.dumps({"pmf": {"shown": shown, "hidden": 1 - shown}}), flush=True)
