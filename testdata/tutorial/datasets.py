"""All datasets of one to four numbers from 0 to 2, and which are neighbors: by replacing a row, or by removing one. Groups by their size."""
import json
from collections import Counter
from itertools import combinations, combinations_with_replacement

datasets = [list(d) for size in (1, 2, 3, 4) for d in combinations_with_replacement(range(3), size)]
with open("datasets.jsonl", "w") as file:
    for d in datasets:
        print(json.dumps(d), file=file)
with open("replaced.txt", "w") as replaced, open("removed.txt", "w") as removed:
    for (i, a), (j, b) in combinations(enumerate(datasets), 2):
        differ = Counter(b) - Counter(a)  # rows of b that a does not have
        if sum(differ.values()) == 1:
            print(f"{i},{j}", file=replaced if len(a) == len(b) else removed)

# Groups of 0 to 20 people, and one person more or less.
with open("sizes.jsonl", "w") as sizes, open("one-more.txt", "w") as more:
    for people in range(21):
        print(people, file=sizes)
        if people > 0:
            print(f"{people - 1},{people}", file=more)
