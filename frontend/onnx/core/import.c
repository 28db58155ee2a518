/* The ONNX importer's driver: reads the file, declares inputs and initializers, orders the nodes,
 * imports each by its row of the table, declares the outputs. See onnx.h and importer.h. */
#include "frontend/onnx/core/importer.h"

#include "support/file/path.h"
#include "support/file/tensor_file.h"
#include "support/number/dtype.h"
#include "support/text/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  KNOWN_FLOATS = 1,
  KNOWN_CONSTANT = 1 << 12
}; /* elements up to which initializers of floats and Constant nodes are looked at */

const char *sambaOnnxShown(SambaImporter *importer, const char *text) {
  return sambaStringEscape(&importer->arena, sambaStringRef(text ? text : "")).data;
}

/* ---- The file ---- */

static SambaStatus mapFile(SambaImporter *importer) {
  int fd = open(importer->path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    SambaStatus status = sambaStatusMake(SAMBA_IO, "cannot open: %s", strerror(errno));
    if (fd >= 0)
      close(fd);
    return status;
  }

  SambaStatus status = NULL;
  if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    status = sambaStatusMake(SAMBA_INVALID, "is %s; expected an ONNX model",
                             S_ISREG(info.st_mode) ? "empty" : "no regular file");
  } else {
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
      status = sambaStatusMake(SAMBA_IO, "cannot map: %s", strerror(errno));
    else
      importer->file = data, importer->file_size = (size_t)info.st_size;
  }

  close(fd);
  return status;
}

static SambaStatus readModel(SambaImporter *importer) {
  SAMBA_RETURN_IF_ERROR(mapFile(importer));
  SAMBA_RETURN_IF_ERROR(sambaOnnxScan(importer->file, importer->file_size, &importer->skeleton));
  importer->model =
      onnx__model_proto__unpack(NULL, importer->skeleton.bytes.size, importer->skeleton.bytes.data);
  if (!importer->model)
    return sambaStatusMake(SAMBA_INVALID,
                           "is damaged, or no ONNX model: a field has the wrong type");
  if (!importer->model->graph)
    return sambaStatusMake(SAMBA_INVALID, "holds no graph; expected an ONNX model");
  return NULL;
}

static void freeImporter(SambaImporter *importer) {
  if (importer->model)
    onnx__model_proto__free_unpacked(importer->model, NULL);
  if (importer->file)
    munmap((void *)(uintptr_t)importer->file, importer->file_size);
  for (size_t i = 0; i < importer->unpacked.size; ++i)
    onnx__attribute_proto__free_unpacked(importer->unpacked.data[i], NULL);
  sambaArrayFree(&importer->unpacked);
  sambaOnnxSkeletonFree(&importer->skeleton);
  sambaStringMapFree(&importer->value_names);
  sambaArrayFree(&importer->values);
  sambaTraceDestroy(importer->trace);
  sambaArenaDestroy(&importer->arena);
}

/* ---- Values ---- */

static uint32_t valueIndex(SambaImporter *importer, const char *name) {
  uint32_t index = (uint32_t)importer->values.size;
  if (!sambaStringMapInsert(&importer->value_names, sambaStringRef(name), index, &index))
    return index;
  sambaArrayAppend(&importer->values,
                   (SambaOnnxValue){.name = sambaStringRef(name), .producer = -1});
  return index;
}

SambaOnnxValue *sambaOnnxValueAt(SambaImporter *importer, const char *name) {
  uint32_t index = valueIndex(importer, name); /* may move the array */
  return &importer->values.data[index];
}

