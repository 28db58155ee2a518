/* The plugin for a stock mlir-opt: Samba's dialects, passes and the pipeline samba-to-rdu.
 *
 *   mlir-opt --load-dialect-plugin=samba_plugin.so --load-pass-plugin=samba_plugin.so
 *            --pass-pipeline='builtin.module(samba-to-rdu{target=tiny})' model.mlir
 *
 * The two structs are those of mlir/Tools/Plugins, which pass plain C. */
#include "dialect/registry/dialects.h"
#include "pipeline/register.h"
#include "support/base/version.h"

#include <stdint.h>
#include <stdio.h>

enum { pluginApiVersion = 1 };

struct SambaPassPlugin {
  uint32_t api_version;
  const char *name, *version;
  void (*register_passes)(void);
};
struct SambaDialectPlugin {
  uint32_t api_version;
  const char *name, *version;
  void (*register_dialects)(void *registry); /* a mlir::DialectRegistry */
};

struct SambaPassPlugin mlirGetPassPluginInfo(void);
struct SambaDialectPlugin mlirGetDialectPluginInfo(void);

/* "0.1.0 (built with LLVM 22.1.8)", made once. */
static const char *version(void) {
  static char text[64];
  snprintf(text, sizeof text, "%s (built with LLVM %s)", SAMBA_VERSION, sambaLlvmVersion());
  return text;
}

static void registerDialects(void *registry) {
  MlirDialectRegistry wrapped = {registry};
  sambaRegisterDialects(wrapped);
}

__attribute__((visibility("default"))) struct SambaPassPlugin mlirGetPassPluginInfo(void) {
  return (struct SambaPassPlugin){pluginApiVersion, "samba", version(), sambaRegisterPasses};
}

__attribute__((visibility("default"))) struct SambaDialectPlugin mlirGetDialectPluginInfo(void) {
  return (struct SambaDialectPlugin){pluginApiVersion, "samba", version(), registerDialects};
}
