/* What was traced, as text: the record by which a model is compared with the PEF that was compiled
 * from it. It belongs to no half: the tracer writes it, the runtime reads it. */
#ifndef SAMBA_SUPPORT_TEXT_TRACE_RECORD_H
#define SAMBA_SUPPORT_TEXT_TRACE_RECORD_H

#include "samba/trace_record.h"
#include "support/base/status.h"
#include "support/text/string_ref.h"

struct SambaTraceRecord {
  uint32_t line_count;
  const char *const *lines;
  const char *const *layers; /* per line: the user's layer, "" for none; NULL: not known */
  uint8_t digest[SAMBA_TRACE_DIGEST_BYTES];
};

/* Compares a trace with the text of the one that was compiled: its lines, each with its newline.
 * The failure tells the first line that differs: what was expected, what was found, its layer.
 *
 * A trace without losses or optimizers also matches the forward part of a training: what is only
 * there for the training does not count then. out_forward_only: it was so. */
SambaStatus sambaTraceRecordCompare(SambaStringRef compiled, const SambaTraceRecord *traced,
                                    bool *out_forward_only);

#endif
