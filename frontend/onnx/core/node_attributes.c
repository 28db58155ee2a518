/* Attributes of nodes: what handlers read, and the check that comes before. ONNX gives a name the
 * same type in every operator (with few exceptions), so one list of names serves all. */
#include "frontend/onnx/core/node.h"
#include "support/file/tensor_file.h"

/* ---- The check ---- */

enum {
  FLOAT = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
  INT = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
  STRING = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
  TENSOR = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR,
  GRAPH = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH,
  FLOATS = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS,
  INTS = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
  STRINGS = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS,
  SPARSE = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR,
  TYPE = 1 << ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO,
  LISTS = FLOATS | INTS | STRINGS,
  FLAG = 1 << 30 | INT /* 0 or 1 */
};

static const struct {
  unsigned types;
  const char *names; /* each with a space before and behind */
} known[] = {
    {FLAG, " align_corners allowzero antialias broadcast ceil_mode count_include_pad "
           "detect_negative detect_positive "
           "exclude_outside exclusive fmod input_forget inverse is_test keepdims largest layout "
           "linear_before_reset "
           "new_axis noop_with_empty_axes onesided output_sequence periodic reverse saturate "
           "select_last_index sorted is_causal interleaved across_channels normalize_variance "
           "spatial storage_order training_mode transA transB upper "},
    {INT, " axis batch_axis batch_dims blocksize dtype end group hidden_size ignore_index k "
          "max_gram_length "
          "max_skip_count min_gram_length num_groups num_outputs num_scan_inputs output_datatype "
          "output_height "
          "kv_num_heads q_num_heads num_heads qk_matmul_output_mode rotary_embedding_dim "
          "softmax_precision output_width sample_size sampling_ratio size start stash_type "
          "time_axis value_int "},
    {FLOAT, " alpha beta clip cubic_coeff_a decay_factor epsilon extrapolation_value gamma "
            "height_scale high lambd "
            "low max mean min momentum softcap norm_coefficient norm_coefficient_post ratio "
            "spatial_scale value_float "
            "width_scale "},
    {STRING, " approximate auto_pad coordinate_transformation_mode direction equation "
             "keep_aspect_ratio_policy mode round_mode "
             "nearest_mode padding_mode reduction value_string "},
    {FLOAT | INTS, " scale "},
    {FLOAT | FLOATS, " bias "},
    {INTS, " axes border consumed_inputs dilations directions ends kernel_shape ngram_counts "
           "ngram_indexes output_padding "
           "output_shape paddings pads perm pool_int64s shape split starts strides value_ints "},
    {FLOATS, " activation_alpha activation_beta scales value_floats weights "},
    {STRINGS, " activations pool_strings value_strings "},
    {GRAPH, " body else_branch then_branch "},
    {SPARSE, " sparse_value "},
    {TYPE, " type "},
    {INT | FLOAT, " p seed "},
    {TENSOR | FLOAT, " value "},
    {INT | STRING, " to "},
};

static const char *typeName(unsigned type) {
  static const char *const names[] = {"untyped",        "FLOAT",      "INT",        "STRING",
                                      "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
                                      "STRINGS",        "TENSORS",    "GRAPHS",     "SPARSE_TENSOR",
                                      "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return type < sizeof names / sizeof *names ? names[type] : "of an unknown type";
}

static unsigned typesOf(SambaArena *arena, const char *name) {
  const char *spaced = sambaArenaFormat(arena, " %s ", name);
  for (size_t i = 0; i < sizeof known / sizeof *known && !strchr(name, ' '); ++i)
    if (strstr(known[i].names, spaced))
      return known[i].types;
  return 0;
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

SambaStatus sambaOnnxCheckAttributes(const SambaOnnxNode *node) {
  for (size_t i = 0; i < node->proto->n_attribute; ++i) {
    const Onnx__AttributeProto *attribute = node->proto->attribute[i];
    const char *name = attribute->name ? attribute->name : "";
    const char *shown = sambaOnnxShown(node->importer, name);
    unsigned types = typesOf(node->arena, name);
    unsigned type = typeOf(attribute);
    if (sambaOnnxAttribute(node, name) != attribute && attribute->name)
      return sambaStatusMake(SAMBA_INVALID, "attribute %s is given twice", shown);
    if (!types)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "attribute %s belongs to no ONNX operator", shown);
    bool list = types & LISTS &&
                (!type || LISTS & 1u << type) && /* what type nothing has does not matter */
                !attribute->n_floats && !attribute->n_ints && !attribute->n_strings;
    if (!list &&
        (type > ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO || !(types & 1u << type)))
      return sambaStatusMake(SAMBA_INVALID, "attribute %s is %s, but must be %s", shown,
                             typeName(type), typeName((unsigned)__builtin_ctz(types)));
    if ((types == TENSOR && !attribute->t) || (types == GRAPH && !attribute->g))
      return sambaStatusMake(SAMBA_INVALID, "attribute %s has no value", shown);
    if (types == (unsigned)FLAG && (attribute->i < 0 || attribute->i > 1))
      return sambaStatusMake(SAMBA_INVALID, "attribute %s is %lld, but must be 0 or 1", shown,
                             (long long)attribute->i);
  }

  return NULL;
}

/* ---- What handlers read: types are checked; a writer may leave out a number that is 0 ---- */

const Onnx__AttributeProto *sambaOnnxAttribute(const SambaOnnxNode *node, const char *name) {
  for (size_t i = 0; i < node->proto->n_attribute; ++i)
    if (node->proto->attribute[i]->name && strcmp(node->proto->attribute[i]->name, name) == 0)
      return node->proto->attribute[i];
  return NULL;
}
int64_t sambaOnnxInt(const SambaOnnxNode *node, const char *name, int64_t otherwise) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  return attribute && (attribute->has_i || !attribute->has_f) ? attribute->i : otherwise;
}
double sambaOnnxFloat(const SambaOnnxNode *node, const char *name, double otherwise) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  return attribute && (attribute->has_f || !attribute->has_i) ? (double)attribute->f : otherwise;
}
bool sambaOnnxStringIs(const SambaOnnxNode *node, const char *name, const char *text,
                       bool otherwise) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  if (!attribute || !attribute->has_s)
    return otherwise;
  return attribute->s.len == strlen(text) && memcmp(attribute->s.data, text, attribute->s.len) == 0;
}
bool sambaOnnxInts(const SambaOnnxNode *node, const char *name, const int64_t **out_data,
                   size_t *out_size) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  *out_data = attribute ? attribute->ints : NULL;
  *out_size = attribute ? attribute->n_ints : 0;
  return attribute != NULL;
}

int64_t sambaOnnxCastTarget(const SambaOnnxNode *node) {
  const Onnx__AttributeProto *to = sambaOnnxAttribute(node, "to");
  for (int64_t type = 1; to && to->has_s && type <= 16; ++type)
    if (sambaOnnxStringIs(node, "to", sambaOnnxTypeName(type), false))
      return type;
  return sambaOnnxInt(node, "to", 0);
}