SambaStatus sambaOnnxReadConstant(SambaImporter *importer, const Onnx__TensorProto *proto,
                                  SambaConstant **out_constant) {
  *out_constant = NULL;
  bool external = proto->has_data_location &&
                  proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  uint32_t width = sambaOnnxTypeBytes(proto->data_type);
  uint32_t index;

  if (external || !width || proto->n_dims > SAMBA_MAX_RANK)
    return NULL;
  SambaConstant *constant =
      sambaConstantNew(&importer->arena, proto->data_type, (uint32_t)proto->n_dims, proto->dims);
  if (!constant)
    return NULL;
  if (proto->has_raw_data && proto->raw_data.len == sizeof index) {
    memcpy(&index, proto->raw_data.data, sizeof index);
    const SambaOnnxPayload *payload =
        index < importer->skeleton.payloads.size ? &importer->skeleton.payloads.data[index] : NULL;
    if (!payload || payload->bytes != (uint64_t)constant->count * width)
      return sambaStatusMake(SAMBA_INVALID, "tensor %s needs %lld bytes, but the file holds %llu",
                             sambaOnnxShown(importer, proto->name),
                             (long long)constant->count * width,
                             (unsigned long long)(payload ? payload->bytes : 0));
    *out_constant = sambaConstantFromBytes(&importer->arena, proto->data_type, constant->rank,
                                           constant->dims, importer->file + payload->offset);
    return NULL;
  }

  size_t stored = proto->n_float_data    ? proto->n_float_data
                  : proto->n_int32_data  ? proto->n_int32_data
                  : proto->n_int64_data  ? proto->n_int64_data
                  : proto->n_double_data ? proto->n_double_data
                                         : proto->n_uint64_data;
  if (stored != (size_t)constant->count)
    return sambaStatusMake(SAMBA_INVALID, "tensor %s has %lld elements, but %zu are stored",
                           sambaOnnxShown(importer, proto->name), (long long)constant->count,
                           stored);

  for (size_t i = 0; i < stored; ++i) {
    uint64_t bits = proto->n_int32_data    ? (uint64_t)proto->int32_data[i]
                    : proto->n_int64_data  ? (uint64_t)proto->int64_data[i]
                    : proto->n_uint64_data ? proto->uint64_data[i]
                                           : 0;
    if (proto->n_float_data || proto->n_double_data) {
      double real = proto->n_float_data ? (double)proto->float_data[i] : proto->double_data[i];
      constant->data[i] = sambaNumberConvert((SambaNumber){.r = real}, true, proto->data_type);
    } else if (constant->is_float) { /* halves are stored as their bits */
      SambaDType dtype = sambaDTypeOfOnnx(proto->data_type);
      constant->data[i].r = (double)sambaBitsToFloat(dtype, (uint32_t)bits);
    } else {
      constant->data[i] =
          sambaNumberConvert((SambaNumber){.i = (int64_t)bits}, false, proto->data_type);
    }
  }

  *out_constant = constant;
  return NULL;
}

SambaStatus sambaOnnxSetTensorProto(const SambaOnnxNode *node, uint32_t output,
                                    const Onnx__TensorProto *proto) {
  SambaConstant *constant;
  SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(node->importer, proto, &constant));
  if (constant &&
      (constant->count <= KNOWN_CONSTANT || !constant->is_float || !proto->has_raw_data))
    return sambaOnnxSetConstant(node, output, constant);
  uint32_t index = valueIndex(node->importer, node->proto->output[output]); /* there already */
  node->importer->values.data[index].initializer = proto;
  node->importer->values.data[index].defined = true;
  return NULL;
}

SambaStatus sambaOnnxDeclareInitializer(SambaImporter *importer, const char *name,
                                        const Onnx__TensorProto *proto) {
  SambaOnnxValue *value = sambaOnnxValueAt(importer, name);
  if (value->defined)
    return sambaStatusMake(SAMBA_INVALID, "initializer %s is there twice",
                           sambaOnnxShown(importer, proto->name));
  value->initializer = proto;
  value->is_weight = value->defined = true;
  if (sambaOnnxTypeIsFloat(proto->data_type)) {
    int64_t count = 1;
    for (size_t axis = 0; axis < proto->n_dims && count <= KNOWN_FLOATS; ++axis)
      count = proto->dims[axis] > KNOWN_FLOATS ? KNOWN_FLOATS + 1 : count * proto->dims[axis];
    bool empty = false;
    for (size_t axis = 0; axis < proto->n_dims; ++axis)
      empty |= proto->dims[axis] == 0;
    if (count > KNOWN_FLOATS && !empty)
      return NULL;
  }

  SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(importer, proto, &value->constant));

  /* Single numbers are parameters of formulas rather than weights: they may be folded and appear as
   * constants. */
  if (value->constant && value->constant->count == 1 && value->constant->rank == 0)
    value->is_weight = false;
  return NULL;
}

