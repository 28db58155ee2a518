"""A tree with a test of row E92 and E93, and a list that also wants E91."""

with open("test/planted_test.c", "w", encoding="utf-8") as file:
    file.write("static void e92OneStep(void **state);\n/* E93 */\n")
with open("rows.txt", "w", encoding="utf-8") as file:
    file.write("E91 E92 # two\nopen E93\n")
