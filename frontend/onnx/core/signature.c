/* What a node has against what the version of its operator takes: attributes with their types, and
 * the element types of inputs. */
#include "frontend/onnx/core/signature.h"
#include "frontend/onnx/core/importer.h"
#include "support/file/tensor_file.h"

#include <stdlib.h>

static const SambaOnnxSignature signatures[] = {
#define SIGNATURE(domain, name, since, attributes, ...)                                            \
  {domain,       name, since, attributes, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),    \
   {__VA_ARGS__}},
#include "frontend/onnx/core/signatures.def"
#undef SIGNATURE
};
enum { COUNT = sizeof signatures / sizeof *signatures };

size_t sambaOnnxSignatureCount(void) { return COUNT; }
const SambaOnnxSignature *sambaOnnxSignatureAt(size_t index) { return &signatures[index]; }

static int compare(const SambaOnnxSignature *a, const char *domain, const char *name,
                   int64_t version) {
  int order = strcmp(a->domain, domain);
  order = order ? order : strcmp(a->name, name);
  return order ? order : (a->since > version) - (a->since < version);
}

/* The rows are sorted: the one asked for is the last that is not behind. */
const SambaOnnxSignature *sambaOnnxFindSignature(const char *domain, const char *name,
                                                 int64_t version) {
  size_t low = 0, high = COUNT;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (compare(&signatures[middle], domain, name, version) <= 0)
      low = middle + 1;
    else
      high = middle;
  }

  const SambaOnnxSignature *found = low ? &signatures[low - 1] : NULL;
  return found && !strcmp(found->domain, domain) && !strcmp(found->name, name) ? found : NULL;
}

/* ---- Attributes ---- */

enum {
  FIRST = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
  INT = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
  TENSOR = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR,
  GRAPH = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH,
  LISTS = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS |
          1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS |
          1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS
};

/* Integers that are 0 or 1, in every operator that has them. */
static const char flags[] =
    " across_channels align_corners allowzero antialias broadcast ceil_mode count_include_pad "
    "detect_negative detect_positive exclude_outside exclusive fmod input_forget interleaved "
    "inverse is_causal is_test keepdims largest layout linear_before_reset new_axis "
    "noop_with_empty_axes normalize_variance onesided output_sequence periodic reverse saturate "
    "select_last_index sorted spatial storage_order training_mode transA transB upper ";

