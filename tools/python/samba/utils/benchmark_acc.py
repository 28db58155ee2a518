"""AccuracyReport: what a training reached, as a JSON file."""
import json

from samba.names import unknown

FIELDS = ("val_accuracy", "val_metrics", "batch_size", "num_iterations", "train_metrics")


class AccuracyReport:
    """The accuracy that a training reached, and with how many samples.

    AccuracyReport(val_accuracy=91.5, batch_size=8, num_iterations=1000).save("report.json")
    val_metrics, train_metrics: dictionaries of further numbers."""

    def __init__(self, **fields):
        for name, value in fields.items():
            if name not in FIELDS:
                raise TypeError("AccuracyReport: " + unknown("field", name, FIELDS))
            setattr(self, name, value)
        self._fields = dict(fields)

    def as_dict(self):
        """The fields that were given."""
        return {name: plain(value) for name, value in self._fields.items()}

    def save(self, path):
        """Writes the report to a file."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.as_dict(), file, indent=2)
            file.write("\n")

    def __repr__(self):
        inner = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"AccuracyReport({inner})"


def plain(value):
    """Tensors of one element become numbers."""
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    return value.item() if hasattr(value, "item") else value