static SambaStatus declareInitializers(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  for (size_t i = 0; i < graph->n_initializer; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxDeclareInitializer(
        importer, graph->initializer[i]->name ? graph->initializer[i]->name : "",
        graph->initializer[i]));
  return NULL;
}

/* ---- Nodes ---- */

static SambaStatus annotateNode(SambaImporter *importer, const Onnx__NodeProto *proto, size_t index,
                                SambaStatus status) {
  enum { SHOWN_NAME = 80 };
  const char *name = proto->name ? proto->name : "";
  const char *cut = "";
  if (strlen(name) > SHOWN_NAME) { /* its end tells more: it is the node's own name */
    name += strlen(name) - SHOWN_NAME;
    cut = "...";
  }
  return sambaStatusAnnotate(status, "node %zu %s%s (%s)", index, cut,
                             sambaOnnxShown(importer, name), proto->op_type ? proto->op_type : "");
}

static SambaStatus declareOutputs(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  for (size_t i = 0; i < graph->n_node; ++i) {
    const Onnx__NodeProto *proto = graph->node[i];
    for (size_t k = 0; k < proto->n_output; ++k) {
      if (!proto->output[k] || !*proto->output[k])
        continue;
      SambaOnnxValue *value = sambaOnnxValueAt(importer, proto->output[k]);
      if (value->defined || value->producer >= 0)
        return annotateNode(importer, proto, i,
                            sambaStatusMake(SAMBA_INVALID, "output %s is made twice",
                                            sambaOnnxShown(importer, proto->output[k])));
      value->producer = (int32_t)i;
    }
    for (size_t k = 0; k < proto->n_input; ++k)
      if (proto->input[k] && *proto->input[k])
        valueIndex(importer, proto->input[k]);
  }

  for (size_t i = 0; i < graph->n_value_info; ++i)
    if (graph->value_info[i]->name)
      sambaOnnxValueAt(importer, graph->value_info[i]->name)->declared = graph->value_info[i];
  for (size_t i = 0; i < graph->n_output; ++i)
    sambaOnnxValueAt(importer, graph->output[i]->name ? graph->output[i]->name : "")->declared =
        graph->output[i];
  return NULL;
}

/* Nodes in an order in which producers come first: the file's own order wherever that is one.
 * Iterative depth-first search. */
static SambaStatus orderNodes(SambaImporter *importer, uint32_t *out_order) {
  const Onnx__GraphProto *graph = importer->model->graph;
  typedef struct {
    uint32_t node, next;
  } Frame;
  enum { NEW, OPEN, DONE };
  uint8_t *state = SAMBA_ARENA_ARRAY(&importer->arena, uint8_t, graph->n_node);

  Frame *stack = SAMBA_ARENA_ARRAY(&importer->arena, Frame, graph->n_node + 1);
  size_t count = 0;
  for (uint32_t root = 0; root < graph->n_node; ++root) {
    if (state[root] != NEW)
      continue;
    size_t depth = 0;
    stack[depth++] = (Frame){root, 0};
    state[root] = OPEN;
    while (depth) {
      Frame *top = &stack[depth - 1];
      const Onnx__NodeProto *proto = graph->node[top->node];
      if (top->next == proto->n_input) {
        state[top->node] = DONE;
        out_order[count++] = top->node;
        --depth;
        continue;
      }
      const char *name = proto->input[top->next++];
      uint32_t index;
      if (!name || !*name ||
          !sambaStringMapGet(&importer->value_names, sambaStringRef(name), &index))
        continue;
      int32_t producer = importer->values.data[index].producer;
      if (producer < 0 || state[producer] == DONE)
        continue;
      if (state[producer] == OPEN)
        return annotateNode(
            importer, proto, top->node,
            sambaStatusMake(SAMBA_INVALID,
                            "input %s depends on the node's own output: the graph has a cycle",
                            sambaOnnxShown(importer, name)));
      state[producer] = OPEN;
      stack[depth++] = (Frame){(uint32_t)producer, 0};
    }
  }

  return NULL;
}

