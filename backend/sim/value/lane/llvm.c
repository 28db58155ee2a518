/* Opening LLVM; see llvm.h. */
#include "backend/sim/value/lane/llvm.h"

#include <dlfcn.h>
#include <pthread.h>

SambaLlvm sambaLlvm;

static void *library;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static SambaStatus find(void *opened, const char *name, void *out_function) {
  void *function = dlsym(opened, name);
  *(void **)out_function = function;
  return function ? NULL
                  : sambaStatusMake(SAMBA_UNSUPPORTED,
                                    "lane programs cannot be compiled: the LLVM library has no "
                                    "function %s; install the LLVM that Samba was built with",
                                    name);
}

static SambaStatus findAll(void *opened, SambaLlvm *found) {
#define X(name) SAMBA_RETURN_IF_ERROR(find(opened, "LLVM" #name, &found->name));
#include "backend/sim/value/lane/llvm_functions.def"
#undef X
  return NULL;
}

static SambaStatus openLibrary(const char *path) {
  void *opened = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!opened)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "lane programs cannot be compiled: %s; install the LLVM that Samba was "
                           "built with, or use --timing-only",
                           dlerror());
  SambaLlvm found;
  SambaStatus status = findAll(opened, &found);
  if (status) {
    dlclose(opened);
    return status;
  }
  sambaLlvm = found;
  library = opened;
  return NULL;
}

SambaStatus sambaLlvmOpen(const char *path) {
  SambaStatus status = NULL;
  pthread_mutex_lock(&opening);
  if (!library)
    status = openLibrary(path ? path : SAMBA_LLVM_LIBRARY);
  pthread_mutex_unlock(&opening);
  return status;
}

#define NAME_OF(macro) NAME_AS_IT_IS(macro)
#define NAME_AS_IT_IS(name) #name

bool sambaLlvmInitializeHost(void) {
#if defined LLVM_NATIVE_TARGET && defined LLVM_NATIVE_ASMPRINTER
  static const char *const names[] = {NAME_OF(LLVM_NATIVE_TARGETINFO), NAME_OF(LLVM_NATIVE_TARGET),
                                      NAME_OF(LLVM_NATIVE_TARGETMC),
                                      NAME_OF(LLVM_NATIVE_ASMPRINTER)};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    void (*initialize)(void);
    *(void **)&initialize = dlsym(library, names[i]);
    if (!initialize)
      return false;
    initialize();
  }
  return true;
#else
  return false;
#endif
}
