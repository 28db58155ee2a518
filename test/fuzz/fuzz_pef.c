/* libFuzzer target: any bytes as a PEF, as they are (in memory and in a file) and with their
 * checksums repaired; container, tables, configuration bits.
 *
 *   cmake -B build-fuzz -DSAMBA_ENABLE_MLIR=OFF -DCMAKE_C_COMPILER=clang-22
 * -DSAMBA_SANITIZE=address,undefined,fuzzer-no-link ninja -C build-fuzz samba_pef clang-22 -g
 * -fsanitize=fuzzer,address,undefined -I. test/fuzz/fuzz_pef.c
 * build-fuzz/backend/{pef,config,machine}/lib*.a build-fuzz/support/lib*.a -L/usr/lib/llvm-22/lib
 * -lLLVM -lelf -lm -o fuzz_pef
 *   ./fuzz_pef CORPUS        (a folder with a few small PEFs) */
#include "backend/pef/container/fix.h"
#include "backend/pef/container/initial_data.h"
#include "backend/pef/container/reader.h"
#include "backend/pef/image/image.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void ask(SambaStatus status, SambaPef *pef) {
  if (status) {
    sambaStatusFree(status);
    return;
  }

  SambaMachine machine;
  sambaStatusFree(sambaPefGetMachine(pef, &machine));
  for (uint32_t i = 0; i < pef->symbols_count; ++i)
    if (pef->symbols[i].init == SAMBA_PEF_INIT_BLOB)
      sambaStatusFree(sambaPefVerifyInit(pef, &pef->symbols[i]));

  for (uint32_t i = 0; i < pef->images_count; ++i) {
    SambaArena arena = {0};
    SambaSection *section;
    sambaStatusFree(sambaPefDecodeImage(pef, i, &machine, &arena, &section));
    sambaArenaDestroy(&arena);
  }

  sambaPefDestroy(pef);
}

static void openAndAsk(const char *path) {
  SambaPef *pef = NULL;
  SambaStatus status = sambaPefOpen(path, &pef);
  ask(status, pef);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SambaPef *pef = NULL;
  SambaStatus read = sambaPefOpenMemory("memory", data, size, &pef);
  ask(read, pef);

  char path[64], fixed[64];
  int fd = memfd_create("pef", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    return 0;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  snprintf(fixed, sizeof fixed, "/tmp/samba-fuzz-%ld.pef", (long)getpid());
  openAndAsk(path);
  SambaStatus status = sambaPefFixChecksums(path, fixed);
  if (!status)
    openAndAsk(fixed);
  sambaStatusFree(status);
  close(fd);
  return 0;
}
