/* The numbers of lazy parameters, for Python; see random.h. They are those that a parameter of the
 * same name and seed has in C. */
#include "tools/python/random.h"

typedef struct {
  unsigned long long data;
  SambaTensorType type;
  SambaStringRef name;
  SambaInitializer initializer;
  SambaLazyOptions options;
} Request;

static bool readRequest(PyObject *arguments, Request *request) {
  PyObject *dtype, *shape;
  const char *name, *kind, *rounding;
  unsigned long long seed;
  int threads, inverse;
  *request = (Request){0};
  if (!PyArg_ParseTuple(arguments, "KOOssddKips", &request->data, &dtype, &shape, &name, &kind,
                        &request->initializer.first, &request->initializer.second, &seed, &threads,
                        &inverse, &rounding) ||
      !sambaReadType(dtype, shape, &request->type))
    return false;

  bool is_normal = !strcmp(kind, "normal");
  request->name = sambaStringRef(name);
  request->initializer.kind = is_normal ? SAMBA_INITIALIZER_NORMAL : SAMBA_INITIALIZER_UNIFORM;
  request->options = (SambaLazyOptions){
      .seeded = true, .seed = seed, .threads = threads, .inverse_transform_sampling = inverse != 0};
  SambaStatus status =
      sambaRoundingParse(sambaStringRef(rounding), &request->options.bf16_rounding);
  if (status)
    sambaRaise(status);
  return !status;
}

/* Asks the initializer of a tensor without data, as if it were materialized into the memory. */
static SambaStatus fill(const Request *request) {
  const SambaTensorType *type = &request->type;
  SambaTensor *tensor;
  SAMBA_RETURN_IF_ERROR(
      sambaTensorCreateEmpty(type->dtype, type->rank, type->dims, request->name, &tensor));
  SambaStatus status = sambaTensorSetInitializer(tensor, &request->initializer, &request->options);
  if (!status) {
    void *user;
    SambaMaterializer materializer = sambaTensorGetMaterializer(tensor, &user);
    int64_t bytes = sambaDTypeBytes(type->dtype);
    for (uint32_t i = 0; i < type->rank; ++i)
      bytes *= type->dims[i];
    const SambaMaterializeRequest demand = {.name = request->name,
                                            .dtype = type->dtype,
                                            .rank = type->rank,
                                            .dims = type->dims,
                                            .data = (void *)(uintptr_t)request->data,
                                            .bytes = bytes};
    status = materializer(user, &demand);
  }
  sambaTensorRelease(tensor);
  return status;
}

PyObject *sambaFillRandom(PyObject *module, PyObject *arguments) {
  Request request;
  SambaStatus status;
  (void)module;
  if (!readRequest(arguments, &request))
    return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = fill(&request);
  Py_END_ALLOW_THREADS;
  return sambaAnswerStatus(status);
}