static const char *typeName(unsigned type) {
  static const char *const names[] = {"untyped",        "FLOAT",      "INT",        "STRING",
                                      "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
                                      "STRINGS",        "TENSORS",    "GRAPHS",     "SPARSE_TENSOR",
                                      "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return type < sizeof names / sizeof *names ? names[type] : "of an unknown type";
}

/* The letters of the table for a type. */
static unsigned typeOfLetters(const char *letters, size_t size) {
  static const struct {
    const char *letters;
    unsigned type;
  } kinds[] = {{"f", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT},
               {"i", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT},
               {"s", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING},
               {"t", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR},
               {"g", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH},
               {"fs", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS},
               {"is", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS},
               {"ss", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS},
               {"sparse", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR},
               {"type", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strlen(kinds[i].letters) == size && !memcmp(kinds[i].letters, letters, size))
      return kinds[i].type;
  return 0;
}

/* The type that the signature gives an attribute; 0: it has none of this name. */
static unsigned typeOfNamed(const SambaOnnxSignature *signature, const char *name) {
  size_t size = strlen(name);
  for (const char *at = signature->attributes; *at;) {
    const char *colon = strchr(at, ':');
    const char *end = strchr(colon, ' ');
    if ((size_t)(end - colon - 1) == size && !memcmp(colon + 1, name, size))
      return typeOfLetters(at, (size_t)(colon - at));
    at = end + 1;
  }
  return 0;
}

/* "axis, keepdims", or "none". */
static const char *listNames(SambaArena *arena, const SambaOnnxSignature *signature) {
  const char *list = "";
  for (const char *at = signature->attributes; *at;) {
    const char *name = strchr(at, ':') + 1;
    const char *end = strchr(name, ' ');
    list = sambaArenaFormat(arena, "%s%s%.*s", list, *list ? ", " : "", (int)(end - name), name);
    at = end + 1;
  }
  return *list ? list : "none";
}

/* The type; models of the first version of the format have it only in the field that is there. */
static unsigned typeOf(const Onnx__AttributeProto *attribute) {
  if (attribute->has_type && attribute->type)
    return (unsigned)attribute->type;
  for (unsigned type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
       type <= ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS; ++type) {
    const bool there[] = {[ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT] = attribute->has_f,
                          [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT] = attribute->has_i,
                          [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING] = attribute->has_s,
                          [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR] = attribute->t != NULL,
                          [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH] = attribute->g != NULL,
                          [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS] = attribute->n_floats > 0,
                          [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS] = attribute->n_ints > 0,
                          [ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS] =
                              attribute->n_strings > 0};
    if (there[type])
      return type;
  }

  return 0;
}

static SambaStatus checkAttribute(const SambaOnnxNode *node, const SambaOnnxSignature *signature,
                                  const Onnx__AttributeProto *attribute) {
  const char *name = attribute->name ? attribute->name : "";
  const char *shown = sambaOnnxShown(node->importer, name);
  unsigned wanted = typeOfNamed(signature, name), type = typeOf(attribute);
  unsigned bit = 1u << wanted;

  if (sambaOnnxAttribute(node, name) != attribute && attribute->name)
    return sambaStatusMake(SAMBA_INVALID, "attribute %s is given twice", shown);
  if (!wanted)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "attribute %s does not belong to %s of operator set version %lld, which "
                           "has %s",
                           shown, signature->name, (long long)node->version,
                           listNames(node->arena, signature));
  bool empty_list = bit & LISTS && (!type || LISTS & 1u << type) && !attribute->n_floats &&
                    !attribute->n_ints && !attribute->n_strings; /* of what does not matter */
  if (!empty_list && type != wanted)
    return sambaStatusMake(SAMBA_INVALID, "attribute %s is %s, but must be %s", shown,
                           typeName(type), typeName(wanted));
  if ((bit == TENSOR && !attribute->t) || (bit == GRAPH && !attribute->g))
    return sambaStatusMake(SAMBA_INVALID, "attribute %s has no value", shown);
  if (bit == INT && (attribute->i < 0 || attribute->i > 1) &&
      strstr(flags, sambaArenaFormat(node->arena, " %s ", name)))
    return sambaStatusMake(SAMBA_INVALID, "attribute %s is %lld, but must be 0 or 1", shown,
                           (long long)attribute->i);
  return NULL;
}

/* ---- Element types ---- */

/* As the model has it: 0 when that is not known, or no tensor. */
static int64_t elementType(const SambaOnnxNode *node, uint32_t input) {
  const SambaOnnxValue *value = sambaOnnxInputValue(node, input);
  if (!value || value->sequence)
    return 0;
  return value->is_double ? (int64_t)SAMBA_ONNX_DOUBLE : sambaOnnxInputType(node, input);
}

static SambaStatus checkType(const SambaOnnxNode *node, const SambaOnnxSignature *signature,
                             uint32_t input) {
  uint32_t last = signature->type_count - 1;
  uint32_t allowed = signature->types[input < last ? input : last];
  int64_t type = elementType(node, input);
  if (!type || !allowed || type > 31 || allowed >> type & 1)
    return NULL;

  const char *list = "";
  for (int64_t i = 1; i < 32; ++i)
    if (allowed >> i & 1)
      list = sambaArenaFormat(node->arena, "%s%s%s", list, *list ? ", " : "", sambaOnnxTypeName(i));
  return sambaStatusMake(SAMBA_INVALID,
                         "input %u is %s, but %s of operator set version %lld takes %s", input,
                         sambaOnnxTypeName(type), signature->name, (long long)node->version, list);
}

SambaStatus sambaOnnxCheckSignature(const SambaOnnxNode *node) {
  const SambaOnnxSignature *signature =
      sambaOnnxFindSignature(sambaOnnxDomain(node->proto), node->proto->op_type, node->version);
  if (!signature)
    return NULL;
  bool variadic = node->row && node->row->inputs[1] == UINT32_MAX;
  if (!variadic && node->input_count > signature->type_count)
    return sambaStatusMake(
        SAMBA_INVALID, "has %u inputs, but %s of operator set version %lld has at most %u",
        node->input_count, signature->name, (long long)node->version, signature->type_count);
  for (size_t i = 0; i < node->proto->n_attribute; ++i)
    SAMBA_RETURN_IF_ERROR(checkAttribute(node, signature, node->proto->attribute[i]));
  for (uint32_t i = 0; i < node->input_count; ++i)
    SAMBA_RETURN_IF_ERROR(checkType(node, signature, i));
  return NULL;
}
