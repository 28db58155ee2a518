/* Sessions: compiled models (PEFs) on a device, their tensors by name, their schedule by sections.
 *
 *   SambaSimulatedDeviceOptions options = {.threads = 2};
 *   SambaDeviceFactory device = sambaSimulatedDevice(&options);
 *   sambaSessionCreate(&device, &session);
 *   sambaSessionLoadPef(session, "mlp.pef");
 *   sambaSessionSetInput(session, sambaStringRef("x"), dtype, rank, dims, data);
 *   sambaSessionRun(session, NULL, NULL, NULL);
 *   sambaSessionReadTensor(session, sambaStringRef("y"), &tensor);
 *
 * Users see tensors in host dtypes and in row-major order. The session converts them to what device
 * memory holds. Whatever needs a PEF is refused while none is loaded. */
#ifndef SAMBA_SESSION_H
#define SAMBA_SESSION_H

#include "samba/base.h"
#include "samba/tensor.h"
#include "samba/trace_record.h"

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Devices ---- */

typedef struct SambaDevice SambaDevice;
typedef struct SambaMachine SambaMachine;

/* How to make a device once the machine is known: a session learns it from the PEF. */
typedef struct SambaDeviceFactory {
  /* Makes a device for a machine, which is borrowed until destruction. */
  SambaStatus (*create)(const void *options, const SambaMachine *machine, SambaDevice **out_device);
  const void *options; /* borrowed; the implementation says what they are */
} SambaDeviceFactory;

/* Who starts a call, and so what the start costs (docs/timing-model.md). */
typedef enum {
  SAMBA_ORCHESTRATION_HARDWARE,
  SAMBA_ORCHESTRATION_SOFTWARE,
  SAMBA_ORCHESTRATION_NONE /* starting costs nothing */
} SambaOrchestration;

/* Which engine counts cycles (docs/timing-model.md, "Two engines"). */
typedef enum {
  SAMBA_FIDELITY_FAST, /* events per token */
  SAMBA_FIDELITY_CYCLE /* every vector, cycle by cycle: the yardstick */
} SambaFidelity;

/* The simulated RDU. */
typedef struct SambaSimulatedDeviceOptions {
  int threads;     /* of the host, >= 1; values do not depend on it */
  const char *cpu; /* the host CPU to compile lane programs for; NULL: this one */
  bool trap_nan;   /* a NaN that is written to memory is a fault */
  SambaOrchestration orchestration;
  SambaFidelity fidelity;
  uint64_t max_cycles; /* a section that takes longer is a fault; 0: 100 times its estimate */
  /* A run ends with the fault `interrupted` soon after this has become non-zero, in a signal's
   * handler for instance. NULL: nothing stops it. */
  const volatile sig_atomic_t *stop;
  bool timing_only; /* no values */
  bool values_only; /* no cycles */
  bool no_skip;     /* time every period of a steady state */
  bool no_memo;     /* time every call anew */
} SambaSimulatedDeviceOptions;

/* The options are borrowed until the last device is made; cpu until the devices are destroyed. */
SAMBA_EXPORT SambaDeviceFactory sambaSimulatedDevice(const SambaSimulatedDeviceOptions *options);

/* ---- Sessions and their PEF ---- */

typedef struct SambaSession SambaSession;

/* A session without a PEF. The factory's options are borrowed until it is closed: each PEF gets a
 * device of its own. */
SAMBA_EXPORT SambaStatus sambaSessionCreate(const SambaDeviceFactory *factory,
                                            SambaSession **out_session);
/* Opens a PEF, makes a device for its machine and loads the PEF into it. A PEF that was there
 * before goes, with device memory, hyperparameters, report and tensors of the trace; when the new
 * one is refused, it stays. Errors name the file. */
SAMBA_EXPORT SambaStatus sambaSessionLoadPef(SambaSession *session, const char *path);
/* The same from memory, which is borrowed during the call only. Files with initial data that the
 * PEF refers to are those of the current folder. */
