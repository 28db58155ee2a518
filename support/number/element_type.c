/* Element types in host memory: names as PyTorch writes them. */
#include "samba/element_type.h"

bool sambaDTypeIsFloatingPoint(SambaDType dtype) {
  return dtype == SAMBA_DTYPE_F32 || dtype == SAMBA_DTYPE_BF16 || dtype == SAMBA_DTYPE_F16 ||
         dtype == SAMBA_DTYPE_F64;
}

/* What each is called: by Samba, as a tensor of PyTorch, and by up to two names of its dtype. */
static const struct {
  SambaDType dtype;
  const char *tensor;
  const char *names[2];
} types[] = {
    {SAMBA_DTYPE_F32, "torch.FloatTensor", {"float32", "float"}},
    {SAMBA_DTYPE_BF16, "torch.BFloat16Tensor", {"bfloat16"}},
    {SAMBA_DTYPE_F16, "torch.HalfTensor", {"float16", "half"}},
    {SAMBA_DTYPE_I1, "torch.BoolTensor", {"bool"}},
    {SAMBA_DTYPE_I8, "torch.CharTensor", {"int8"}},
    {SAMBA_DTYPE_UI8, "torch.ByteTensor", {"uint8"}},
    {SAMBA_DTYPE_I16, "torch.ShortTensor", {"int16", "short"}},
    {SAMBA_DTYPE_I32, "torch.IntTensor", {"int32", "int"}},
    {SAMBA_DTYPE_I64, "torch.LongTensor", {"int64", "long"}},
    {SAMBA_DTYPE_F64, "torch.DoubleTensor", {"float64", "double"}},
};
enum { typeCount = sizeof types / sizeof *types };

static bool is(const char *data, size_t size, const char *word) {
  return word && strlen(word) == size && memcmp(data, word, size) == 0;
}

SambaStatus sambaDTypeParse(SambaStringRef name, SambaDType *out_dtype) {
  static const char prefix[] = "torch.";
  size_t skip = sizeof prefix - 1;
  bool prefixed = name.size > skip && memcmp(name.data, prefix, skip) == 0;
  const char *data = prefixed ? name.data + skip : name.data;
  size_t size = prefixed ? name.size - skip : name.size;

  for (int i = 0; i < typeCount; ++i) {
    bool found = is(data, size, types[i].tensor + skip);
    for (int k = 0; k < 2; ++k)
      found = found || is(data, size, types[i].names[k]);
    if (found || (!prefixed && is(data, size, sambaDTypeName(types[i].dtype)))) {
      *out_dtype = types[i].dtype;
      return NULL;
    }
  }
  return sambaStatusMake(SAMBA_INVALID,
                         "'%.*s' is no element type; expected f32, bf16, f16, f64, i1, i8, ui8, "
                         "i16, i32, i64 or PyTorch's name of one, as 'bfloat16' and "
                         "'torch.BFloat16Tensor'",
                         (int)(name.size < 100 ? name.size : 100), name.data);
}

const char *sambaDTypeTensorName(SambaDType dtype) {
  for (int i = 0; i < typeCount; ++i)
    if (types[i].dtype == dtype)
      return types[i].tensor;
  return "";
}
