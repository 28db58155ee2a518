"""bad_forms.py: files that break the form of their language, in the current folder."""
LONG = "x" * 101
WORDS = "long words " * 9 + "end"


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


write("bad.c", "int  f ( ) ;\n")
write("bad.py", "a = [1,2]\n\n# " + WORDS + "\n")
write("script", "#!/usr/bin/env python3\n# " + WORDS + "\n")
write("bad.md", "# " + WORDS + "\n")
write("bad.td", LONG + "\n")