SAMBA_EXPORT SambaStatus sambaSessionLoadPefMemory(SambaSession *session, const void *data,
                                                   size_t size);
/* The session as it was created: no PEF, device, hyperparameters or tensors, random numbers from
 * the start. Then loads the PEF of that path, unless it is NULL or "". */
SAMBA_EXPORT SambaStatus sambaSessionReset(SambaSession *session, const char *path);
/* A session with a PEF. */
SAMBA_EXPORT SambaStatus sambaSessionOpen(const char *path, const SambaDeviceFactory *factory,
                                          SambaSession **out_session);
SAMBA_EXPORT void sambaSessionClose(SambaSession *session);
SAMBA_EXPORT bool sambaSessionHasPef(const SambaSession *session);

/* ---- What a PEF has ---- */

typedef enum SambaSectionType {
  SAMBA_SECTION_ZEROGRAD,
  SAMBA_SECTION_FWD,
  SAMBA_SECTION_BCKWD,
  SAMBA_SECTION_OPT,
  SAMBA_SECTION_REDUCE,
  SAMBA_SECTION_GRADNORM,
  SAMBA_SECTION_TYPE_COUNT
} SambaSectionType;

/* A set of section types has this bit for each of them. */
static inline uint32_t sambaSectionTypeBit(SambaSectionType type) { return 1u << type; }

/* What a tensor is to the model. */
typedef enum SambaSymbolKind {
  SAMBA_SYMBOL_INPUT,
  SAMBA_SYMBOL_WEIGHT,
  SAMBA_SYMBOL_BUFFER,
  SAMBA_SYMBOL_OPTIMIZER_STATE,
  SAMBA_SYMBOL_CONSTANT,
  SAMBA_SYMBOL_OUTPUT,
  SAMBA_SYMBOL_LOSS,
  SAMBA_SYMBOL_UPDATE, /* the new value of a weight, buffer or state */
  SAMBA_SYMBOL_ACTIVATION,
  SAMBA_SYMBOL_GRADIENT,
  SAMBA_SYMBOL_KIND_COUNT
} SambaSymbolKind;

/* What a hyperparameter (argin) means. */
typedef enum SambaArginKind {
  SAMBA_ARGIN_OTHER,
  SAMBA_ARGIN_LR,
  SAMBA_ARGIN_WEIGHT_DECAY,
  SAMBA_ARGIN_MOMENTUM,
  SAMBA_ARGIN_DROPOUT_RATE,
  SAMBA_ARGIN_DROPOUT_SEED,
  SAMBA_ARGIN_KIND_COUNT
} SambaArginKind;

/* A tensor of the PEF. All pointers are borrowed from the session, as long as it has this PEF. */
typedef struct SambaTensorInfo {
  SambaStringRef name;
  SambaSymbolKind kind;
  SambaDType dtype; /* on the host */
  uint32_t rank;
  const int64_t *dims;
  bool requires_grad, fast_access;
  bool has_init;            /* the PEF says what it holds after loading */
  SambaStringRef gradient;  /* the name of its gradient; empty: it has none */
  SambaStringRef update_of; /* the name of the old value in the same memory; empty: none */
  SambaStringRef region;
  SambaMemoryType memory;
  uint64_t device_bytes; /* in that memory */
} SambaTensorInfo;

/* A hyperparameter of the PEF; pointers as above. */
typedef struct SambaArginInfo {
  SambaStringRef name;
  SambaStringRef group; /* the key that sets it with others: "lr", ...; may be empty */
  SambaStringRef layer; /* the user's; may be empty */
  SambaArginKind kind;
  SambaDType dtype;
  bool has_default;
  double default_value, value; /* as compiled, and at present */
} SambaArginInfo;

/* The tensor of that name; nothing is read from the device. The error for a name that does not
 * exist lists inputs and outputs and the name that is most like it, and says when the PEF cannot
 * have such a tensor. */
