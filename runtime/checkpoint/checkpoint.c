/* Saving and loading sessions; see samba/session.h. */
#include "runtime/checkpoint/checkpoint_index.h"
#include "runtime/session.h"
#include "runtime/values.h"
#include "support/container/string_map.h"
#include "support/file/folder.h"
#include "support/file/input_file.h"
#include "support/file/path.h"
#include "support/number/shape.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char indexFile[] = "checkpoint.json";
enum { mostIndexBytes = 1 << 28 };

static bool isSaved(const SambaPefSymbol *symbol) {
  return symbol->kind == SAMBA_PEF_SYMBOL_WEIGHT || symbol->kind == SAMBA_PEF_SYMBOL_BUFFER ||
         symbol->kind == SAMBA_PEF_SYMBOL_OPTIMIZER_STATE;
}

static const char *kindName(SambaPefSymbolKind kind) {
  switch (kind) {
  case SAMBA_PEF_SYMBOL_WEIGHT:
    return "weight";
  case SAMBA_PEF_SYMBOL_BUFFER:
    return "buffer";
  default:
    return "optimizer_state";
  }
}

/* The host's type where it holds every value of the device's, else the device's: no bit is lost. */
static SambaDType savedDType(const SambaPefSymbol *symbol) {
  if (symbol->host_dtype == symbol->device_dtype || symbol->host_dtype == SAMBA_DTYPE_F32)
    return symbol->host_dtype;
  return symbol->device_dtype;
}

static const char *pathIn(SambaArena *arena, const char *folder, SambaStringRef name) {
  return sambaPathJoin(arena, sambaStringRef(folder), name);
}

/* ---- Folders ---- */

typedef struct {
  const char *folder;
  bool has_index, has_files;
} Contents;

static SambaStatus checkEntry(void *user, const char *name) {
  Contents *contents = user;
  size_t size = strlen(name);
  contents->has_files = true;
  if (strcmp(name, indexFile) == 0)
    contents->has_index = true;
  else if (size < 4 || strcmp(name + size - 4, ".npy") != 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: holds '%s', which belongs to no checkpoint and would be deleted; "
                           "save into a folder of its own",
                           contents->folder, name);
  return NULL;
}

static SambaStatus checkContents(const char *folder) {
  struct stat info;
  Contents contents = {.folder = folder};
  if (stat(folder, &info) != 0)
    return NULL;
  if (!S_ISDIR(info.st_mode))
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: is a file; a checkpoint is a folder, give another name", folder);

  SAMBA_RETURN_IF_ERROR(sambaFolderVisit(folder, checkEntry, &contents));
  if (contents.has_files && !contents.has_index)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: holds files but no %s, and saving would delete them; save into a "
                           "folder of its own",
                           folder, indexFile);
  return NULL;
}

SambaStatus sambaCheckpointCheckFolder(const char *folder) {
  SambaFolderDraft draft;
  SAMBA_RETURN_IF_ERROR(checkContents(folder));
  SAMBA_RETURN_IF_ERROR(sambaFolderDraftCreate(folder, &draft));
  sambaFolderDraftDiscard(&draft);
  return NULL;
}

/* ---- Saving ---- */

static SambaStatus saveTensor(SambaSession *session, uint32_t symbol, const char *path,
                              const SambaCheckpointTensor *tensor) {
  const SambaPefSymbol *record = &sambaSessionGetPef(session)->symbols[symbol];
  bool on_host = tensor->dtype == record->host_dtype;
  void *data = sambaAllocate((size_t)(on_host ? sambaSymbolHostBytes(record) : record->bytes));
  SambaStatus status = (on_host ? sambaReadValues : sambaReadSymbol)(session->loaded, symbol, data);
  if (!status)
    status = sambaNpyWrite(path, tensor->dtype, tensor->rank, tensor->dims, data);
  free(data);
  return status;
}

