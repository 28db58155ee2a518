/* What every PEF must satisfy. */
#ifndef SAMBA_BACKEND_PEF_PEF_CHECK_H
#define SAMBA_BACKEND_PEF_PEF_CHECK_H

#include "backend/pef/pef_types.h"

/* Consistency of everything but the configuration bits: indices, names (unique and not empty where
 * users address by name), shapes and sizes, memory ranges, schedule, bindings. Run by reader and
 * writer. Names record, field and bound. */
SambaStatus sambaPefCheck(const SambaPef *pef);

#endif
