/* Tensors as NumPy's .npy files. */
#include "support/base/memory.h"
#include "support/file/input_file.h"
#include "support/file/tensor_file.h"
#include "support/tensor/tensor_state.h"

#include <stdlib.h>
#include <unistd.h>

SambaStatus sambaTensorWriteNpy(const SambaTensor *tensor, const char *path) {
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "writing a file"));
  SambaDType dtype = tensor->dtype == SAMBA_DTYPE_BF16 ? SAMBA_DTYPE_F32 : tensor->dtype;
  SambaTensor *whole = NULL; /* row-major, in the file's type */
  SAMBA_RETURN_IF_ERROR(sambaTensorAllocate(dtype, tensor->rank, tensor->dims, false, &whole));
  sambaTensorConvert(tensor, tensor->strides, whole);

  SambaStatus status =
      sambaNpyWrite(path, dtype, tensor->rank, tensor->dims, sambaTensorGetDataPtr(whole));
  sambaTensorRelease(whole);
  return status;
}

static SambaStatus readFile(const char *path, SambaArena *arena, SambaTensorFile *out_file) {
  uint64_t bytes;
  uint8_t *data = NULL;
  int fd;
  SAMBA_RETURN_IF_ERROR(sambaInputFileOpen(path, &fd, &bytes));
  SambaStatus status = sambaInputFileRead(fd, path, bytes, &data);
  close(fd);
  if (!status)
    status = sambaHostNpyParse(path, data, bytes, arena, out_file);
  free(data);
  return status;
}

SambaStatus sambaTensorReadNpy(const char *path, SambaStringRef name, SambaTensor **out_tensor) {
  SambaArena arena = {0};
  SambaTensorFile file;
  *out_tensor = NULL;
  SambaStatus status = readFile(path, &arena, &file);
  if (!status)
    status = sambaTensorAllocate(file.dtype, file.rank, file.dims, false, out_tensor);
  if (!status) {
    if (file.bytes)
      memcpy(sambaTensorGetDataPtr(*out_tensor), file.data, file.bytes);
    sambaTensorSetName(*out_tensor, name);
  }
  sambaArenaDestroy(&arena);
  return sambaStatusAnnotate(status, "reading a tensor");
}
