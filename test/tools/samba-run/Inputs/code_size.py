"""What a program load moves, from the PEF alone (docs/pef-format.md): all bits of an image but its
counts (93 bits) and its formal arguments (53 bits each), which fill words of 64 bits."""
import struct

HEADER = 64  # bytes before the records of each section


def _elf_sections(data):
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
    start = headers[names][4]
    for name, _, _, _, at, length in headers:
        end = data.index(b"\0", start + name)
        yield data[start + name : end].decode(), data[at : at + length]


def load_bytes(path):
    """Of each image, in order."""
    with open(path, "rb") as file:
        sections = dict(_elf_sections(file.read()))
    images, code, sizes = sections[".samba.images"], sections[".samba.code"][HEADER:], []
    (record_bytes,) = struct.unpack_from("<I", images, 8)
    for record in range(HEADER, len(images), record_bytes):
        start, size = struct.unpack_from("<QQ", images, record + 8)
        bits = int.from_bytes(code[start : start + 8], "little")
        formals = bits >> 17 & (1 << 20) - 1
        sizes.append(size - 16 - 8 * formals)
    return sizes
