/* NAME.pef.log: what was compiled, for people. */
#ifndef SAMBA_BACKEND_PEF_IMAGE_LOG_H
#define SAMBA_BACKEND_PEF_IMAGE_LOG_H

#include "backend/pef/pef_types.h"

/* Writes the text report beside a PEF (NAME.pef.log): sections, ids, types, units, utilization,
 * traffic, predictions; then `more`, which the caller has to say of them. */
SambaStatus sambaPefWriteLog(const SambaPef *pef, const char *path, const char *more);

#endif
