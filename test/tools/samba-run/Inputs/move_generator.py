"""move_generator.py IN OUT: turns AG 0 into AG 1 in the switch entry of two_tiles.s, first image,
that takes it. A switch fills words of 64 bits. It begins with y and x, 10 bits each, 2 bits for the
kind and 20 for the number of its entries. An entry begins with 3 bits for the port where the flow
enters (5: an address generator), and 12 for which one."""
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
PLACE = 1 << 10  # y 0, x 1, vector
found = []
for at in range(0, len(data) - 8, 8):
    bits = int.from_bytes(data[at : at + 8], "little")
    count, entry = bits >> 22 & (1 << 20) - 1, bits >> 42 & (1 << 15) - 1
    if bits & (1 << 22) - 1 == PLACE and 1 <= count <= 4 and entry == 5:
        found.append(at)
assert len(found) == 1, found
bits = int.from_bytes(data[found[0] : found[0] + 8], "little") | 1 << 45
data[found[0] : found[0] + 8] = bits.to_bytes(8, "little")
with open(sys.argv[2], "wb") as file:
    file.write(data)