static SambaStatus saveTensors(SambaSession *session, const char *folder, SambaArena *arena,
                               SambaCheckpointIndex *index) {
  const SambaPef *pef = sambaSessionGetPef(session);
  index->tensors = SAMBA_ARENA_ARRAY(arena, SambaCheckpointTensor, pef->symbols_count + 1);
  for (uint32_t s = 0; s < pef->symbols_count; ++s) {
    const SambaPefSymbol *symbol = &pef->symbols[s];
    if (!isSaved(symbol))
      continue;
    SambaCheckpointTensor *tensor = &index->tensors[index->tensor_count];
    *tensor = (SambaCheckpointTensor){
        .name = symbol->name,
        .kind = sambaStringRef(kindName(symbol->kind)),
        .dtype = savedDType(symbol),
        .rank = symbol->dims_count,
        .file = sambaCheckpointFileName(arena, symbol->name, index->tensor_count)};
    for (uint32_t a = 0; a < symbol->dims_count; ++a)
      tensor->dims[a] = (int64_t)symbol->dims[a].size;
    ++index->tensor_count;
    SAMBA_RETURN_IF_ERROR(saveTensor(session, s, pathIn(arena, folder, tensor->file), tensor));
  }
  return NULL;
}

static void indexHyperparameters(SambaSession *session, SambaArena *arena,
                                 SambaCheckpointIndex *index) {
  const SambaHyperparameters *stored = sambaSessionGetHyperparameters(session);
  const SambaPef *pef = sambaSessionGetPef(session);
  index->step = sambaSessionGetStep(session);
  index->seed = stored->seed;
  index->generator = stored->generator;
  index->hyperparameter_count = pef->argins_count;
  index->hyperparameters =
      SAMBA_ARENA_ARRAY(arena, SambaCheckpointHyperparameter, pef->argins_count + 1);
  for (uint32_t i = 0; i < pef->argins_count; ++i)
    index->hyperparameters[i] = (SambaCheckpointHyperparameter){
        pef->argins[i].name, sambaHyperparametersValue(stored, i), stored->given[i]};
}

static SambaStatus saveInto(SambaSession *session, const char *folder, SambaArena *arena) {
  SambaCheckpointIndex index = {0};
  SAMBA_RETURN_IF_ERROR(saveTensors(session, folder, arena, &index));
  indexHyperparameters(session, arena, &index);
  char *text = sambaCheckpointIndexFormat(&index);
  const char *path = pathIn(arena, folder, sambaStringRef(indexFile));
  SambaStatus status = sambaWriteFile(path, text, strlen(text));
  free(text);
  return status;
}

SambaStatus sambaSessionSave(SambaSession *session, const char *folder) {
  SambaFolderDraft draft;
  SambaArena arena = {0};
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  if (!sambaSessionGetDevice(session)->holds_values)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: a device that counts cycles only has no values to save", folder);
  SAMBA_RETURN_IF_ERROR(checkContents(folder));
  SAMBA_RETURN_IF_ERROR(sambaFolderDraftCreate(folder, &draft));

  SambaStatus status = saveInto(session, draft.temporary, &arena);
  if (!status)
    status = sambaFolderDraftCommit(&draft);
  else
    sambaFolderDraftDiscard(&draft);
  sambaArenaDestroy(&arena);
  return status;
}

/* ---- Loading ---- */

typedef struct {
  SambaSession *session;
  const SambaPef *pef;
  const char *folder;
  SambaArena arena;
  SambaCheckpointIndex index;
  uint32_t *symbols; /* per tensor of the index: its symbol, SAMBA_PEF_NONE: left out */
  uint32_t *argins;  /* per hyperparameter of the index, likewise */
  bool is_inference; /* the PEF: the state of a training is left out */
} Loading;

static SambaStatus readFile(const char *folder, const char *path, uint64_t most, uint8_t **out_data,
                            uint64_t *out_bytes) {
  int fd = -1;
  SAMBA_RETURN_IF_ERROR(sambaInputFileOpenInside(folder, path, &fd, out_bytes));
  SambaStatus status = NULL;
  if (*out_bytes > most)
    status = sambaStatusMake(SAMBA_INVALID, "%s: is too large for an index", path);
  if (!status)
    status = sambaInputFileRead(fd, path, *out_bytes, out_data);
  close(fd);
  return status;
}