SAMBA_EXPORT SambaStatus sambaSessionGetTensorInfo(const SambaSession *session, SambaStringRef name,
                                                   SambaTensorInfo *out_info);
/* Tensors of the kinds whose bits `1 << kind` are set, in the order of the PEF; none without a
 * PEF. */
SAMBA_EXPORT void sambaSessionForEachTensor(const SambaSession *session, uint32_t kinds,
                                            void (*visit)(void *user, const SambaTensorInfo *info),
                                            void *user);
/* The same for hyperparameters. */
SAMBA_EXPORT void sambaSessionForEachArgin(const SambaSession *session, uint32_t kinds,
                                           void (*visit)(void *user, const SambaArginInfo *info),
                                           void *user);

/* A section, by its id; an option that the PEF was compiled with; a graph. Pointers as above. */
typedef struct SambaSectionInfo {
  uint32_t section;
  SambaStringRef name;
  SambaSectionType type;
} SambaSectionInfo;
typedef struct SambaOptionInfo {
  SambaStringRef key, value;
} SambaOptionInfo;
typedef struct SambaGraphInfo {
  SambaStringRef name;
  bool is_training;
  const char *mapping;             /* "section" or "spatial" */
  uint32_t first_call, call_count; /* its part of the schedule */
} SambaGraphInfo;

/* All in order: sections by id, the schedule as section ids (a call's id is its place), options,
 * graphs. Nothing without a PEF. */
SAMBA_EXPORT void
sambaSessionForEachSection(const SambaSession *session,
                           void (*visit)(void *user, const SambaSectionInfo *info), void *user);
SAMBA_EXPORT void sambaSessionForEachCall(const SambaSession *session,
                                          void (*visit)(void *user, uint32_t section), void *user);
SAMBA_EXPORT void sambaSessionForEachOption(const SambaSession *session,
                                            void (*visit)(void *user, const SambaOptionInfo *info),
                                            void *user);
SAMBA_EXPORT void sambaSessionForEachGraph(const SambaSession *session,
                                           void (*visit)(void *user, const SambaGraphInfo *info),
                                           void *user);

/* "FWD", ...; and back, case-insensitive; false when there is no such type. */
SAMBA_EXPORT const char *sambaSectionTypeName(SambaSectionType type);
SAMBA_EXPORT bool sambaSectionTypeFromName(SambaStringRef name, SambaSectionType *out_type);
/* The set of section types in the PEF; empty without one. */
SAMBA_EXPORT uint32_t sambaSessionGetSectionTypes(const SambaSession *session);

/* Compares a model that was traced with the one that the PEF was compiled from; graph: its name in
 * the PEF, empty: the first. The failure tells the first line that differs. After a trace without
 * losses or optimizers, which matches the forward part of a training, only FWD sections run. */
SAMBA_EXPORT SambaStatus sambaSessionCheckTrace(SambaSession *session, SambaStringRef graph,
                                                const SambaTraceRecord *traced);

/* ---- Values ---- */

/* Writes a graph input, weight or other tensor. The shape must be its own and the dtype its host
 * dtype; i64 is taken for i32 and i16 too when all values fit. Errors list the inputs of the PEF.
 * data is copied; a device that holds no values ignores it. */
SAMBA_EXPORT SambaStatus sambaSessionSetInput(SambaSession *session, SambaStringRef name,
                                              SambaDType dtype, uint32_t rank, const int64_t *dims,
                                              const void *data);
/* Leaves out an input: it needs no value. False when a section reads it, or when it is no input. */
SAMBA_EXPORT bool sambaSessionSkipInput(SambaSession *session, SambaStringRef name);
/* Has anything written the tensor since the PEF was loaded: the PEF, the program or a run? Reading
 * what nothing has written is a fault. */
