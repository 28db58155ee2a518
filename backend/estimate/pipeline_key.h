/* What the cycles of a pipeline follow from: numbers of its actors and of what joins them, not
 * which operations its units compute. So sections that differ in these, such as one with a ReLU
 * behind its last product, are followed once. */
#ifndef SAMBA_BACKEND_ESTIMATE_PIPELINE_KEY_H
#define SAMBA_BACKEND_ESTIMATE_PIPELINE_KEY_H

#include "backend/estimate/pipeline_state.h"
#include "support/container/byte_buffer.h"

/* Of a run that is built and not followed yet. Runs with equal keys on one machine take the same.
 */
void sambaPipelineKey(const SambaPipelineRun *run, SambaByteBuffer *key);

#endif
