"""Compares entries of a decisions file: LAYER:PLACE:KEY=VALUE ..."""
import json
import sys

with open(sys.argv[1]) as file:
    layers = json.load(file)["layers"]
for wanted in sys.argv[2:]:
    place, value = wanted.split("=", 1)
    layer, number, key = place.split(":")
    found = layers[layer][int(number)].get(key)
    if str(found) != value:
        sys.exit("%s: %s, not %s" % (place, found, value))
