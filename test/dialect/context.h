/* What tests of the dialects begin with: cmocka's headers and a context in which both dialects are
 * loaded. */
#ifndef SAMBA_TEST_DIALECT_CONTEXT_H
#define SAMBA_TEST_DIALECT_CONTEXT_H

#include "dialect/registry/dialects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static MlirContext context;

static int start(void **state) {
  (void)state;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  sambaRegisterDialects(registry);
  context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  return 0;
}

static int stop(void **state) {
  (void)state;
  mlirContextDestroy(context);
  return 0;
}

#endif
