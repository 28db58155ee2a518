/* From a module to a PEF: the whole way down as one call. samba-compile and the examples are its
 * clients. */
#ifndef SAMBA_PIPELINE_COMPILE_H
#define SAMBA_PIPELINE_COMPILE_H

#include "pipeline/pipeline.h"

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

/* A word about the compilation that the PEF keeps. */
typedef struct SambaCompileNote {
  const char *key, *value;
} SambaCompileNote;

typedef struct SambaModuleOptions {
  SambaPipelineOptions pipeline;
  const char *dump_decisions; /* file for what was decided, NULL: none */
  bool external_weights;      /* refer to the model's files instead of copying weights */
  bool explain;               /* remarks: sections, predictions, memory, work */
  const char *
      trace; /* the trace record (SambaTraceRecord's lines, each ended by a newline); may be NULL */
  size_t trace_size;
  const char *folder; /* external data paths in the module are relative to this folder; NULL: the
                         current one */
  /* Files with data must lie in this folder or below, or be `model` (see SambaEmitOptions). */
  const char *data_folder, *model;
  /* Called on each attempt's pass manager before it runs (printing, timing, verification flags);
   * may be NULL. Returns false to give up with an error that it has printed. */
  bool (*configure)(MlirPassManager manager, void *user);
  /* Called before each part of the work: what comes, and how many of `total` parts are done. The
   * sections that did not fit are made again, which counts anew. May be NULL. */
  void (*progress)(void *user, const char *part, uint32_t done, uint32_t total);
  void *user;
  /* More options that the PEF tells of, beside opt, precision and mapping. */
  size_t note_count;
  const SambaCompileNote *notes;
} SambaModuleOptions;

/* Where the PEF goes: to a file, and beside it PATH.log, or else to memory. */
typedef struct SambaCompileOutput {
  const char *path; /* NULL: to memory */
  void *data;       /* owned by the caller (free) */
  size_t size;
  bool wants_explanation; /* what became of the sections, as JSON */
  char *explanation;      /* owned by the caller (free) */
} SambaCompileOutput;

/* A context with everything registered and loaded that importing and compiling need. Destroy with
 * mlirContextDestroy. */
MlirContext sambaCompilerContextCreate(void);
/* Remarks and warnings in the context go to standard error; MLIR prints errors only by itself. */
void sambaPrintRemarks(MlirContext context);
/* Registers and loads the same in a context that is there. */
void sambaCompilerContextPrepare(MlirContext context);

/* Parses and verifies a module from a file (text or bytecode; "-": standard input). Errors are
 * diagnostics; the status says which file. */
SambaStatus sambaModuleParseFile(MlirContext context, const char *path, MlirModule *out_module);
/* The same from memory: text or bytecode. */
SambaStatus sambaModuleParse(MlirContext context, SambaStringRef text, MlirModule *out_module);

/* Runs passes on the module, in MLIR's form: "canonicalize,cse". */
SambaStatus sambaModuleRunPasses(MlirModule module, const char *passes);

/* How often sections that could not be placed or routed are made again, in one compilation. */
enum { SAMBA_COMPILE_ATTEMPTS = 32 };

/* Compiles the module (which is left as it was) and writes the PEF. When a section cannot be placed
 * or routed, its parallel factor is halved and it is made again, while the other sections stay as
 * they are; each such attempt is a remark. Errors are diagnostics at operations; the status then
 * says that compilation failed, with the first of them. */
SambaStatus sambaCompileModule(MlirModule module, const SambaModuleOptions *options,
                               SambaCompileOutput *output);

#endif
