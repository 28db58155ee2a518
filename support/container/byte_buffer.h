/* Growing bytes; zero-initialize, append with sambaArrayAppend, release with sambaArrayFree. */
#ifndef SAMBA_SUPPORT_CONTAINER_BYTE_BUFFER_H
#define SAMBA_SUPPORT_CONTAINER_BYTE_BUFFER_H

#include "support/base/memory.h"

typedef SAMBA_ARRAY(uint8_t) SambaByteBuffer;

#endif
