"""Makes a program of the C blocks of docs/c-api.md, one function for each, and compiles it.

    c_page.py SOURCE BUILD   (the program is ./page)
"""
import glob
import re
import subprocess
import sys

source, build = sys.argv[1:]
page = open(source + "/docs/c-api.md", encoding="utf-8").read()
first, second = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
include, first = first.split("\n", 1)
assert include == "#include <samba/samba.h>"
program = """%s
#include <stdio.h>
static void print(const char *what, SambaTensor *tensor) {
  float numbers[8];
  int64_t count = sambaTensorGetNumElements(tensor);
  sambaStatusFree(sambaTensorCopyToFloat(tensor, numbers, count));
  printf("%%s:", what);
  for (int64_t i = 0; i < count; ++i)
    printf(" %%g", (double)numbers[i]);
  printf("\\n");
}
static SambaStatus graph(void) {
%s
  print("relu", y);
  return NULL;
}
static SambaStatus lazy(SambaContext *context, SambaTensor *a, SambaTensor *b) {
%s
  print("add and relu", y);
  return NULL;
}
int main(void) {
  SambaContext *context;
  SambaTensor *a, *b;
  float numbers[] = {-3, 1, 2, 1};
  int64_t two = 2;
  SambaBufferView one = {numbers, SAMBA_DTYPE_F32, 1, &two, NULL};
  SambaBufferView other = {numbers + 2, SAMBA_DTYPE_F32, 1, &two, NULL};
  SambaStatus status = graph();
  if (!status)
    status = sambaContextCreate(&context);
  if (!status)
    status = sambaTensorCreateFromBuffer(&one, sambaStringRef("a"), &a);
  if (!status)
    status = sambaTensorCreateFromBuffer(&other, sambaStringRef("b"), &b);
  if (!status)
    status = lazy(context, a, b);
  if (status)
    printf("%%s\\n", sambaStatusGetMessage(status));
  return status != NULL;
}
""" % (
    include,
    first,
    second,
)
with open("page.c", "w", encoding="utf-8") as file:
    file.write(program)
folders = glob.glob(source + "/*/include") + glob.glob(source + "/tools/*/include")
folders = [folder for folder in folders if not folder.startswith(build)]
command = ["clang-22", "-std=c11", "-Wall", "-Werror", "page.c", "-o", "page"]
command += ["-I" + folder for folder in folders + [build + "/frontend/include"]]
command += ["-L" + build + "/lib", "-lsamba", "-Wl,-rpath," + build + "/lib"]
sys.exit(subprocess.run(command).returncode)
