"""TfIdfVectorizer with made-up pools; the reference walks over every place of a row."""
import sys

import numpy as np
from model_check import check, failures

random = np.random.default_rng(7)
POOL = [[[1], [3], [9]], [[1, 2], [2, 1], [3, 3]], [[1, 2, 3], [2, 2, 2]]]  # by length
GRAMS = [gram for grams in POOL for gram in grams]
INDEXES = [4, 0, 2, 7, 1, 5, 3, 9]
WEIGHTS = [0.5, 2.0, 1.0, 3.0, 0.25, 1.5, 4.0, 8.0]


def reference(rows, least, most, skips, mode, weights):
    result = np.zeros([len(rows), max(INDEXES) + 1], np.float32)
    for row, out in zip(rows, result):
        for gram, index, weight in zip(GRAMS, INDEXES, weights or [1] * len(GRAMS)):
            n = len(gram)
            if not least <= n <= most:
                continue
            for distance in range(1, (skips if n > 1 else 0) + 2):
                for place in range(len(row)):
                    items = row[place : place + (n - 1) * distance + 1 : distance]
                    out[index] += place + (n - 1) * distance < len(row) and list(items) == gram
            out[index] = {
                "TF": out[index],
                "IDF": (out[index] > 0) * weight,
                "TFIDF": out[index] * weight,
            }[mode]
    return result


attributes = {
    "ngram_counts": [0, 3, 9],
    "ngram_indexes": INDEXES,
    "pool_int64s": [i for gram in GRAMS for i in gram],
}
for least, most, skips, mode, weights in (
    (1, 1, 4, "TF", None),
    (2, 2, 0, "TF", WEIGHTS),
    (1, 3, 2, "TFIDF", WEIGHTS),
    (2, 3, 9, "IDF", WEIGHTS),
    (3, 3, 1, "TFIDF", None),
    (1, 2, 5, "IDF", None),
):
    x = random.integers(1, 4, [3, 11])
    node = {
        **attributes,
        "min_gram_length": least,
        "max_gram_length": most,
        "max_skip_count": skips,
        "mode": mode,
    }
    node.update({"weights": weights} if weights else {})
    expected = reference(x, least, most, skips, mode, weights)
    check(
        f"{least} to {most} {mode}",
        [("TfIdfVectorizer", ["x"], ["y"], node)],
        {"x": x},
        {"y": expected},
    )
    check(
        f"{least} to {most} {mode}, one row",
        [("TfIdfVectorizer", ["x"], ["y"], node)],
        {"x": x[0]},
        {"y": expected[0]},
    )
print("\n".join(failures))
sys.exit(1 if failures else 0)
