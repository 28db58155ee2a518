"""bad_forms.py: files that break the form of their language, in the current folder."""
LONG = "x" * 101
WORDS = "long words " * 9 + "end"


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


write("bad.c", "int  f ( ) ;\n")

# What clang-format takes and check-shape does not: a ?: inside another and a long function. The
# second long function says why, and a ?: after another is fine.
LINES = "  use();\n" * 61
write(
    "shape.c",
    "int sign(int x) { return x < 0 ? -1 : x > 0 ? 1 : 0; }\n"
    + "void tall(void) {\n"
    + LINES
    + "}\n"
    + "/* Long: nothing to split. */\nvoid justified(void) {\n"
    + LINES
    + "}\n"
    + "int two(int x) { return f(x ? 1 : 2, x ? 3 : 4); }\n"
    + "int nested(int x) { return x < 0 ? -1 : (x ? 1 : 0); }\n"
    + "int after(int x) { return (x ? 1 : 2) + (x ? 3 : 4); }\n"
    + 'const char *format = "%" PRIu64;\n',
)
write("bad.py", "a = [1,2]\n\n# " + WORDS + "\n")
write("script", "#!/usr/bin/env python3\n# " + WORDS + "\n")
write("bad.md", "# " + WORDS + "\n")
write("bad.td", LONG + "\n")
