/* A trace as a module of MLIR, in a file. */
#include "dialect/bridge/text_sink.h"
#include "frontend/trace/trace.h"
#include "support/file/atomic_file.h"

SambaStatus sambaTraceWrite(SambaTrace *trace, const char *path) {
  MlirModule module;
  SambaText text = {0};
  SAMBA_RETURN_IF_ERROR(sambaTraceFinish(trace, &module));

  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, true, false); /* layers are locations */
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, sambaTextSink, &text);
  sambaTextAppendC(&text, "\n");
  mlirOpPrintingFlagsDestroy(flags);
  mlirModuleDestroy(module);

  SambaStatus status = sambaWriteOutput(path, text.data, text.size);
  sambaTextFree(&text);
  return status;
}
