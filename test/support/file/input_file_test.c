/* Files that a model names are read only when they lie in the folder that the user named. */
#include "support/file/input_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static const char *pathOf(const char *name) {
  static char paths[4][128];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", root, name);
  return path;
}

static void writeFile(const char *name, const char *text) {
  FILE *file = fopen(pathOf(name), "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* model/ is the folder that the user named; model-2/ and the secret lie beside it. */
static int setUp(void **state) {
  (void)state;
  strcpy(root, "/tmp/samba-input-XXXXXX");
  if (!mkdtemp(root))
    return 1;
  mkdir(pathOf("model"), 0700);
  mkdir(pathOf("model/data"), 0700);
  mkdir(pathOf("model-2"), 0700);
  writeFile("secret", "a secret");
  writeFile("model-2/w.bin", "of another model");
  writeFile("model/w.bin", "weights");
  writeFile("model/data/w.bin", "more weights");
  int failed = symlink("data/w.bin", pathOf("model/link")) |
               symlink("../secret", pathOf("model/leak")) | symlink("..", pathOf("model/up")) |
               symlink("model", pathOf("linked")) | mkfifo(pathOf("model/pipe"), 0600);
  return failed;
}

static int tearDown(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -r %s", root);
  return system(command);
}

static void expectContents(const char *folder, const char *name, const char *text) {
  int fd;
  uint64_t bytes;
  char contents[32] = {0};
  SambaStatus status = sambaInputFileOpenInside(folder, name, &fd, &bytes);
  if (status)
    fail_msg("unexpected error: %s", sambaStatusGetMessage(status));
  assert_int_equal(bytes, strlen(text));
  assert_int_equal(read(fd, contents, sizeof contents - 1), bytes);
  assert_string_equal(contents, text);
  close(fd);
}

static void expectError(const char *folder, const char *name, const char *text) {
  int fd;
  uint64_t bytes;
  SambaStatus status = sambaInputFileOpenInside(folder, name, &fd, &bytes);
  if (!status || !strstr(sambaStatusGetMessage(status), text))
    fail_msg("%s: the error is: %s\nexpected in it: %s", name, sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

static void testInside(void **state) {
  (void)state;
  expectContents(pathOf("model"), pathOf("model/w.bin"), "weights");
  expectContents(pathOf("model/"), pathOf("model/w.bin"), "weights");
  expectContents(pathOf("model"), pathOf("model/data/w.bin"), "more weights");
  expectContents(pathOf("model"), pathOf("model/data/../w.bin"), "weights");
  expectContents(pathOf("model"), pathOf("model/link"), "more weights");
  expectContents(pathOf("linked"), pathOf("linked/w.bin"), "weights");
  expectContents("/", pathOf("secret"), "a secret");

  assert_int_equal(chdir(pathOf("model")), 0);
  expectContents("", "w.bin", "weights");
  expectError("", "../secret", "../secret: lies outside the folder '.'");
  assert_int_equal(chdir("/"), 0);
}

static void testOutside(void **state) {
  (void)state;
  static const char *const names[] = {"model/../secret", "model/leak", "model/up/secret",
                                      "model-2/w.bin", "secret"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    expectError(pathOf("model"), pathOf(names[i]), "where the model's data must be; copy the file");
  expectError(pathOf("absent"), pathOf("secret"), "lies outside the folder");
  expectError(pathOf("model"), "/etc/passwd", "/etc/passwd: lies outside the folder");
}

static void testNoFile(void **state) {
  (void)state;
  expectError(pathOf("model"), pathOf("model/absent"), "cannot be read: No such file");
  expectError(pathOf("model"), pathOf("model/pipe"), "it is not a regular file; copy it to one");
  expectError(pathOf("model"), pathOf("model/data"), "it is not a regular file; copy it to one");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testInside), cmocka_unit_test(testOutside),
                                     cmocka_unit_test(testNoFile)};
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
