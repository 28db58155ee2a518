"""OrderedSet: a set that keeps the order in which its elements came."""
from collections.abc import MutableSet


class OrderedSet(MutableSet):
    """A set with an order, also of tensors: elements are found by hash and identity or equality.

    OrderedSet([3, 1, 3]) is {3, 1}; it can be indexed, and compared with any set."""

    def __init__(self, elements=()):
        self._elements = dict.fromkeys(elements)

    def __contains__(self, element):
        return element in self._elements

    def __iter__(self):
        return iter(self._elements)

    def __len__(self):
        return len(self._elements)

    def __getitem__(self, index):
        return list(self._elements)[index]

    def __reversed__(self):
        return reversed(list(self._elements))

    def add(self, element):
        self._elements[element] = None

    def discard(self, element):
        self._elements.pop(element, None)

    def update(self, *others):
        for other in others:
            self._elements.update(dict.fromkeys(other))

    def union(self, *others):
        result = type(self)(self)
        result.update(*others)
        return result

    def difference(self, *others):
        left_out = set().union(*others)
        return type(self)(element for element in self if element not in left_out)

    def intersection(self, *others):
        return type(self)(element for element in self if all(element in o for o in others))

    def copy(self):
        return type(self)(self)

    def __eq__(self, other):
        if isinstance(other, OrderedSet):
            return list(self) == list(other)
        return set(self) == other

    def __repr__(self):
        return f"OrderedSet({list(self)!r})"


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("OrderedSet",))
