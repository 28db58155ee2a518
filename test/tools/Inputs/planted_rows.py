"""A tree whose tests name rows: E91 in C alone though it has two forms, E92 in both, E93 though it
is open, E94 not at all."""
import os

os.makedirs("test/python")
os.makedirs("test/tools/Inputs")
os.makedirs("docs")
with open("test/planted_test.c", "w", encoding="utf-8") as file:
    file.write("static void e92OneStep(void **state);\n/* E91 E93 */\n")
with open("test/python/planted_test.py", "w", encoding="utf-8") as file:
    file.write("def test_E92_one_step(self):\n    pass\n")
with open("test/tools/Inputs/rows.txt", "w", encoding="utf-8") as file:
    file.write("# Rows.\n\n# Examples\nE91 c py: one\nE92 c py: two\n")
    file.write("E93 c open: three\nE94 c open: four\n")
