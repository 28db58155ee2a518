/* Samba inside of other MLIR compilers; see samba/mlir.h. */
#include "samba/mlir.h"

#include "backend/pef/container/writer.h"
#include "dialect/rdu/ops/rdu_hooks.h"
#include "dialect/registry/dialects.h"
#include "dialect/samba/ops/samba_hooks.h"
#include "lowering/pef/rdu_to_pef.h"
#include "pipeline/compile.h"
#include "pipeline/register.h"
#include "tools/libsamba/context.h"

/* What a dialect handle of MLIR's C API points to (mlir/CAPI/Registration.h, which is C++). */
typedef struct DialectHooks {
  void (*insert)(MlirDialectRegistry registry);
  MlirDialect (*load)(MlirContext context);
  MlirStringRef (*get_namespace)(void);
} DialectHooks;

static MlirDialect load(MlirContext context, const DialectHooks *hooks) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  hooks->insert(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);
  return mlirContextGetOrLoadDialect(context, hooks->get_namespace());
}

static MlirStringRef sambaNamespace(void) { return mlirStringRefCreateFromCString("samba"); }
static MlirStringRef rduNamespace(void) { return mlirStringRefCreateFromCString("rdu"); }

static MlirDialect loadSamba(MlirContext context);
static MlirDialect loadRdu(MlirContext context);
static const DialectHooks samba_dialect = {sambaInsertSamba, loadSamba, sambaNamespace};
static const DialectHooks rdu_dialect = {sambaInsertRdu, loadRdu, rduNamespace};

static MlirDialect loadSamba(MlirContext context) { return load(context, &samba_dialect); }
static MlirDialect loadRdu(MlirContext context) { return load(context, &rdu_dialect); }

MlirDialectHandle mlirGetDialectHandle__samba__(void) {
  return (MlirDialectHandle){&samba_dialect};
}
MlirDialectHandle mlirGetDialectHandle__rdu__(void) { return (MlirDialectHandle){&rdu_dialect}; }

void mlirRegisterAllSambaDialects(MlirDialectRegistry registry) { sambaRegisterDialects(registry); }
void mlirRegisterAllSambaPasses(void) { sambaRegisterPasses(); }

SambaStatus sambaContextCreateWithMlir(MlirContext mlir, SambaContext **out_context) {
  SAMBA_RETURN_IF_ERROR(sambaContextCreate(out_context));
  sambaCompilerContextPrepare(mlir);
  (*out_context)->mlir = mlir;
  (*out_context)->borrows_mlir = true;
  return NULL;
}

SambaStatus sambaEmitMlirToMemory(MlirModule module, SambaPefData *out_pef) {
  SambaPef *pef = NULL;
  *out_pef = (SambaPefData){0};
  SAMBA_RETURN_IF_ERROR(
      sambaModuleToPef(mlirModuleGetOperation(module), &(SambaEmitOptions){0}, &pef));
  SambaStatus status = sambaPefWriteToMemory(pef, &out_pef->data, &out_pef->size);
  sambaPefDestroy(pef);
  return status;
}
