/* From a trace to a session that can run it; see samba/trace_graph.h. */
#include "samba/trace_graph.h"

#include <stdlib.h>

static SambaStatus loadPef(SambaSession *session, const SambaTraceGraphOptions *options) {
  if (options->pef && *options->pef)
    return sambaSessionLoadPef(session, options->pef);
  if (sambaSessionHasPef(session))
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "no PEF loaded, and none is given; compile the model and "
                                        "name its PEF");
}

/* ---- The graph of the PEF ---- */

typedef struct {
  const char *wanted;
  bool found;
  SambaGraphInfo info;
} Search;

static bool isName(SambaStringRef text, const char *name) {
  return strlen(name) == text.size && memcmp(text.data, name, text.size) == 0;
}

static void visitGraph(void *user, const SambaGraphInfo *info) {
  Search *search = user;
  if (search->found || (*search->wanted && !isName(info->name, search->wanted)))
    return;
  search->found = true;
  search->info = *info;
}

static SambaStatus checkMapping(const SambaSession *session, const char *graph,
                                const char *mapping) {
  Search search = {.wanted = graph};
  if (!mapping)
    return NULL;
  if (strcmp(mapping, "section") != 0 && strcmp(mapping, "spatial") != 0)
    return sambaStatusMake(SAMBA_INVALID, "mapping is 'section' or 'spatial', not '%s'", mapping);
  sambaSessionForEachGraph(session, visitGraph, &search);
  if (!search.found || strcmp(search.info.mapping, mapping) == 0)
    return NULL; /* what is not there is refused with the trace */
  return sambaStatusMake(SAMBA_INVALID,
                         "the PEF was compiled with mapping '%s', but '%s' is asked for; compile "
                         "it again",
                         search.info.mapping, mapping);
}

/* ---- Tensors ---- */

typedef struct {
  SambaSession *session;
  SambaStatus status;
} Remembering;

static void rememberTensor(void *user, SambaTraceValue *value, SambaTensor *tensor) {
  Remembering *remembering = user;
  SambaStringRef name = sambaTraceValueGetName(value);
  SambaTensorInfo info;
  if (remembering->status)
    return;
  SambaStatus missing = sambaSessionGetTensorInfo(remembering->session, name, &info);
  if (!missing)
    remembering->status = sambaSessionUpdateTensor(remembering->session, name, tensor);
  sambaStatusFree(missing);
}

SambaStatus sambaSessionTraceGraph(SambaSession *session, SambaTrace *trace,
                                   const SambaTraceGraphOptions *options) {
  static const SambaTraceGraphOptions everything = {0};
  options = options ? options : &everything;
  const char *graph = options->graph ? options->graph : "";
  SAMBA_RETURN_IF_ERROR(loadPef(session, options));
  SAMBA_RETURN_IF_ERROR(checkMapping(session, graph, options->mapping));
  SAMBA_RETURN_IF_ERROR(
      sambaSessionCheckTrace(session, sambaStringRef(graph), sambaTraceGetRecord(trace)));

  Remembering remembering = {.session = session};
  sambaTraceForEachTensor(trace, rememberTensor, &remembering);
  SAMBA_RETURN_IF_ERROR(remembering.status);
  if (options->no_transfer)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaSessionTransferTraced(session));
  return options->no_output_grads ? NULL : sambaSessionInitOutputGrads(session, 0, NULL, NULL);
}
