/* Values of symbols between host and device: checks, conversions, and the count of what moved. */
#ifndef SAMBA_RUNTIME_VALUES_H
#define SAMBA_RUNTIME_VALUES_H

#include "runtime/session_state.h"

/* Data of a tensor on the host: dense, row-major. */
typedef struct SambaHostData {
  SambaDType dtype;
  uint32_t rank;
  const int64_t *dims;
  const void *data;
} SambaHostData;

/* Symbol of that name; the error explains why there is none. */
SambaStatus sambaFindSymbol(const SambaLoadedPef *loaded, SambaStringRef name,
                            uint32_t *out_symbol);
/* Its shape, made once: a session may be asked thousands of times. */
const int64_t *sambaSymbolDims(SambaLoadedPef *loaded, uint32_t symbol);

/* Are shape and dtype the symbol's own? i64 is taken for i32 and i16 too. */
SambaStatus sambaCheckSymbolShape(SambaLoadedPef *loaded, uint32_t symbol,
                                  const SambaHostData *data);
/* The same, and whether all values fit. Nothing is written. */
SambaStatus sambaCheckValues(SambaLoadedPef *loaded, uint32_t symbol, const SambaHostData *data);
/* Writes what was checked. A device that holds no values ignores the data. */
SambaStatus sambaWriteValues(SambaLoadedPef *loaded, uint32_t symbol, const SambaHostData *data);
/* Reads a symbol in its host dtype; `data` has room for it. */
SambaStatus sambaReadValues(SambaLoadedPef *loaded, uint32_t symbol, void *data);

/* The same in the dtype of the device, without conversion. */
SambaStatus sambaWriteSymbol(SambaLoadedPef *loaded, uint32_t symbol, const void *data);
SambaStatus sambaReadSymbol(SambaLoadedPef *loaded, uint32_t symbol, void *data);

/* Bytes of the symbol on the host. */
uint64_t sambaSymbolHostBytes(const SambaPefSymbol *symbol);

#endif
