/* Entries of switches and the records that hold them: one record for each switch and kind. */
#ifndef SAMBA_BACKEND_CONFIG_SWITCHES_H
#define SAMBA_BACKEND_CONFIG_SWITCHES_H

#include "backend/config/records.h"

/* The records of ascending entries, which they share; in the arena. */
SambaSwitchRecord *sambaSwitchRecordsMake(SambaSwitchEntry *entries, uint32_t entry_count,
                                          SambaArena *arena, uint32_t *out_count);

/* Back, from records that were read: entries with place and kind, in the arena. Refuses records
 * that sambaSwitchRecordsMake would not make. */
SambaStatus sambaSwitchRecordsJoin(const SambaSwitchRecord *switches, uint32_t switch_count,
                                   SambaArena *arena, SambaSwitchEntry **out_entries,
                                   uint32_t *out_count);

#endif