SAMBA_EXPORT SambaStatus sambaSessionIsWritten(const SambaSession *session, SambaStringRef name,
                                               bool *out_written);

/* ---- Values as tensors ----
 *
 * On the host a tensor has data and a gradient of its own; nothing goes over by itself. Names tell
 * which tensors belong together. Each of these functions moves whole tensors: the report counts
 * them. Tensors without data cannot be written, lazy ones are made for it and stay lazy. */

/* What the device holds, as a new tensor with data of its own. */
SAMBA_EXPORT SambaStatus sambaSessionReadTensor(SambaSession *session, SambaStringRef name,
                                                SambaTensor **out_tensor);
/* Several at once, in the order of the names: all of them or none. */
SAMBA_EXPORT SambaStatus sambaSessionReadTensors(SambaSession *session, uint32_t count,
                                                 const SambaStringRef *names,
                                                 SambaTensor **out_tensors);
/* Into a tensor of the same shape and type. in_place: into the memory that it shares with others,
 * if it has data; otherwise it gets memory of its own. */
SAMBA_EXPORT SambaStatus sambaSessionReadInto(SambaSession *session, SambaStringRef name,
                                              SambaTensor *tensor, bool in_place);
/* Writes data of the shape and type that sambaSessionSetInput takes. */
SAMBA_EXPORT SambaStatus sambaSessionWriteTensor(SambaSession *session, SambaStringRef name,
                                                 SambaTensor *tensor);
/* The same for the gradient of the tensor of that name. Only what was compiled for training with
 * requires_grad, and losses, have one; the error says which rule it breaks. */
SAMBA_EXPORT SambaStatus sambaSessionReadGrad(SambaSession *session, SambaStringRef name,
                                              SambaTensor **out_tensor);
SAMBA_EXPORT SambaStatus sambaSessionWriteGrad(SambaSession *session, SambaStringRef name,
                                               SambaTensor *tensor);

/* The same by the name of a tensor; its host data are not touched. */
SAMBA_EXPORT SambaStatus sambaTensorCopyFromDevice(const SambaTensor *tensor, SambaSession *session,
                                                   SambaTensor **out_value);
SAMBA_EXPORT SambaStatus sambaTensorCopyToDevice(const SambaTensor *tensor, SambaSession *session,
                                                 SambaTensor *value);
SAMBA_EXPORT SambaStatus sambaTensorCopyGradFromDevice(const SambaTensor *tensor,
                                                       SambaSession *session,
                                                       SambaTensor **out_value);
SAMBA_EXPORT SambaStatus sambaTensorCopyGradToDevice(const SambaTensor *tensor,
                                                     SambaSession *session, SambaTensor *value);

/* Data and gradient of the host go to the device. A gradient that one of them does not have is left
 * out. */
SAMBA_EXPORT SambaStatus sambaTensorToDevice(SambaTensor *tensor, SambaSession *session);
/* Data and gradient of the device come to the host (in_place as above). A gradient that nothing has
 * computed yet is left out. */
SAMBA_EXPORT SambaStatus sambaTensorToHost(SambaTensor *tensor, SambaSession *session,
                                           bool in_place);

/* ---- The tensors of a trace ----
 *
 * A session remembers a host tensor for each name: those of the model that was traced. */

/* The tensor of that name; nothing is read from the device. When none was given, an empty one of
 * that shape and type, which is remembered. An unknown name is refused with the one most like it.
 */
SAMBA_EXPORT SambaStatus sambaSessionGetTensor(SambaSession *session, SambaStringRef name,
                                               SambaTensor **out_tensor);
/* Remembers another tensor of the same shape and type under that name; NULL: the name is forgotten,
 * and sambaSessionGetTensor refuses it. Nothing goes to the device yet. */
SAMBA_EXPORT SambaStatus sambaSessionUpdateTensor(SambaSession *session, SambaStringRef name,
                                                  SambaTensor *tensor);
