"""All datasets of one to four numbers from 0 to 2, and groups by their size."""
import json
from itertools import combinations_with_replacement

datasets = [list(d) for size in (1, 2, 3, 4) for d in combinations_with_replacement(range(3), size)]
with open("datasets.jsonl", "w") as file:
    for d in datasets:
        print(json.dumps(d), file=file)

# Groups of 0 to 20 people, and one person more or less.
with open("sizes.jsonl", "w") as sizes, open("one-more.txt", "w") as more:
    for people in range(21):
        print(people, file=sizes)
        if people > 0:
            print(f"{people - 1},{people}", file=more)
