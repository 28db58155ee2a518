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
  (*out_context)->generator = sambaGeneratorCreate(0);
  return NULL;
}

void sambaContextDestroy(SambaContext *context) {
  if (!context)
    return;
  if (context->device)
    context->release_device(context->device);
  if (!mlirContextIsNull(context->mlir) && !context->borrows_mlir)
    mlirContextDestroy(context->mlir);
  sambaGeneratorDestroy(context->generator);
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

/* ---- Random numbers and parameters ---- */

SambaGenerator *sambaContextGetGenerator(SambaContext *context) { return context->generator; }

void sambaContextSetSeed(SambaContext *context, uint64_t seed) {
  sambaGeneratorSetSeed(context->generator, seed);
}

/* Refuses what an initializer would refuse. */
static SambaStatus checkLazyOptions(const SambaLazyOptions *options) {
  const SambaInitializer zero = {SAMBA_INITIALIZER_CONSTANT, 0, 0};
  SambaTensor *tensor;
  SAMBA_RETURN_IF_ERROR(
      sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 0, NULL, (SambaStringRef){0}, &tensor));
  SambaStatus status = sambaTensorSetInitializer(tensor, &zero, options);
  sambaTensorRelease(tensor);
  return status;
}

SambaStatus sambaContextSetLazy(SambaContext *context, const SambaLazyOptions *options) {
  if (options)
    SAMBA_RETURN_IF_ERROR(checkLazyOptions(options));
  context->is_lazy = options != NULL;
  context->lazy = options ? *options : (SambaLazyOptions){0};
  return NULL;
}

bool sambaContextIsLazy(const SambaContext *context) { return context->is_lazy; }

SambaStatus sambaContextCreateParameter(SambaContext *context, SambaDType dtype, uint32_t rank,
                                        const int64_t *dims, SambaStringRef name,
                                        const SambaInitializer *initializer,
                                        SambaTensor **out_tensor) {
  const SambaLazyOptions eager = {.threads = 1};
  SambaTensor *tensor;
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateEmpty(dtype, rank, dims, name, &tensor));
  SambaStatus status = sambaTensorSetRequiresGrad(tensor, true);
  if (!status)
    status =
        sambaTensorSetInitializer(tensor, initializer, context->is_lazy ? &context->lazy : &eager);
  if (!status && !context->is_lazy)
    status = sambaTensorMaterialize(tensor, context->generator);
  if (status)
    sambaTensorRelease(tensor);
  else
    *out_tensor = tensor;
  return status;
}

/* ---- Graphs ---- */

SambaTrace *sambaTraceCreate(SambaContext *context, const char *graph_name) {
  return sambaTraceCreateInContext(sambaContextGetMlir(context), graph_name);
}

const char *sambaGetVersion(void) { return SAMBA_VERSION; }
