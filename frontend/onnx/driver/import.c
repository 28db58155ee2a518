/* The ONNX importer's driver: reads the file, declares inputs and initializers, orders the nodes,
 * imports each by its row of the table, declares the outputs. See onnx.h. */
#include "dialect/bridge/bridge.h"
#include "frontend/onnx/driver/driver.h"
#include "frontend/onnx/onnx.h"
#include "support/file/path.h"
#include "support/file/tensor_file.h"
#include "support/number/shape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
  /* Before version 3 of the format there was one operator set, number 1. */
  if (importer->model->ir_version >= 3 && !importer->model->n_opset_import)
    return sambaStatusMake(SAMBA_INVALID,
                           "names no operator set (opset_import), so the meaning of its nodes is "
                           "open; export it again with one");
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

static SambaStatus declareInitializers(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  for (size_t i = 0; i < graph->n_initializer; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxDeclareInitializer(
        importer, graph->initializer[i]->name ? graph->initializer[i]->name : "",
        graph->initializer[i]));
  return NULL;
}

/* ---- Nodes ---- */

static SambaStatus declareOutputs(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  for (size_t i = 0; i < graph->n_node; ++i) {
    const Onnx__NodeProto *proto = graph->node[i];
    for (size_t k = 0; k < proto->n_output; ++k) {
      if (!proto->output[k] || !*proto->output[k])
        continue;
      SambaOnnxValue *value = sambaOnnxValueAt(importer, proto->output[k]);
      if (value->defined || value->producer >= 0)
        return sambaOnnxAnnotateNode(importer, proto, i,
                                     sambaStatusMake(SAMBA_INVALID, "output %s is made twice",
                                                     sambaOnnxShown(importer, proto->output[k])));
      value->producer = (int32_t)i;
    }
    for (size_t k = 0; k < proto->n_input; ++k)
      if (proto->input[k] && *proto->input[k])
        sambaOnnxValueIndex(importer, proto->input[k]);
  }

  for (size_t i = 0; i < graph->n_value_info; ++i)
    if (graph->value_info[i]->name)
      sambaOnnxValueAt(importer, graph->value_info[i]->name)->declared = graph->value_info[i];
  for (size_t i = 0; i < graph->n_output; ++i)
    sambaOnnxValueAt(importer, graph->output[i]->name ? graph->output[i]->name : "")->declared =
        graph->output[i];
  return NULL;
}

static SambaStatus importNodes(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  uint32_t *order = SAMBA_ARENA_ARRAY(&importer->arena, uint32_t, graph->n_node);
  SAMBA_RETURN_IF_ERROR(sambaOnnxOrderNodes(importer, order));
  for (size_t i = 0; i < graph->n_node; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxImportNode(importer, graph->node[order[i]], order[i], NULL));
  return NULL;
}

/* A declared shape must be the one that the nodes make; open dimensions fit every size. */
static SambaStatus checkDeclaredShape(SambaImporter *importer, const Onnx__ValueInfoProto *output,
                                      const SambaTensorType *made) {
  const Onnx__TypeProto *type = output->type;
  if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !type->tensor_type->shape)
    return NULL;
  const Onnx__TensorShapeProto *shape = type->tensor_type->shape;
  bool fits = shape->n_dim == made->rank;

  const char *declared = "";
  for (size_t axis = 0; axis < shape->n_dim; ++axis) {
    const Onnx__TensorShapeProto__Dimension *dim = shape->dim[axis];
    bool fixed = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
                 dim->dim_value >= 0;
    fits = fits && (!fixed || dim->dim_value == made->dims[axis]);
    const char *size =
        fixed ? sambaArenaFormat(&importer->arena, "%lld", (long long)dim->dim_value) : "?";
    declared = sambaArenaFormat(&importer->arena, "%s%s%s", declared, axis ? "x" : "", size);
  }

  char shown[SAMBA_SHAPE_TEXT_BYTES];
  if (fits)
    return NULL;
  sambaShapeFormat(shown, sizeof shown, made->rank, made->dims, "");
  return sambaStatusMake(SAMBA_INVALID,
                         "graph output %s is declared with the shape [%s], but its node makes [%s]",
                         sambaOnnxShown(importer, output->name), declared, shown);
}

