/* Types and attributes: what calls of operators are made of, beside values. */
#ifndef SAMBA_ATTRIBUTE_H
#define SAMBA_ATTRIBUTE_H

#include "samba/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most dimensions that a tensor of a graph has, and the most results of an operator. */
enum { SAMBA_MAX_RANK = 8, SAMBA_MAX_RESULTS = 8 };

/* Element type and shape of a tensor in a graph. */
typedef struct SambaTensorType {
  SambaDType dtype;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
} SambaTensorType;

typedef enum {
  SAMBA_ATTRIBUTE_INT,
  SAMBA_ATTRIBUTE_FLOAT,
  SAMBA_ATTRIBUTE_BOOL,
  SAMBA_ATTRIBUTE_INTS,
  SAMBA_ATTRIBUTE_FLOATS,
  SAMBA_ATTRIBUTE_STRING,
  SAMBA_ATTRIBUTE_DTYPE
} SambaAttributeKind;

/* One attribute of a call. In IR: INT i64, FLOAT f64, BOOL i1, INTS array<i64>, FLOATS array<f64>,
 * STRING str, DTYPE a type attribute. */
typedef struct SambaAttribute {
  SambaStringRef name;
  SambaAttributeKind kind;
  union {
    int64_t integer; /* INT, BOOL */
    double real;
    SambaStringRef string;
    struct {
      const int64_t *data;
      size_t size;
    } integers;
    struct {
      const double *data;
      size_t size;
    } reals;
    SambaDType dtype;
  } value;
} SambaAttribute;

/* Attributes for calls; what they point to is borrowed. */
static inline SambaAttribute sambaAttribute(const char *name, SambaAttributeKind kind) {
  SambaAttribute attribute;
  memset(&attribute, 0, sizeof attribute);
  attribute.name = sambaStringRef(name);
  attribute.kind = kind;
  return attribute;
}
static inline SambaAttribute sambaIntAttribute(const char *name, int64_t value) {
  SambaAttribute attribute = sambaAttribute(name, SAMBA_ATTRIBUTE_INT);
  attribute.value.integer = value;
  return attribute;
}
static inline SambaAttribute sambaBoolAttribute(const char *name, bool value) {
  SambaAttribute attribute = sambaAttribute(name, SAMBA_ATTRIBUTE_BOOL);
  attribute.value.integer = value;
  return attribute;
}
static inline SambaAttribute sambaFloatAttribute(const char *name, double value) {
  SambaAttribute attribute = sambaAttribute(name, SAMBA_ATTRIBUTE_FLOAT);
  attribute.value.real = value;
  return attribute;
}
static inline SambaAttribute sambaIntsAttribute(const char *name, const int64_t *data,
                                                size_t size) {
  SambaAttribute attribute = sambaAttribute(name, SAMBA_ATTRIBUTE_INTS);
  attribute.value.integers.data = data;
  attribute.value.integers.size = size;
  return attribute;
}
static inline SambaAttribute sambaFloatsAttribute(const char *name, const double *data,
                                                  size_t size) {
  SambaAttribute attribute = sambaAttribute(name, SAMBA_ATTRIBUTE_FLOATS);
  attribute.value.reals.data = data;
  attribute.value.reals.size = size;
  return attribute;
}
static inline SambaAttribute sambaStringAttribute(const char *name, const char *value) {
  SambaAttribute attribute = sambaAttribute(name, SAMBA_ATTRIBUTE_STRING);
  attribute.value.string = sambaStringRef(value);
  return attribute;
}
static inline SambaAttribute sambaDTypeAttribute(const char *name, SambaDType value) {
  SambaAttribute attribute = sambaAttribute(name, SAMBA_ATTRIBUTE_DTYPE);
  attribute.value.dtype = value;
  return attribute;
}

#endif