const char *sambaOnnxDomain(const Onnx__NodeProto *proto) {
  return !proto->domain || strcmp(proto->domain, "ai.onnx") == 0 ? "" : proto->domain;
}

int64_t sambaOnnxSetVersion(size_t set_count, Onnx__OperatorSetIdProto *const *sets,
                            const char *domain) {
  int64_t version = 0;
  for (size_t i = 0; i < set_count; ++i) {
    const char *name =
        !sets[i]->domain || strcmp(sets[i]->domain, "ai.onnx") == 0 ? "" : sets[i]->domain;
    if (strcmp(name, domain) == 0)
      version = sets[i]->version;
  }
  return version ? version : 1;
}

static bool rowNames(const SambaOnnxRow *row, const Onnx__NodeProto *proto) {
  return proto->op_type && strcmp(row->name, proto->op_type) == 0 &&
         strcmp(row->domain, sambaOnnxDomain(proto)) == 0;
}

const SambaOnnxRow *sambaOnnxRowOf(const SambaOnnxNode *node) {
  for (const SambaOnnxRow *row = sambaOnnxRows; row->name; ++row)
    if (rowNames(row, node->proto) && node->version >= row->first && node->version <= row->last)
      return row;
  return NULL;
}

/* Why an operator is left out on purpose: "" for all others. */
static const char *reasonWithout(const char *name) {
  static const struct {
    const char *reason, *names[8];
  } kinds[] = {
      {": quantized operators are not; export the model in float",
       {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv",
        "QLinearMatMul", "ConvInteger", "MatMulInteger"}},
      {": control flow that depends on data is not; export the model unrolled", {"Loop", "Scan"}},
      {": text is not", {"StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch"}}};
  for (size_t kind = 0; name && kind < sizeof kinds / sizeof *kinds; ++kind)
    for (size_t i = 0; i < 8 && kinds[kind].names[i]; ++i)
      if (strcmp(kinds[kind].names[i], name) == 0)
        return kinds[kind].reason;
  return "";
}

static SambaStatus noRow(const SambaOnnxNode *node) {
  const Onnx__NodeProto *proto = node->proto;
  for (const SambaOnnxRow *row = sambaOnnxRows; row->name; ++row)
    if (rowNames(row, proto))
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "operator %s of operator set version %lld is not supported; versions %lld to %lld are",
          proto->op_type, (long long)node->version, (long long)row->first, (long long)row->last);
  return sambaStatusMake(SAMBA_UNSUPPORTED, "operator %s%s%s is not supported%s",
                         sambaOnnxDomain(proto), *sambaOnnxDomain(proto) ? "." : "",
                         proto->op_type && *proto->op_type ? proto->op_type : "without a type",
                         reasonWithout(*sambaOnnxDomain(proto) ? NULL : proto->op_type));
}

/* The node with the inputs it has: folded when all are known, else as the graph's operators.
 * Operands that steer shapes are settled first. */
