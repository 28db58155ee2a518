/* The plugin for a stock mlir-opt: Samba's dialects, passes and the pipeline samba-to-rdu.
 *
 *   mlir-opt --load-dialect-plugin=samba_plugin.so --load-pass-plugin=samba_plugin.so
 *            --pass-pipeline='builtin.module(samba-to-rdu{target=tiny})' model.mlir
 *
 * The two structs are those of mlir/Tools/Plugins, which pass plain C. */
#include "dialect/registry/dialects.h"
#include "pipeline/register.h"

#include <stdint.h>

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

static void registerDialects(void *registry) {
  MlirDialectRegistry wrapped = {registry};
  sambaRegisterDialects(wrapped);
}

__attribute__((visibility("default"))) struct SambaPassPlugin mlirGetPassPluginInfo(void) {
  return (struct SambaPassPlugin){pluginApiVersion, "samba", "0.1", sambaRegisterPasses};
}

__attribute__((visibility("default"))) struct SambaDialectPlugin mlirGetDialectPluginInfo(void) {
  return (struct SambaDialectPlugin){pluginApiVersion, "samba", "0.1", registerDialects};
}
