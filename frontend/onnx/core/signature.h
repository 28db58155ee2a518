/* The table of what each version of each ONNX operator takes. */
#ifndef SAMBA_FRONTEND_ONNX_CORE_SIGNATURE_H
#define SAMBA_FRONTEND_ONNX_CORE_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

enum { SAMBA_ONNX_SIGNATURE_TYPES = 8 };

/* A row of signatures.def, where its fields are described. */
typedef struct SambaOnnxSignature {
  const char *domain, *name;
  int64_t since;
  const char *attributes;
  uint32_t type_count;
  uint32_t types[SAMBA_ONNX_SIGNATURE_TYPES];
} SambaOnnxSignature;

size_t sambaOnnxSignatureCount(void);
const SambaOnnxSignature *sambaOnnxSignatureAt(size_t index);
/* What holds in this version of the domain's operator set; NULL: the table has no such operator, or
 * it came later. */
const SambaOnnxSignature *sambaOnnxFindSignature(const char *domain, const char *name,
                                                 int64_t version);

#endif