static SambaStatus readIndex(Loading *loading) {
  const char *path = pathIn(&loading->arena, loading->folder, sambaStringRef(indexFile));
  uint8_t *data = NULL;
  uint64_t bytes = 0;
  SAMBA_RETURN_IF_ERROR(readFile(loading->folder, path, mostIndexBytes, &data, &bytes));
  SambaStatus status =
      sambaCheckpointIndexParse(path, data, bytes, &loading->arena, &loading->index);
  free(data);
  return status;
}

static SambaStatus compareTensor(const Loading *loading, const SambaCheckpointTensor *tensor,
                                 const SambaPefSymbol *symbol) {
  bool same = tensor->dtype == savedDType(symbol) && tensor->rank == symbol->dims_count;
  int64_t dims[SAMBA_TENSOR_FILE_MAX_RANK];
  for (uint32_t a = 0; a < symbol->dims_count; ++a) {
    dims[a] = (int64_t)symbol->dims[a].size;
    same = same && tensor->dims[a] == dims[a];
  }
  if (same)
    return NULL;

  char wanted[SAMBA_SHAPE_TEXT_BYTES], found[SAMBA_SHAPE_TEXT_BYTES];
  return sambaStatusMake(SAMBA_INVALID, "%s: '%.*s' is %s in this PEF, but %s in the checkpoint",
                         loading->folder, SAMBA_STRING_ARGS(symbol->name),
                         sambaShapeFormat(wanted, sizeof wanted, symbol->dims_count, dims,
                                          sambaDTypeName(savedDType(symbol))),
                         sambaShapeFormat(found, sizeof found, tensor->rank, tensor->dims,
                                          sambaDTypeName(tensor->dtype)));
}

/* Which symbol each tensor of the checkpoint is, and that none of the PEF's is missing. */
static SambaStatus matchTensors(Loading *loading) {
  const SambaPef *pef = loading->pef;
  SambaStringMap by_name = {0};
  SambaStatus status = NULL;
  loading->symbols = SAMBA_ARENA_ARRAY(&loading->arena, uint32_t, loading->index.tensor_count + 1);
  for (uint32_t t = 0; t < loading->index.tensor_count; ++t) {
    sambaStringMapInsert(&by_name, loading->index.tensors[t].name, t, NULL);
    loading->symbols[t] = SAMBA_PEF_NONE;
  }

  for (uint32_t s = 0; s < pef->symbols_count && !status; ++s) {
    const SambaPefSymbol *symbol = &pef->symbols[s];
    uint32_t tensor;
    if (!isSaved(symbol))
      continue;
    if (!sambaStringMapGet(&by_name, symbol->name, &tensor)) {
      status = sambaStatusMake(
          SAMBA_INVALID, "%s: has no value of %s '%.*s'; it was saved from another PEF",
          loading->folder, kindName(symbol->kind), SAMBA_STRING_ARGS(symbol->name));
      break;
    }
    loading->symbols[tensor] = s;
    status = compareTensor(loading, &loading->index.tensors[tensor], symbol);
  }
  sambaStringMapFree(&by_name);

  for (uint32_t t = 0; t < loading->index.tensor_count && !status; ++t)
    if (loading->symbols[t] == SAMBA_PEF_NONE &&
        !(loading->is_inference &&
          sambaStringRefEqualC(loading->index.tensors[t].kind, "optimizer_state")))
      status = sambaStatusMake(SAMBA_INVALID,
                               "%s: has a value of '%.*s', which this PEF does not have; it was "
                               "saved from another PEF",
                               loading->folder, SAMBA_STRING_ARGS(loading->index.tensors[t].name));
  return status;
}

