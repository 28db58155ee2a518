"""Dropout has no expected numbers, only properties."""
import numpy as np

DEVIATION = 0.012  # of a share in 32768 elements: more than four standard deviations


def check_dropout(case, programs, options):
    """What is wrong, in order. The model is the mean of dropout(x * w), with x and w of ones."""
    bad, count, rate, steps = [], case["elements"], case["p"], case["steps"]
    narrow = 1e-2 if options.precision else 1e-5
    alike = rate**2 + (1 - rate) ** 2  # the share of equals in two independent masks

    def check(what, value, expected, deviation=DEVIATION):
        if not np.all(np.abs(value - expected) <= deviation):
            bad.append(f"{what}: {value}, not {expected} +- {deviation}")

    inputs = {"x": np.ones(count, np.float32)}
    got = programs.run(steps, inputs, [], ["loss", "y", "w__grad"])
    kept = got["y"] != 0
    for step, mask in enumerate(kept):
        check(f"zeros of step {step}", 1 - mask.mean(), rate)
        for apart in (1, 256):
            check(f"equals {apart} apart", (mask[apart:] == mask[:-apart]).mean(), alike)
        for other in range(step):
            check(f"masks {other} and {step}", (mask == kept[other]).mean(), alike)
        check("kept elements", got["y"][step][mask] * (1 - rate), 1, narrow)
        check("loss", got["loss"][step], got["y"][step].astype(np.float64).mean(), 2 * narrow)
        # The backward pass has the mask of its own forward pass.
        check("gradient", got["w__grad"][step] * count * (1 - rate), mask, narrow)

    whole = programs.run(1, inputs, ["w"], ["y"], "--set", "p=0")
    check("y with p = 0", whole["y"], 1, 0)
    check("w at a rate of 0", whole["w"], 1, 0)
    return bad
