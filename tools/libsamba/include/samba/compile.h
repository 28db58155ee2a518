/* Compiling: a trace, an ONNX model or MLIR becomes a PEF, in a file or in memory.
 *
 *   SambaCompileOptions options = {.target = "tiny"};
 *   SambaStatus status = sambaCompileFile(context, "model.onnx", &options, "model.pef");
 *
 * Nothing temporary is written. A failure holds the first error with its notes; remarks and
 * warnings go to the callback of the options. */
#ifndef SAMBA_COMPILE_H
#define SAMBA_COMPILE_H

#include "samba/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SAMBA_DIAGNOSTIC_WARNING, SAMBA_DIAGNOSTIC_REMARK } SambaDiagnosticKind;

/* A word of the PEF's options table: what the program that compiled it wants to tell. */
typedef struct SambaCompileEntry {
  const char *key, *value;
} SambaCompileEntry;

/* The options of samba-compile; its --help says more of each. Everything zero: the defaults. All
 * that is pointed to is borrowed for the call. */
typedef struct SambaCompileOptions {
  const char *target;         /* a shipped machine or a machine file; NULL: the context's */
  const char *opt;            /* o0, o1 (default), o3 */
  const char *search_seconds; /* o3: for the search, by its work; NULL: 3, to train 15 */
  const char *mapping;        /* section (default), spatial */
  const char *precision;      /* mp0 or f32 (default), mp1, mp4 or bf16 */
  const char *rules;          /* a file of fusion rules, or llama, gpt2, bert, resnet */

  /* Training of ONNX models and of MLIR. A trace says itself what is trained; with an optimizer and
   * without losses, `training` lets the compiler choose them. */
  bool training, accumulate_gradients;
  const char *loss;      /* results, separated by commas */
  const char *optimizer; /* "sgd,lr=0.1" */
  const char *freeze;    /* weights, separated by commas */

  const char *entry; /* MLIR: the function that is compiled; NULL: every public one */

  bool io_host_memory; /* inputs and outputs of the graph lie in the host's memory */

  /* ONNX models: "NAME=1x3x8" for inputs with dynamic dimensions, "NAME=FILE" for inputs that are
   * known now. */
  size_t shape_count;
  const char *const *shapes;
  size_t bind_count;
  const char *const *binds;
  const char *f64; /* "f32": tensors of doubles become f32; NULL: they are refused */

  bool external_weights;   /* refer to files of weights instead of copying them */
  const char *data_folder; /* such files must lie in it; NULL: in the model's */

  const char *decisions;      /* file of decisions, by the names of layers */
  const char *dump_decisions; /* file to write them to */
  const char *dump;           /* folder for the plan of each section, as text */

  const char *name; /* kept in the PEF's options; NULL: none */
  size_t entry_count;
  const SambaCompileEntry *entries; /* more of them */

  bool explain; /* remarks about sections, their bottlenecks and ends, memory, work */
  /* Remarks and warnings, without a newline; NULL: they are dropped. */
  void (*diagnose)(void *user, SambaDiagnosticKind kind, const char *message);
  /* Before each part of the work: its name, and how many of `total` parts are done. */
  void (*progress)(void *user, const char *part, uint32_t done, uint32_t total);
  void *user;
} SambaCompileOptions;

/* A PEF in memory. Free data with sambaFree. */
typedef struct SambaPefData {
  void *data;
  size_t size;
} SambaPefData;

/* Releases memory that the library has handed over; NULL does nothing. */
SAMBA_EXPORT void sambaFree(void *data);

/* Ends the trace, which takes nothing more, and compiles it. options may be NULL, here and below.
 * A path gets the PEF, and PATH.log beside it tells what was made. */
SAMBA_EXPORT SambaStatus sambaCompileTrace(SambaContext *context, SambaTrace *trace,
                                           const SambaCompileOptions *options, const char *path);
SAMBA_EXPORT SambaStatus sambaCompileTraceToMemory(SambaContext *context, SambaTrace *trace,
                                                   const SambaCompileOptions *options,
                                                   SambaPefData *out_pef);

/* A model file: .onnx, .mlir or .mlirbc. */
SAMBA_EXPORT SambaStatus sambaCompileFile(SambaContext *context, const char *model,
                                          const SambaCompileOptions *options, const char *path);
SAMBA_EXPORT SambaStatus sambaCompileFileToMemory(SambaContext *context, const char *model,
                                                  const SambaCompileOptions *options,
                                                  SambaPefData *out_pef);

/* What sambaCompileFile would record of an ONNX model, to be compared with a PEF. The options that
 * matter are shapes, binds, f64 and training. */
SAMBA_EXPORT SambaStatus sambaTraceRecordCreateFromFile(SambaContext *context, const char *model,
                                                        const SambaCompileOptions *options,
                                                        SambaTraceRecord **out_record);
/* Of records that were created so; that of a trace belongs to the trace. NULL does nothing. */
SAMBA_EXPORT void sambaTraceRecordDestroy(SambaTraceRecord *record);

/* MLIR as text or bytecode. Paths in it are relative to the current folder. */
SAMBA_EXPORT SambaStatus sambaCompileText(SambaContext *context, SambaStringRef module,
                                          const SambaCompileOptions *options, const char *path);
SAMBA_EXPORT SambaStatus sambaCompileTextToMemory(SambaContext *context, SambaStringRef module,
                                                  const SambaCompileOptions *options,
                                                  SambaPefData *out_pef);

#ifdef __cplusplus
}
#endif

#endif