static SambaStatus declareResults(SambaImporter *importer) {
  const Onnx__GraphProto *graph = importer->model->graph;
  sambaTraceSetLayer(importer->trace, (SambaStringRef){0}, NULL, 0);
  if (!graph->n_output)
    return sambaStatusMake(SAMBA_INVALID, "the graph has no outputs");

  for (size_t i = 0; i < graph->n_output; ++i) {
    const char *name = graph->output[i]->name ? graph->output[i]->name : "";
    uint32_t index = sambaOnnxValueIndex(importer, name);
    if (!importer->values.data[index].defined)
      return sambaStatusMake(SAMBA_INVALID, "graph output %s is made by no node",
                             sambaOnnxShown(importer, name));
    SambaOnnxNode node = {.importer = importer,
                          .input_count = 1,
                          .inputs = &index,
                          .trace = importer->trace,
                          .arena = &importer->arena};
    SambaTraceValue *tensor;
    SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(sambaOnnxTensor(&node, 0, &tensor), "graph output %s",
                                              sambaOnnxShown(importer, name)));
    const Onnx__TypeProto *type = graph->output[i]->type;
    int64_t declared = type && type->tensor_type ? type->tensor_type->elem_type : 0;
    if (declared && declared != sambaOnnxTypeOf(tensor->type.dtype) &&
        sambaOnnxDType(importer, declared) != tensor->type.dtype)
      return sambaStatusMake(SAMBA_INVALID,
                             "graph output %s is declared as %s, but its node makes %s",
                             sambaOnnxShown(importer, name), sambaOnnxTypeName(declared),
                             sambaOnnxTypeName(sambaOnnxTypeOf(tensor->type.dtype)));
    SAMBA_RETURN_IF_ERROR(checkDeclaredShape(importer, graph->output[i], &tensor->type));
    sambaTraceOutput(importer->trace, name, tensor);
  }

  return NULL;
}

/* Initializers that became part of operators: whoever freezes weights may name them too. */
static void nameConstants(SambaImporter *importer) {
  for (size_t i = 0; i < importer->values.size; ++i) {
    const SambaOnnxValue *value = &importer->values.data[i];
    if (value->initializer && value->name.size && !(value->tensor && value->tensor->kind.size))
      sambaTraceNameConstant(importer->trace, value->name);
  }
}

/* Says that results have fewer digits than the model asks for. */
static void remarkNarrowed(SambaImporter *importer) {
  if (!importer->narrowed)
    return;
  const char *text = sambaArenaFormat(
      &importer->arena,
      "%s: the model computes in DOUBLE; %u of its tensors become f32 (--f64=f32), and so do their "
      "results",
      importer->path, importer->narrowed);
  sambaDiagnose(mlirLocationUnknownGet(sambaTraceContext(importer->trace)), MlirDiagnosticRemark,
                mlirStringRefCreateFromCString(text), 0, NULL);
}

static SambaStatus importModel(SambaImporter *importer, const SambaOnnxImportOptions *options) {
  SambaOnnxInputOptions inputs;
  if (options->f64 && strcmp(options->f64, "f32") != 0)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "--f64 %s: DOUBLE can only become f32", options->f64);
  SAMBA_RETURN_IF_ERROR(readModel(importer));
  SAMBA_RETURN_IF_ERROR(sambaOnnxInputOptionsParse(importer, options, &inputs));
  SAMBA_RETURN_IF_ERROR(declareInitializers(importer));
  SAMBA_RETURN_IF_ERROR(sambaOnnxDeclareInputs(importer, &inputs));
  if (sambaTraceStatus(importer->trace))
    return NULL;
  SAMBA_RETURN_IF_ERROR(declareOutputs(importer));
  SAMBA_RETURN_IF_ERROR(importNodes(importer));
  SAMBA_RETURN_IF_ERROR(declareResults(importer));
  if (importer->trains)
    nameConstants(importer);
  remarkNarrowed(importer);
  return NULL;
}

SambaStatus sambaOnnxImportModel(MlirContext context, const char *path,
                                 const SambaOnnxImportOptions *options,
                                 SambaOnnxRecordCallback callback, void *user_data,
                                 MlirModule *out_module) {
  const SambaOnnxImportOptions none = {0};
  options = options ? options : &none;
  SambaImporter importer = {.path = path,
                            .output_folder = options->output_folder,
                            .trains = options->trains,
                            .narrows_double = options->f64 != NULL,
                            .rows = sambaOnnxRows,
                            .import_node = sambaOnnxImportNode};

  importer.folder = sambaStringRefCopy(&importer.arena, sambaPathFolder(path)).data;
  importer.trace = sambaTraceCreateInContext(context, "forward");
  *out_module = (MlirModule){NULL};
  SambaStatus status = importModel(&importer, options);
  if (!status) {
    if (callback && !sambaTraceStatus(importer.trace)) {
      SambaTraceRecord record = *sambaTraceGetRecord(importer.trace);
      callback(record.line_count, record.lines, record.digest, user_data);
    }
    status = sambaTraceFinish(importer.trace, out_module);
  }

  status = sambaStatusAnnotate(status, "%s", path);
  freeImporter(&importer);
  return status;
}
