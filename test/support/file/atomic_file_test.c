/* Output files appear whole or not at all. */
#include "support/file/atomic_file.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static const char *pathOf(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void expectOk(SambaStatus status) {
  if (status)
    fail_msg("unexpected error: %s", sambaStatusGetMessage(status));
}

static void expectError(SambaStatus status, const char *text) {
  if (!status || !strstr(sambaStatusGetMessage(status), text))
    fail_msg("the error is: %s\nexpected in it: %s", sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

static void expectContents(const char *name, const char *text) {
  char contents[64] = {0};
  FILE *file = fopen(pathOf(name), "rb");
  assert_non_null(file);
  size_t size = fread(contents, 1, sizeof contents - 1, file);
  fclose(file);
  assert_int_equal(size, strlen(text));
  assert_string_equal(contents, text);
}

static int countFiles(void) {
  int count = 0;
  DIR *entries = opendir(folder);
  while (readdir(entries))
    ++count;
  closedir(entries);
  return count - 2; /* . and .. */
}

static int setUp(void **state) {
  (void)state;
  strcpy(folder, "/tmp/samba-atomic-XXXXXX");
  return mkdtemp(folder) ? 0 : 1;
}

static int tearDown(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static void testMemory(void **state) {
  (void)state;
  SambaAtomicFile file;
  void *data;
  size_t size;
  expectOk(sambaAtomicFileCreateInMemory("a PEF", &file));
  expectOk(sambaAtomicFileWrite(&file, "some ", 5));
  expectOk(sambaAtomicFileWrite(&file, "bytes", 5));
  expectOk(sambaAtomicFileTake(&file, &data, &size));
  assert_int_equal(size, 10);
  assert_memory_equal(data, "some bytes", 10);
  assert_int_equal(file.fd, -1);
  assert_int_equal(countFiles(), 0);
  free(data);
}

static void testReplace(void **state) {
  (void)state;
  SambaAtomicFile file;
  expectOk(sambaWriteFile(pathOf("a"), "old", 3));
  chmod(pathOf("a"), 0640);
  expectOk(sambaAtomicFileCreate(pathOf("a"), &file));
  expectOk(sambaAtomicFileWrite(&file, "new", 3));
  expectContents("a", "old");
  expectOk(sambaAtomicFileCommit(&file));
  expectContents("a", "new");
  struct stat info;
  assert_int_equal(stat(pathOf("a"), &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640); /* the replaced file's permissions */
  assert_int_equal(countFiles(), 1);
}

static void testDiscard(void **state) {
  (void)state;
  SambaAtomicFile file;
  expectOk(sambaAtomicFileCreate(pathOf("a"), &file));
  expectOk(sambaAtomicFileWrite(&file, "new", 3));
  sambaAtomicFileDiscard(&file);
  assert_int_equal(countFiles(), 0);
  sambaAtomicFileDiscard(&file); /* twice is harmless */
}

/* A process that is killed while it writes leaves the old file, and nothing else where the file
 * system has unnamed files. */
static void testKilled(void **state) {
  (void)state;
  expectOk(sambaWriteFile(pathOf("a"), "old", 3));
  int ready[2];

  assert_int_equal(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    SambaAtomicFile file;
    if (sambaAtomicFileCreate(pathOf("a"), &file) || sambaAtomicFileWrite(&file, "half", 4) ||
        write(ready[1], "x", 1) != 1)
      _exit(1);
    pause();
    _exit(1);
  }

  char byte;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
  expectContents("a", "old");
  SambaAtomicFile probe;
  expectOk(sambaAtomicFileCreate(pathOf("b"), &probe));
  if (!probe.temporary)
    assert_int_equal(countFiles(), 1);
  sambaAtomicFileDiscard(&probe);
}

static void testLinksAndDevices(void **state) {
  (void)state;
  expectOk(sambaWriteFile(pathOf("target"), "old", 3));
  assert_int_equal(symlink("target", pathOf("link")), 0);
  expectOk(sambaWriteFile(pathOf("link"), "new", 3));
  expectContents("target", "new");
  struct stat info;
  assert_int_equal(lstat(pathOf("link"), &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  expectOk(sambaWriteFile("/dev/null", "new", 3));
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
}

static void testInputIsNotOverwritten(void **state) {
  (void)state;
  char input[600];
  expectOk(sambaWriteFile(pathOf("input"), "old", 3));
  strcpy(input, pathOf("input"));
  assert_int_equal(symlink("input", pathOf("alias")), 0);
  expectError(sambaCheckOutput(pathOf("alias"), input),
              "alias: would be overwritten, but it is an input");
  expectOk(sambaCheckOutput(pathOf("new"), input));
  expectOk(sambaCheckOutput(input, pathOf("new")));
  expectOk(sambaCheckOutput(NULL, input));
  expectOk(sambaCheckOutput("/dev/null", "/dev/null"));

  char missing[128], other[192];
  snprintf(missing, sizeof missing, "%s/missing", folder);
  snprintf(other, sizeof other, "%s/../%s/missing", folder, strrchr(folder, '/') + 1);
  const char *names[] = {input};
  const struct {
    const char *outputs[2];
    const char *expected; /* NULL: fine */
  } cases[] = {{{missing, other}, "missing: two outputs would be written to this file"},
               {{missing, "/missing/missing"}, NULL},
               {{"/dev/null", "/dev/null"}, NULL},
               {{NULL, missing}, NULL},
               {{missing, input}, "would be overwritten, but it is an input"},
               {{"-", NULL}, "standard output ('-') cannot take this output"}};
  SambaStrings inputs = {names, 1, 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    SambaStrings outputs = {(const char **)cases[i].outputs, 2, 2};
    SambaStatus status = sambaCheckOutputs(&outputs, &inputs);
    if (cases[i].expected)
      expectError(status, cases[i].expected);
    else
      expectOk(status);
  }
}

static void testErrors(void **state) {
  (void)state;
  expectError(sambaWriteFile("", "x", 1), "the name of an output file is empty; give a path");
  expectError(sambaWriteFile(folder, "x", 1),
              "cannot be written: it is a folder; give a file name");
  expectError(sambaWriteFile(pathOf("missing/a"), "x", 1),
              "cannot be written: No such file or directory");
  expectOk(sambaWriteFile(pathOf("a"), "old", 3));
  expectError(sambaWriteFile("/dev/full", "x", 1),
              "/dev/full: writing failed: No space left on device");
  struct rlimit limit = {2, 2};
  struct rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  limit.rlim_max = before.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  SambaStatus status = sambaWriteFile(pathOf("a"), "new", 3);

  setrlimit(RLIMIT_FSIZE, &before);
  expectError(status, "writing failed: File too large");
  expectContents("a", "old");
  assert_int_equal(countFiles(), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testMemory, setUp, tearDown),
      cmocka_unit_test_setup_teardown(testReplace, setUp, tearDown),
      cmocka_unit_test_setup_teardown(testDiscard, setUp, tearDown),
      cmocka_unit_test_setup_teardown(testKilled, setUp, tearDown),
      cmocka_unit_test_setup_teardown(testLinksAndDevices, setUp, tearDown),
      cmocka_unit_test_setup_teardown(testInputIsNotOverwritten, setUp, tearDown),
      cmocka_unit_test_setup_teardown(testErrors, setUp, tearDown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