/* Writes all tensors that are remembered and have data, or can make them. */
SAMBA_EXPORT SambaStatus sambaSessionTransferTraced(SambaSession *session);

typedef enum { SAMBA_SYNC_TO_HOST, SAMBA_SYNC_TO_DEVICE } SambaSyncDirection;
/* Moves all tensors of the kinds whose bits `1 << kind` are set: buffers alone, or weights, buffers
 * and optimizer state. To the host: in_place as above; names that were forgotten are left out. To
 * the device: those that are remembered and have data, or can make them. */
SAMBA_EXPORT SambaStatus sambaSessionSync(SambaSession *session, SambaSyncDirection direction,
                                          uint32_t kinds, bool in_place);

/* Whether transfers of this tensor use memory that is locked for them; inputs do by themselves. */
SAMBA_EXPORT SambaStatus sambaSessionGetFastAccess(const SambaSession *session, SambaStringRef name,
                                                   bool *out_fast);
SAMBA_EXPORT SambaStatus sambaSessionSetFastAccess(SambaSession *session, SambaStringRef name,
                                                   bool fast);

/* The gradients with which a backward pass begins. */
typedef struct SambaOutputGradOptions {
  /* Further tensors than the outputs that were given, whose gradients begin with ones. */
  uint32_t extra_count;
  const SambaStringRef *extra;
  /* Gradients by the names of their outputs: they win over ones. */
  uint32_t custom_count;
  const SambaStringRef *custom_names;
  SambaTensor *const *custom;
  bool variable_batch; /* refused */
} SambaOutputGradOptions;

/* Writes the gradients of outputs: ones unless the options say otherwise. count 0: of all outputs.
 * Outputs that are no losses have none and are left out. */
SAMBA_EXPORT SambaStatus sambaSessionInitOutputGrads(SambaSession *session, uint32_t count,
                                                     const SambaStringRef *outputs,
                                                     const SambaOutputGradOptions *options);

/* ---- Hyperparameters ---- */

/* A value that a user gives. The name is that of an argin, or a group key, which sets all argins of
 * the group: "lr", "weight_decay", "momentum", "p" (rates of dropout), or a group of the PEF. */
typedef struct SambaHyperparameter {
  SambaStringRef name;
  double value;
} SambaHyperparameter;

/* Stores values for all later runs, all of them or none. An unknown name is refused with a list of
 * the known ones, a value outside the range of its kind or of the PEF with that range. */
SAMBA_EXPORT SambaStatus sambaSessionSetHyperparameters(SambaSession *session, uint32_t count,
                                                        const SambaHyperparameter *values);
/* The value of the argin of that name. */
SAMBA_EXPORT SambaStatus sambaSessionGetHyperparameter(const SambaSession *session,
                                                       SambaStringRef name, double *out_value);

/* Starts the random generator again where it started, or at another seed (0 in a new session). The
 * seeds of dropout are drawn from it in each run with FWD sections, unless they are given. */
SAMBA_EXPORT void sambaSessionResetGenerator(SambaSession *session);
SAMBA_EXPORT void sambaSessionSeedGenerator(SambaSession *session, uint64_t seed);

/* ---- Runs ---- */

/* Sections that belong together in a list of section ids: a list inside the list. */
typedef struct SambaSectionGroup {
  uint32_t count;
  const uint32_t *sections;
} SambaSectionGroup;

/* What to run; all zero is the schedule as compiled. Section ids, section types and a range of
 * calls exclude each other. */
typedef struct SambaRunOrder {
  /* All calls of each section, in the order of the ids; an id may occur again. The members of a
   * group follow each other like the groups do. */
  uint32_t group_count;
  const SambaSectionGroup *groups;
  /* All sections of each type, in the order of the types; those of one type as scheduled. */
  uint32_t type_count;
  const SambaSectionType *types;
  /* The calls [from, until) of the schedule. */
  bool has_from, has_until;
  uint32_t from, until;
  /* Only calls of the graph of this name; empty: of all graphs. */
  SambaStringRef graph;
} SambaRunOrder;

