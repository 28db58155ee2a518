/* The trace records of model files; see samba/compile.h. */
#include "support/text/trace_record.h"

#include "support/base/memory.h"
#include "tools/libsamba/context.h"
#include "tools/libsamba/model.h"

#include <stdlib.h>

/* A record with text of its own. */
typedef struct OwnRecord {
  SambaTraceRecord record; /* comes first */
  SambaArena arena;
} OwnRecord;

static void copyRecord(uint32_t line_count, const char *const *lines, const uint8_t digest[32],
                       void *user) {
  OwnRecord *own = user;
  const char **copies = SAMBA_ARENA_ARRAY(&own->arena, const char *, line_count + 1);
  for (uint32_t i = 0; i < line_count; ++i)
    copies[i] = sambaStringRefCopy(&own->arena, sambaStringRef(lines[i])).data;
  own->record.line_count = line_count;
  own->record.lines = copies;
  memcpy(own->record.digest, digest, sizeof own->record.digest);
}

SambaStatus sambaTraceRecordCreateFromFile(SambaContext *context, const char *model,
                                           const SambaCompileOptions *options,
                                           SambaTraceRecord **out_record) {
  static const SambaCompileOptions defaults = {0};
  OwnRecord *own = sambaAllocateZeroed(1, sizeof *own);
  MlirModule module = {NULL};
  SambaStatus status = sambaModelImportOnnx(
      sambaContextGetMlir(context), model, options ? options : &defaults, copyRecord, own, &module);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  *out_record = &own->record;
  if (status) {
    sambaTraceRecordDestroy(*out_record);
    *out_record = NULL;
  }
  return status;
}

void sambaTraceRecordDestroy(SambaTraceRecord *record) {
  OwnRecord *own = (OwnRecord *)record;
  if (!own)
    return;
  sambaArenaDestroy(&own->arena);
  free(own);
}
