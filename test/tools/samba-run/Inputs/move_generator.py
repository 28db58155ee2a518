"""move_generator.py IN OUT: turns AG 0 into AG 1 in a switch entry of two_tiles.s, first
image. An entry has 16 bytes. It begins with y and x, 10 bits each, 2 bits for the kind, 3 for
the port where the flow enters (5: an address generator), and 12 for which one."""
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
entry = (0 | 1 << 10 | 0 << 20 | 5 << 22).to_bytes(4, "little")
assert data.count(entry) == 1
at = data.index(entry)
data[at : at + 4] = (1 << 10 | 5 << 22 | 1 << 25).to_bytes(4, "little")
with open(sys.argv[2], "wb") as file:
    file.write(data)
