/* --explain: what became of each section, from one table of fields (explain_fields.def) as text and
 * as JSON. */
#ifndef SAMBA_PIPELINE_EXPLAIN_H
#define SAMBA_PIPELINE_EXPLAIN_H

#include "backend/pef/pef.h"
#include "lowering/pef/emit_options.h"
#include "support/text/text.h"

/* One section of the PEF in a line, without a newline: "section s0; calls 1; ...". */
void sambaExplainLine(const SambaPef *pef, const SambaEmittedSections *emitted, uint32_t section,
                      SambaText *out);
/* All sections, as a list of objects under the key "sections"; malloc'ed. */
char *sambaExplainJson(const SambaPef *pef, const SambaEmittedSections *emitted);
/* The table of the fields, as Markdown. */
void sambaExplainFields(SambaText *out);

#endif