static SambaStatus importResolved(const SambaOnnxNode *node) {
  const SambaOnnxRow *row = sambaOnnxRowOf(node);
  bool done = false, known = node->input_count > 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxImportDeclared(node, importResolved, &done));
  if (!done)
    SAMBA_RETURN_IF_ERROR(sambaOnnxImportEmpty(node, row, &done));
  for (uint32_t i = 0; i < node->input_count && !done; ++i)
    known = known && (!sambaOnnxHasInput(node, i) || sambaOnnxConstant(node, i));
  if (!done && known && row->fold && (row->inputs[0] < 1 || sambaOnnxHasInput(node, 0)))
    SAMBA_RETURN_IF_ERROR(row->fold(node, &done));
  if (!done)
    SAMBA_RETURN_IF_ERROR(sambaOnnxImportRuntimeForm(node, &done));
  return done ? NULL : row->import(node);
}

static SambaStatus importNode(SambaOnnxNode *node) {
  SambaImporter *importer = node->importer;
  const Onnx__NodeProto *proto = node->proto;
  const SambaOnnxRow *row = proto->op_type ? sambaOnnxRowOf(node) : NULL;
  const Onnx__FunctionProto *function = row || !proto->op_type ? NULL : sambaOnnxFunctionOf(node);

  if (!row && !function)
    return noRow(node);
  uint32_t *inputs = SAMBA_ARENA_ARRAY(&importer->arena, uint32_t, proto->n_input);
  for (uint32_t i = 0; i < proto->n_input; ++i) {
    inputs[i] = UINT32_MAX;
    if (!proto->input[i] || !*proto->input[i])
      continue;
    sambaStringMapGet(&importer->value_names, sambaStringRef(proto->input[i]), &inputs[i]);
    const SambaOnnxValue *value = &importer->values.data[inputs[i]];
    if (!value->defined)
      return sambaStatusMake(SAMBA_INVALID,
                             "input %s is missing: no node makes it, and it is neither a graph "
                             "input nor an initializer",
                             sambaOnnxShown(importer, proto->input[i]));
  }

  node->inputs = inputs;
  node->input_count = (uint32_t)proto->n_input;
  node->output_count = (uint32_t)proto->n_output;
  while (node->input_count && inputs[node->input_count - 1] == UINT32_MAX)
    --node->input_count; /* optional ones at the end may be written or not */
  if (function)
    return sambaOnnxInlineFunction(node, function);
  if (node->input_count < row->inputs[0] || node->input_count > row->inputs[1])
    return sambaStatusMake(SAMBA_INVALID, "has %u inputs, but must have %u to %u",
                           node->input_count, row->inputs[0], row->inputs[1]);
  SAMBA_RETURN_IF_ERROR(sambaOnnxCheckAttributes(node));

  return node->output_count ? importResolved(node) : NULL;
}

SambaStatus sambaOnnxImportNode(SambaImporter *importer, const Onnx__NodeProto *proto,
                                uint32_t index, const SambaOnnxScope *scope) {
  SambaOnnxNode node = {.importer = importer,
                        .proto = proto,
                        .index = index,
                        .scope = scope,
                        .version = sambaOnnxScopeVersion(importer, scope, sambaOnnxDomain(proto))};
  const char *layer = proto->name && *proto->name                                ? proto->name
                      : proto->n_output && proto->output[0] && *proto->output[0] ? proto->output[0]
                                                                                 : "";
  sambaTraceSetLayer(importer->trace, sambaStringRef(layer), importer->path, index);
  SambaStatus status = importNode(&node);

  if (!status && sambaTraceStatus(importer->trace)) {
    SambaStatus failed = sambaTraceStatus(importer->trace);
    status = sambaStatusMake(sambaStatusGetCode(failed), "%s", sambaStatusGetMessage(failed));
  }

  /* The innermost node says what is wrong and the graph's own node where; those between stand in
   * the innermost one's name. */
  if (status && scope && importer->failed_inside)
    return status;
  if (status) {
    importer->failed_inside = scope != NULL;
    return annotateNode(importer, proto, index, status);
  }
  for (uint32_t k = 0; k < proto->n_output;
       ++k) { /* outputs that a handler leaves out were not asked for or are refused when read */
    if (!sambaOnnxOutputUsed(&node, k))
      continue;
    SambaOnnxValue *value = sambaOnnxValueAt(importer, proto->output[k]);
    value->defined = value->tensor || value->constant || value->initializer || value->sequence;
  }

  return NULL;
}

