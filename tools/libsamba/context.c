/* Contexts; see samba/context.h. */
#include "tools/libsamba/context.h"

#include "frontend/trace/trace.h"
#include "pipeline/compile.h"
#include "support/base/version.h"

#include <stdlib.h>

static char *copyText(const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(sambaAllocate(size), text, size);
}

SambaStatus sambaContextCreate(SambaContext **out_context) {
  *out_context = sambaAllocateZeroed(1, sizeof **out_context);
  (*out_context)->target = copyText("sn40l");
  return NULL;
}

void sambaContextDestroy(SambaContext *context) {
  if (!context)
    return;
  if (context->device)
    context->release_device(context->device);
  if (!mlirContextIsNull(context->mlir))
    mlirContextDestroy(context->mlir);
  free(context->target);
  free(context);
}

MlirContext sambaContextGetMlir(SambaContext *context) {
  if (mlirContextIsNull(context->mlir))
    context->mlir = sambaCompilerContextCreate();
  return context->mlir;
}

void sambaContextSetTarget(SambaContext *context, const char *target) {
  char *copy = copyText(target);
  free(context->target);
  context->target = copy;
}

const char *sambaContextGetTarget(const SambaContext *context) { return context->target; }

SambaTrace *sambaTraceCreate(SambaContext *context, const char *graph_name) {
  return sambaTraceCreateInContext(sambaContextGetMlir(context), graph_name);
}

const char *sambaGetVersion(void) { return SAMBA_VERSION; }
