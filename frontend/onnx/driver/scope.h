/* Where the nodes of a function, of a branch or of a loop's body stand: they are imported in place
 * of the node. Names inside get a prefix of their own; a function sees its inputs alone, a branch
 * and a body everything around. */
#ifndef SAMBA_FRONTEND_ONNX_DRIVER_SCOPE_H
#define SAMBA_FRONTEND_ONNX_DRIVER_SCOPE_H

#include "frontend/onnx/core/importer.h"

struct SambaOnnxScope {
  const SambaOnnxScope *outer;  /* whose names are seen too, NULL: nobody's or the graph's */
  const SambaOnnxScope *caller; /* where the node stands that this is put in place of */
  bool closed;                  /* names that are not defined here are not seen */
  unsigned depth;
  const char *prefix;
  const Onnx__FunctionProto *function; /* whose operator sets hold; NULL: the model's */
  const Onnx__NodeProto *call;         /* of the function: its attributes */
  const Onnx__GraphProto *graph; /* the branch or body, which declares shapes; NULL: a function */
  const Onnx__NodeProto *node;   /* whose results the scope's are, one for one; NULL: a body */
  SambaStringMap names;          /* name -> index in globals */
  SAMBA_ARRAY(const char *) globals;
};

/* The scope of what is put in place of the node; an error when it is nested too deep. Release with
 * sambaScopeFree, after an error too. */
SambaStatus sambaScopeEnter(const SambaOnnxNode *node, SambaOnnxScope *out_scope);
void sambaScopeFree(SambaOnnxScope *scope);

/* The version of a domain's operator set that nodes in the scope mean (NULL: in the graph). */
int64_t sambaOnnxScopeVersion(const SambaImporter *importer, const SambaOnnxScope *scope,
                              const char *domain);

/* The value `global` is known as `local` inside. */
void sambaScopeName(SambaOnnxScope *scope, const char *local, const char *global);
/* A new value for the name `local`; returns its global name. */
const char *sambaScopeDefine(SambaImporter *importer, SambaOnnxScope *scope, const char *local);
/* The global name of what `local` means inside. */
const char *sambaScopeLookUp(SambaImporter *importer, const SambaOnnxScope *scope,
                             const char *local);

SambaStatus sambaScopeImportNodes(SambaImporter *importer, SambaOnnxScope *scope, size_t count,
                                  Onnx__NodeProto *const *nodes);
/* The node's output is what the scope knows as `local`. */
SambaStatus sambaScopeSetOutput(const SambaOnnxNode *node, uint32_t output,
                                const SambaOnnxScope *scope, const char *local);

/* NULL: the node has no attribute of this name. */
const Onnx__AttributeProto *sambaAttributeNamed(const Onnx__NodeProto *proto, const char *wanted);

#endif
