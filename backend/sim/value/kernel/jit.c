/* Compilation of SIMD kernels through LLVM's ORC; see jit.h. */
#include "backend/sim/value/kernel/jit.h"

#include "backend/sim/value/kernel/kernel.h"
#include "support/container/string_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef SAMBA_ARRAY(uint8_t) Bytes;

typedef struct Entry {
  SambaStringRef key; /* owned bytes; a key of by_key */
  uint32_t number;    /* the function's name is k<number> */
  SambaKernelFunction function;
} Entry;

struct SambaJit {
  char *cpu, *features, *triple;
  LLVMOrcLLJITRef session; /* started by the first kernel: many sections need none */
  SAMBA_ARRAY(Entry) entries;
  SambaStringMap by_key; /* to an index of entries */
  double seconds, cpu_seconds;
};

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static SambaStatus takeError(LLVMErrorRef error, const char *what) {
  if (!error)
    return NULL;
  char *message = sambaLlvm.GetErrorMessage(error);
  SambaStatus status = sambaStatusMake(
      SAMBA_UNSUPPORTED, "compiling lane programs for this host: %s: %s", what, message);
  sambaLlvm.DisposeErrorMessage(message);
  return status;
}

static SambaStatus makeTargetMachine(const SambaJit *jit, LLVMTargetMachineRef *out_machine) {
  LLVMTargetRef target;
  char *message = NULL;

  if (sambaLlvm.GetTargetFromTriple(jit->triple, &target, &message)) {
    SambaStatus status =
        sambaStatusMake(SAMBA_UNSUPPORTED, "LLVM has no code generator for this host (%s): %s",
                        jit->triple, message);
    sambaLlvm.DisposeMessage(message);
    return status;
  }

  *out_machine = sambaLlvm.CreateTargetMachine(target, jit->triple, jit->cpu, jit->features,
                                               LLVMCodeGenLevelDefault, LLVMRelocDefault,
                                               LLVMCodeModelJITDefault);
  if (!*out_machine)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "LLVM cannot generate code for CPU '%s' on %s",
                           jit->cpu, jit->triple);
  return NULL;
}

/* The library functions that generated code may call: what the host lacks an instruction for. Each
 * is exact by definition. */
static SambaStatus defineLibrary(LLVMOrcLLJITRef session) {
  static const struct {
    const char *name;
    void *address;
  } functions[] = {{"fmaf", (void *)fmaf},      {"fma", (void *)fma},
                   {"fmodf", (void *)fmodf},    {"floorf", (void *)floorf},
                   {"ceilf", (void *)ceilf},    {"truncf", (void *)truncf},
                   {"trunc", (void *)trunc},    {"roundevenf", (void *)roundevenf},
                   {"memcpy", (void *)memcpy},  {"memset", (void *)memset},
                   {"memmove", (void *)memmove}};
  enum { count = sizeof functions / sizeof functions[0] };
  LLVMOrcCSymbolMapPair pairs[count];

  for (int i = 0; i < count; ++i) {
    pairs[i].Name = sambaLlvm.OrcLLJITMangleAndIntern(session, functions[i].name);
    pairs[i].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)functions[i].address;
    pairs[i].Sym.Flags = (LLVMJITSymbolFlags){
        LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
  }

  return takeError(sambaLlvm.OrcJITDylibDefine(sambaLlvm.OrcLLJITGetMainJITDylib(session),
                                               sambaLlvm.OrcAbsoluteSymbols(pairs, count)),
                   "library");
}

