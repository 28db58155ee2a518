/* Paths: folders, names in folders, and the way from a folder to a file that exists. */
#include "support/file/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void expectFolder(const char *path, const char *folder) {
  assert_true(sambaStringRefEqualC(sambaPathFolder(path), folder));
}

static void testFolder(void **state) {
  (void)state;
  expectFolder("a/b/c", "a/b/");
  expectFolder("/c", "/");
  expectFolder("c", "");
  expectFolder("", "");
  expectFolder("a/", "a/");
}

static void testJoin(void **state) {
  (void)state;
  static const char *const cases[][3] = {{"a/b", "c", "a/b/c"}, {"a/b/", "c", "a/b/c"},
                                         {"", "c", "c"},        {"a", "/c", "/c"},
                                         {"/", "c", "/c"},      {"a", "b/c", "a/b/c"}};
  SambaArena arena = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_string_equal(
        sambaPathJoin(&arena, sambaStringRef(cases[i][0]), sambaStringRef(cases[i][1])),
        cases[i][2]);
  sambaArenaDestroy(&arena);
}

static void touch(const char *path) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
}

static void expectWay(SambaArena *arena, const char *folder, const char *path, const char *way) {
  const char *got = NULL;
  assert_null(sambaPathRelative(arena, folder, path, &got));
  assert_string_equal(got, way);
}

static void expectError(SambaStatus status, const char *text) {
  assert_non_null(status);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_IO);
  assert_string_equal(sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

static void testRelative(void **state) {
  (void)state;
  SambaArena arena = {0};
  char root[] = "/tmp/samba-path-XXXXXX", before[1024];
  assert_non_null(mkdtemp(root));
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(root), 0);

  static const char *const folders[] = {"a", "a/b", "a/bc", "d"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i)
    assert_int_equal(mkdir(folders[i], 0700), 0);
  touch("a/x");
  touch("a/bc/y");
  assert_int_equal(symlink("../a/x", "d/link"), 0);

  expectWay(&arena, "a", "a/x", "x");
  expectWay(&arena, "", "a/x", "a/x");
  expectWay(&arena, "a/b", "a/x", "../x");
  expectWay(&arena, "a/b", "a/bc/y", "../bc/y"); /* "b" begins "bc", but is another folder */
  expectWay(&arena, "a/bc/", "./a/b/../x", "../x");
  expectWay(&arena, "d", "d/link", "../a/x");
  expectWay(&arena, "/", "a/x", sambaArenaFormat(&arena, "%s/a/x", root + 1));
  const char *way;
  expectError(sambaPathRelative(&arena, "a", "a/none", &way), "a/none: No such file or directory");
  expectError(sambaPathRelative(&arena, "none", "a/x", &way), "none: No such file or directory");

  static const char *const made[] = {"d/link", "a/bc/y", "a/x", "d", "a/bc", "a/b", "a"};
  for (size_t i = 0; i < sizeof made / sizeof *made; ++i)
    assert_int_equal(remove(made[i]), 0);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(rmdir(root), 0);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testFolder), cmocka_unit_test(testJoin),
                                     cmocka_unit_test(testRelative)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