static SambaStatus importNodes(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  uint32_t *order = SAMBA_ARENA_ARRAY(&importer->arena, uint32_t, graph->n_node);
  SAMBA_RETURN_IF_ERROR(orderNodes(importer, order));
  for (size_t i = 0; i < graph->n_node; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxImportNode(importer, graph->node[order[i]], order[i], NULL));
  return NULL;
}

static SambaStatus declareResults(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  sambaTraceSetLayer(importer->trace, (SambaStringRef){0}, NULL, 0);
  if (!graph->n_output)
    return sambaStatusMake(SAMBA_INVALID, "the graph has no outputs");

  for (size_t i = 0; i < graph->n_output; ++i) {
    const char *name = graph->output[i]->name ? graph->output[i]->name : "";
    uint32_t index = valueIndex(importer, name);
    if (!importer->values.data[index].defined)
      return sambaStatusMake(SAMBA_INVALID, "graph output %s is made by no node",
                             sambaOnnxShown(importer, name));
    SambaOnnxNode node = {.importer = importer, .input_count = 1, .inputs = &index};
    SambaTensor *tensor;
    SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(sambaOnnxTensor(&node, 0, &tensor), "graph output %s",
                                              sambaOnnxShown(importer, name)));
    const Onnx__TypeProto *type = graph->output[i]->type;
    int64_t declared = type && type->tensor_type ? type->tensor_type->elem_type : 0;
    if (declared && declared != sambaOnnxTypeOf(tensor->type.dtype))
      return sambaStatusMake(SAMBA_INVALID,
                             "graph output %s is declared as %s, but its node makes %s",
                             sambaOnnxShown(importer, name), sambaOnnxTypeName(declared),
                             sambaOnnxTypeName(sambaOnnxTypeOf(tensor->type.dtype)));
    sambaTraceOutput(importer->trace, name, tensor);
  }

  return NULL;
}

static SambaStatus importModel(SambaImporter *importer) {
  SAMBA_RETURN_IF_ERROR(readModel(importer));
  SAMBA_RETURN_IF_ERROR(sambaOnnxParseOptions(importer));
  SAMBA_RETURN_IF_ERROR(sambaOnnxCheckOptions(importer));
  SAMBA_RETURN_IF_ERROR(declareInitializers(importer));
  SAMBA_RETURN_IF_ERROR(sambaOnnxDeclareInputs(importer));
  if (sambaTraceStatus(importer->trace))
    return NULL;
  SAMBA_RETURN_IF_ERROR(declareOutputs(importer));
  SAMBA_RETURN_IF_ERROR(importNodes(importer));
  return declareResults(importer);
}

SambaStatus sambaOnnxImport(MlirContext context, const char *path,
                            const SambaOnnxImportOptions *options, SambaOnnxRecordCallback callback,
                            void *user_data, MlirModule *out_module) {
  const SambaOnnxImportOptions none = {0};
  SambaImporter importer = {.path = path, .options = options ? options : &none};
  importer.folder = sambaStringRefCopy(&importer.arena, sambaPathFolder(path)).data;
  importer.trace = sambaTraceCreate(context, "forward");
  *out_module = (MlirModule){NULL};
  SambaStatus status = importModel(&importer);
  if (!status) {
    if (callback && !sambaTraceStatus(importer.trace)) {
      SambaTraceRecord record = sambaTraceGetRecord(importer.trace);
      callback(record.line_count, record.lines, record.digest, user_data);
    }
    status = sambaTraceFinish(importer.trace, out_module);
  }

  status = sambaStatusAnnotate(status, "%s", path);
  freeImporter(&importer);
  return status;
}