/* What one run does: everything with what is stored when all is zero. */
typedef struct SambaRunOptions {
  SambaRunOrder order;
  /* Written before the run, found by their names; NULL is skipped. What is not given keeps its
   * value on the device. */
  uint32_t input_count;
  SambaTensor *const *inputs;
  /* Read after the run, found by their names, into memory that they share with others, if they have
   * data; NULL is skipped. What is not read stays on the device. */
  uint32_t output_count;
  SambaTensor *const *outputs;
  /* Stored before the run, and kept for later ones. */
  uint32_t hyperparameter_count;
  const SambaHyperparameter *hyperparameters;
  bool evaluate; /* dropout is off in this run; the stored rates stay */
} SambaRunOptions;

/* Runs what the options say. Whatever can be refused is refused before the first launch, and then
 * nothing has changed. progress (may be NULL) is called before each call. An error of the device
 * names the call; the calls before it have run and are in the report. */
SAMBA_EXPORT SambaStatus sambaSessionRun(SambaSession *session, const SambaRunOptions *options,
                                         void (*progress)(void *user, uint32_t done,
                                                          uint32_t total),
                                         void *user);
/* The calls of the schedule that the order asks for; refuses as a run does. Release out_calls with
 * free. */
SAMBA_EXPORT SambaStatus sambaSessionPlanRun(const SambaSession *session,
                                             const SambaRunOrder *order, uint32_t **out_calls,
                                             uint32_t *out_count);
/* True when a run in this order would read an input without a value: the first such. Without an
 * order, or with one that asks for everything: the first one at all. */
SAMBA_EXPORT bool sambaSessionFindMissingInput(const SambaSession *session,
                                               const SambaRunOrder *order,
                                               SambaTensorInfo *out_info);
/* How many runs with OPT sections have ended since the beginning of the training. */
SAMBA_EXPORT uint64_t sambaSessionGetStep(const SambaSession *session);
SAMBA_EXPORT void sambaSessionSetStep(SambaSession *session, uint64_t step);

/* Many steps. A step is one run. With micro-batches, which need a PEF that accumulates gradients,
 * it is ZEROGRAD, then FWD and BCKWD once per micro-batch, then REDUCE, GRADNORM and OPT, as far as
 * the PEF has them. A pass is one run of FWD: one per micro-batch, else one per step. */
typedef struct SambaSteps {
  uint64_t count;         /* of steps */
  uint32_t micro_batches; /* per step; 0: none */
  SambaRunOptions run;    /* of each step; its order must be empty with micro-batches */
  /* Each may be NULL. Passes and steps count from 0. A failure ends the run. */
  SambaStatus (*before_pass)(void *user, uint64_t pass);
  SambaStatus (*after_pass)(void *user, uint64_t pass);
  SambaStatus (*after_step)(void *user, uint64_t step);
  void (*progress)(void *user, uint32_t done, uint32_t total); /* of the calls of each run */
  void *user;
} SambaSteps;

/* Refuses before the first launch what sambaSessionRun refuses, and micro-batches of a PEF that
 * does not accumulate. The error of a later step names it. */
SAMBA_EXPORT SambaStatus sambaSessionRunSteps(SambaSession *session, const SambaSteps *steps);

/* ---- Checkpoints ----
 *
 * A folder of .npy files with one JSON file, checkpoint.json, which says what they are. A session
 * that loads what another one saved goes on to the same bits. */

/* Refuses a folder that cannot take a checkpoint: it cannot be made, it is a file, or it holds
 * other files than those of a checkpoint, which saving would delete. */
SAMBA_EXPORT SambaStatus sambaCheckpointCheckFolder(const char *folder);
/* Saves weights, buffers, optimizer state, the number of steps, hyperparameters and the random
 * generator. The folder appears whole: a failure, or the end of the process, leaves the checkpoint
 * that was there. Gradients are not saved: a checkpoint belongs between two steps. */
