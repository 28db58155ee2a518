/* For compilers on MLIR: Samba's dialects, passes and pipelines in an MLIR context of theirs, and a
 * module of theirs as a PEF.
 *
 *   MlirContext mlir = ...;                     (yours; wrap(context) in C++)
 *   SambaContext *context;
 *   sambaContextCreateWithMlir(mlir, &context);
 *   sambaCompileMlirToMemory(context, module, &options, &pef);
 *
 * This is the one header that includes MLIR's: mlir-c of MLIR 22. The process must have one MLIR,
 * the shared libMLIR that the library itself uses; docs/embedding.md tells how to link.
 *
 * The next two headers declare each pass in the manner of MLIR's C API:
 * mlirRegisterSambaPasses() and mlirRegisterSambaLoweringPasses() for the groups,
 * mlirRegisterSambaNAME() and MlirPass mlirCreateSambaNAME() for single ones. */
#ifndef SAMBA_MLIR_H
#define SAMBA_MLIR_H

#include "samba/compile.h"
#include "samba/lowering_passes.h.inc"
#include "samba/passes.h.inc"

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Samba, samba);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Rdu, rdu);

/* samba, rdu, and the dialects of MLIR that Samba's passes make. */
MLIR_CAPI_EXPORTED void mlirRegisterAllSambaDialects(MlirDialectRegistry registry);
/* Every pass and pipeline by its name, and `canonicalize` and `cse`, which the pipelines contain.
 * It may be called more than once. */
MLIR_CAPI_EXPORTED void mlirRegisterAllSambaPasses(void);

/* A context of Samba that works in an MLIR context of the caller, who destroys it afterwards. The
 * dialects that Samba needs are loaded into it now, so no pass may be running there. */
SAMBA_EXPORT SambaStatus sambaContextCreateWithMlir(MlirContext mlir, SambaContext **out_context);
/* The MLIR context of any Samba context, which keeps it. */
SAMBA_EXPORT MlirContext sambaContextGetMlir(SambaContext *context);

/* Compiles a module of the context's MLIR context, which stays as it is. options may be NULL. Paths
 * in the module are relative to the current folder. */
SAMBA_EXPORT SambaStatus sambaCompileMlir(SambaContext *context, MlirModule module,
                                          const SambaCompileOptions *options, const char *path);
SAMBA_EXPORT SambaStatus sambaCompileMlirToMemory(SambaContext *context, MlirModule module,
                                                  const SambaCompileOptions *options,
                                                  SambaPefData *out_pef);

/* The PEF of a module that a pipeline of the caller's brought down already: its sections are placed
 * and routed, as samba-to-rdu leaves them. */
SAMBA_EXPORT SambaStatus sambaEmitMlirToMemory(MlirModule module, SambaPefData *out_pef);

#ifdef __cplusplus
}
#endif

#endif