static SambaStatus start(SambaJit *jit) {
  LLVMTargetMachineRef machine = NULL;
  SAMBA_RETURN_IF_ERROR(makeTargetMachine(jit, &machine));
  LLVMOrcLLJITBuilderRef builder = sambaLlvm.OrcCreateLLJITBuilder();
  sambaLlvm.OrcLLJITBuilderSetJITTargetMachineBuilder(
      builder, sambaLlvm.OrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  SAMBA_RETURN_IF_ERROR(takeError(sambaLlvm.OrcCreateLLJIT(&jit->session, builder), "start"));
  return defineLibrary(jit->session);
}

/* LLVM ends the process on a CPU that it does not know, the host on instructions that it does not
 * have. */
static SambaStatus checkCpu(const char *cpu) {
  char *host = sambaLlvm.GetHostCPUName();
  bool known = strcmp(cpu, host) == 0 || strcmp(cpu, "generic") == 0, runs = true;
#ifdef __x86_64__
  static const char levels[][10] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
  const bool has[] = {true, __builtin_cpu_supports("sse4.2"),
                      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
                      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")};
  for (int i = 0; i < 4; ++i)
    if (strcmp(cpu, levels[i]) == 0)
      known = true, runs = has[i];
#endif
  SambaStatus status = NULL;

  if (!known)
    status = sambaStatusMake(
        SAMBA_INVALID,
        "lane programs cannot be compiled for CPU '%s'; use %s (this host), generic, or on x86-64 "
        "x86-64, x86-64-v2, x86-64-v3 or x86-64-v4",
        cpu, host);
  else if (!runs)
    status =
        sambaStatusMake(SAMBA_INVALID, "this host (%s) cannot run code for CPU '%s'", host, cpu);
  sambaLlvm.DisposeMessage(host);

  return status;
}

SambaStatus sambaJitCreate(const char *cpu, SambaJit **out_jit) {
  SAMBA_RETURN_IF_ERROR(sambaLlvmOpen(NULL));
  if (cpu)
    SAMBA_RETURN_IF_ERROR(checkCpu(cpu));
  SambaJit *jit = sambaAllocateZeroed(1, sizeof *jit);

  if (!sambaLlvmInitializeHost()) {
    free(jit);
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "this LLVM was built without a code generator for the host it runs on");
  }

  jit->triple = sambaLlvm.GetDefaultTargetTriple();
  jit->cpu = cpu ? sambaLlvm.CreateMessage(cpu) : sambaLlvm.GetHostCPUName();
  jit->features = cpu ? sambaLlvm.CreateMessage("") : sambaLlvm.GetHostCPUFeatures();
  *out_jit = jit;
  return NULL;
}

/* Forgets the entries from `from` on. */
static void dropEntries(SambaJit *jit, uint32_t from) {
  for (size_t i = from; i < jit->entries.size; ++i)
    free((char *)jit->entries.data[i].key.data);
  jit->entries.size = jit->entries.size < from ? jit->entries.size : from;
  sambaStringMapFree(&jit->by_key);
  jit->by_key = (SambaStringMap){0};
  for (uint32_t i = 0; i < jit->entries.size; ++i)
    sambaStringMapInsert(&jit->by_key, jit->entries.data[i].key, i, NULL);
}

void sambaJitDestroy(SambaJit *jit) {
  if (!jit)
    return;
  if (jit->session) {
    LLVMErrorRef error = sambaLlvm.OrcDisposeLLJIT(jit->session);
    if (error)
      sambaLlvm.ConsumeError(error);
  }
  dropEntries(jit, 0);
  sambaArrayFree(&jit->entries);
  sambaLlvm.DisposeMessage(jit->triple);
  sambaLlvm.DisposeMessage(jit->cpu);
  sambaLlvm.DisposeMessage(jit->features);
  free(jit);
}

double sambaJitSeconds(const SambaJit *jit) { return jit->seconds; }
double sambaJitCpuSeconds(const SambaJit *jit) { return jit->cpu_seconds; }
uint64_t sambaJitCount(const SambaJit *jit) { return jit->entries.size; }

static void appendBytes(Bytes *bytes, const void *data, size_t size) {
  sambaArrayReserve(bytes, bytes->size + size);
  if (size)
    memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

/* Everything that sambaKernelEmit looks at. */
static void appendKey(Bytes *key, const SambaKernelSpec *spec) {
  const uint32_t numbers[] = {spec->input_count, spec->output_count,   spec->counter_count,
                              spec->op_count,    spec->parallel_loops, spec->reduced_loops,
                              spec->width,       spec->reduce_lanes,   spec->vector_reduced,
                              spec->parks,       spec->external_op,    spec->external_walk};
  appendBytes(key, numbers, sizeof numbers);
  appendBytes(key, spec->inputs, spec->input_count * sizeof *spec->inputs);
  appendBytes(key, spec->outputs, spec->output_count * sizeof *spec->outputs);
  appendBytes(key, spec->counter_walks, spec->counter_count);

  for (uint32_t i = 0; i < spec->op_count; ++i) {
    const SambaLaneOp *op = &spec->ops[i];
    /* Which counter it is does not matter: its value arrives as an argument. */
    uint64_t immediate = op->opcode == SAMBA_LANE_COUNTER ? 0 : op->immediate;
    uint16_t fields[5] = {op->opcode, op->type};
    for (int j = 0; j < sambaLaneOpOperands(op->opcode); ++j)
      fields[2 + j] = op->operands[j];
    appendBytes(key, fields, sizeof fields);
    appendBytes(key, &immediate, sizeof immediate);
  }
}

/* The index of the spec's entry, appended (without function) when it is new. */
static uint32_t findEntry(SambaJit *jit, const SambaKernelSpec *spec, bool *out_new) {
  Bytes key = {0};
  appendKey(&key, spec);
  Entry entry = {.key = {(const char *)key.data, key.size}, .number = (uint32_t)jit->entries.size};
  uint32_t earlier;
  *out_new = sambaStringMapInsert(&jit->by_key, entry.key, entry.number, &earlier);
  if (!*out_new) {
    sambaArrayFree(&key);
    return earlier;
  }
  sambaArrayAppend(&jit->entries, entry);
  return entry.number;
}

static SambaStatus addModule(SambaJit *jit, LLVMContextRef context, LLVMModuleRef module) {
  LLVMTargetMachineRef machine = NULL;
  SAMBA_RETURN_IF_ERROR(makeTargetMachine(jit, &machine));
  LLVMPassBuilderOptionsRef options = sambaLlvm.CreatePassBuilderOptions();
  LLVMErrorRef error =
      sambaLlvm.RunPasses(module, "function(early-cse,loop-mssa(licm))", machine, options);
  sambaLlvm.DisposePassBuilderOptions(options);
  sambaLlvm.DisposeTargetMachine(machine);

  SAMBA_RETURN_IF_ERROR(takeError(error, "passes"));
  LLVMOrcThreadSafeContextRef shared =
      sambaLlvm.OrcCreateNewThreadSafeContextFromLLVMContext(context);
  LLVMOrcThreadSafeModuleRef owned = sambaLlvm.OrcCreateNewThreadSafeModule(module, shared);
  sambaLlvm.OrcDisposeThreadSafeContext(shared);

  return takeError(sambaLlvm.OrcLLJITAddLLVMIRModule(
                       jit->session, sambaLlvm.OrcLLJITGetMainJITDylib(jit->session), owned),
                   "module");
}

/* Compiles entries [from, end) of which specs[] are the sources. */
static SambaStatus compileNew(SambaJit *jit, const SambaKernelSpec *const *specs, uint32_t count,
                              uint32_t from) {
  LLVMContextRef context = sambaLlvm.ContextCreate();
  LLVMModuleRef module = sambaLlvm.ModuleCreateWithNameInContext("kernels", context);
  sambaLlvm.SetTarget(module, jit->triple);
  sambaLlvm.SetDataLayout(module, sambaLlvm.OrcLLJITGetDataLayoutStr(jit->session));
  SambaEmit emit = {.context = context,
                    .module = module,
                    .builder = sambaLlvm.CreateBuilderInContext(context),
                    .width = 1,
                    .i1 = sambaLlvm.Int1TypeInContext(context),
                    .i32 = sambaLlvm.Int32TypeInContext(context),
                    .i64 = sambaLlvm.Int64TypeInContext(context),
                    .f32 = sambaLlvm.FloatTypeInContext(context),
                    .f64 = sambaLlvm.DoubleTypeInContext(context),
                    .pointer = sambaLlvm.PointerTypeInContext(context, 0)};
  char name[24];

  for (uint32_t i = 0; i < count; ++i) {
    snprintf(name, sizeof name, "k%u", from + i);
    sambaKernelEmit(&emit, specs[i], name);
  }

  sambaLlvm.DisposeBuilder(emit.builder);
  if (getenv("SAMBA_DEBUG_KERNELS"))
    sambaLlvm.DumpModule(module);
  SAMBA_RETURN_IF_ERROR(addModule(jit, context, module));

  for (uint32_t i = 0; i < count; ++i) {
    LLVMOrcExecutorAddress address;
    snprintf(name, sizeof name, "k%u", from + i);
    SAMBA_RETURN_IF_ERROR(
        takeError(sambaLlvm.OrcLLJITLookup(jit->session, &address, name), "code generation"));
    jit->entries.data[from + i].function = (SambaKernelFunction)(uintptr_t)address;
  }

  return NULL;
}

SambaStatus sambaJitCompile(SambaJit *jit, const SambaKernelSpec *const *specs, uint32_t count,
                            SambaKernelFunction *out_functions) {
  double begin = now(CLOCK_MONOTONIC);
  double worked = now(CLOCK_THREAD_CPUTIME_ID);
  uint32_t from = (uint32_t)jit->entries.size;
  uint32_t fresh_count = 0;
  uint32_t *indices = sambaAllocate(count * sizeof *indices);
  const SambaKernelSpec **fresh = sambaAllocate(count * sizeof *fresh);

  for (uint32_t i = 0; i < count; ++i) {
    bool is_new;
    indices[i] = findEntry(jit, specs[i], &is_new);
    if (is_new)
      fresh[fresh_count++] = specs[i];
  }

  SambaStatus status = NULL;
  if (fresh_count && !jit->session)
    status = start(jit);
  if (fresh_count && !status)
    status = compileNew(jit, fresh, fresh_count, from);
  if (status) /* what has no code must not be found the next time */
    dropEntries(jit, from);
  for (uint32_t i = 0; i < count && !status; ++i)
    out_functions[i] = jit->entries.data[indices[i]].function;
  free(fresh);
  free(indices);
  jit->seconds += now(CLOCK_MONOTONIC) - begin;
  jit->cpu_seconds += now(CLOCK_THREAD_CPUTIME_ID) - worked;

  return status;
}