SAMBA_EXPORT SambaStatus sambaSessionSave(SambaSession *session, const char *folder);
/* Puts what was saved into a session of the same PEF, or of one with the same tensors. A PEF for
 * inference takes weights and buffers and leaves the rest. Everything is read and compared before
 * the first tensor is written: a refused checkpoint changes nothing. */
SAMBA_EXPORT SambaStatus sambaSessionLoad(SambaSession *session, const char *folder);

/* ---- Reports ---- */

/* What a device did, in one launch or in several. A device that does not know a figure leaves it
 * 0. */
typedef struct SambaDeviceActivity {
  uint64_t cycles, launch_cycles; /* the launch is not part of cycles */
  uint64_t load_cycles;           /* of the launch: loading configurations */
  uint64_t hidden_load_cycles;    /* of that loading: behind the section before, not in launch */
  uint64_t load_bytes;            /* of configurations, to the chip */
  uint64_t dram_read_bytes, dram_write_bytes; /* between DRAM and the chip */
  uint64_t host_read_bytes, host_write_bytes; /* between host memory and the chip */
  uint64_t flops;
  uint64_t multiply_adds; /* of contractions, padding included; two of the flops each */
  uint64_t pcu_busy, pmu_busy, ag_busy;          /* busy cycles, summed over the units of a kind */
  uint64_t pcu_busiest, pmu_busiest, ag_busiest; /* of the busiest unit in each call; of a PMU:
                                                    its busier side */
  uint64_t lane_busiest;                         /* of the busiest lane of the network */
  uint64_t wait_input, wait_output, wait_memory; /* waiting cycles, summed over all units */
  uint64_t events;                               /* that a simulator handled */
} SambaDeviceActivity;

/* What a device spent on preparing code, since it was made. Zero when there is none. */
typedef struct SambaDeviceStatistics {
  uint64_t compiled_programs;
  double compile_seconds, compile_cpu_seconds;
} SambaDeviceStatistics;

/* Tensors that a session wrote and read, each as a whole; with weights and their copies in f32 that
 * it compares because somebody wrote one of the two. */
typedef struct SambaTransferReport {
  uint64_t host_to_device_bytes, device_to_host_bytes; /* of device memory */
  uint64_t
      conversions; /* tensors whose elements had another type in device memory or on the host */
  double seconds;  /* of the host */
} SambaTransferReport;

/* What the calls of one section that ran did, together. */
typedef struct SambaSectionReport {
  uint32_t section;
  uint64_t calls;
  SambaDeviceActivity activity;
  /* Bytes of its configuration in each tile of the machine, 0: it does not use the tile. Borrowed;
   * NULL when the device does not say. */
  const uint64_t *tile_bytes;
} SambaSectionReport;

/* The machine that a PEF was compiled for; name: borrowed as long as the session has this PEF. */
typedef struct SambaMachineInfo {
  const char *name;
  uint64_t clock_hz, pcus, pmus, tiles;
} SambaMachineInfo;

/* What all calls that ran did, together. */
typedef struct SambaRunReport {
  uint64_t calls;
  SambaDeviceActivity activity;
  SambaDeviceStatistics device;
  SambaTransferReport transfers;
  uint32_t section_count;                /* sections of the PEF, in order */
  const SambaSectionReport *sections;    /* borrowed from the session, as long as it has this PEF */
  double load_seconds, simulate_seconds; /* host time: opening and loading, launching */
  double simulate_cpu_seconds;           /* of all threads while launching */
  SambaMachineInfo machine;
} SambaRunReport;

/* What ran since the PEF was loaded; nothing without one. */
SAMBA_EXPORT void sambaSessionGetReport(const SambaSession *session, SambaRunReport *out_report);

#ifdef __cplusplus
}
#endif

#endif