static SambaStatus matchHyperparameters(Loading *loading) {
  const SambaCheckpointIndex *index = &loading->index;
  const SambaPef *pef = loading->pef;
  loading->argins = SAMBA_ARENA_ARRAY(&loading->arena, uint32_t, index->hyperparameter_count + 1);
  for (uint32_t h = 0; h < index->hyperparameter_count; ++h) {
    const SambaCheckpointHyperparameter *saved = &index->hyperparameters[h];
    loading->argins[h] = SAMBA_PEF_NONE;
    for (uint32_t i = 0; i < pef->argins_count; ++i)
      if (sambaStringRefEqual(pef->argins[i].name, saved->name))
        loading->argins[h] = i;
    if (loading->argins[h] != SAMBA_PEF_NONE)
      SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(
          sambaHyperparametersCheck(&pef->argins[loading->argins[h]], saved->value), "%s",
          loading->folder));
    else if (!loading->is_inference)
      return sambaStatusMake(SAMBA_INVALID,
                             "%s: has a value of the hyperparameter '%.*s', which this PEF does "
                             "not have; it was saved from another PEF",
                             loading->folder, SAMBA_STRING_ARGS(saved->name));
  }
  return NULL;
}

static SambaStatus loadTensor(const Loading *loading, uint32_t at, bool writes,
                              SambaArena *scratch) {
  const SambaCheckpointTensor *saved = &loading->index.tensors[at];
  const char *path = pathIn(scratch, loading->folder, saved->file);
  uint8_t *data = NULL;
  uint64_t bytes = 0;
  SambaTensorFile tensor;
  SAMBA_RETURN_IF_ERROR(readFile(loading->folder, path, UINT64_MAX, &data, &bytes));
  SambaStatus status = sambaNpyParse(path, data, bytes, scratch, &tensor);
  free(data);
  SAMBA_RETURN_IF_ERROR(status);
  if (tensor.dtype != saved->dtype || tensor.rank != saved->rank ||
      memcmp(tensor.dims, saved->dims, saved->rank * sizeof *saved->dims) != 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: does not have the type and shape that %s says; the checkpoint is "
                           "damaged",
                           path, indexFile);
  if (!writes)
    return NULL;

  const SambaPefSymbol *symbol = &loading->pef->symbols[loading->symbols[at]];
  if (saved->dtype == symbol->host_dtype)
    return sambaSessionSetInput(loading->session, symbol->name, tensor.dtype, tensor.rank,
                                tensor.dims, tensor.data);
  return sambaWriteSymbol(loading->session->loaded, loading->symbols[at], tensor.data);
}

/* One tensor at a time: first all are read and compared, then all are written. */
static SambaStatus loadTensors(const Loading *loading) {
  for (int writes = 0; writes < 2; ++writes)
    for (uint32_t t = 0; t < loading->index.tensor_count; ++t) {
      SambaArena scratch = {0};
      SambaStatus status =
          loading->symbols[t] == SAMBA_PEF_NONE ? NULL : loadTensor(loading, t, writes, &scratch);
      sambaArenaDestroy(&scratch);
      SAMBA_RETURN_IF_ERROR(status);
    }
  return NULL;
}

static SambaStatus load(Loading *loading) {
  SAMBA_RETURN_IF_ERROR(readIndex(loading));
  SAMBA_RETURN_IF_ERROR(matchTensors(loading));
  SAMBA_RETURN_IF_ERROR(matchHyperparameters(loading));
  SAMBA_RETURN_IF_ERROR(loadTensors(loading));

  SambaHyperparameters *stored = sambaSessionGetHyperparameters(loading->session);
  stored->seed = loading->index.seed;
  stored->generator = loading->index.generator;
  for (uint32_t h = 0; h < loading->index.hyperparameter_count; ++h)
    if (loading->argins[h] != SAMBA_PEF_NONE)
      sambaHyperparametersPut(stored, loading->argins[h], loading->index.hyperparameters[h].value,
                              loading->index.hyperparameters[h].given);
  sambaSessionSetStep(loading->session, loading->index.step);
  return NULL;
}

SambaStatus sambaSessionLoad(SambaSession *session, const char *folder) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  Loading loading = {.session = session, .pef = sambaSessionGetPef(session), .folder = folder};
  if (!sambaSessionGetDevice(session)->holds_values)
    return sambaStatusMake(SAMBA_INVALID, "%s: a device that counts cycles only takes no values",
                           folder);
  loading.is_inference =
      !(sambaSessionGetSectionTypes(session) & sambaSectionTypeBit(SAMBA_SECTION_OPT));
  SambaStatus status = load(&loading);
  sambaArenaDestroy(&loading.arena);
  return status;
}
