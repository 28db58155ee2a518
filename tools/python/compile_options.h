/* Options of the compiler from Python. */
#ifndef SAMBA_TOOLS_PYTHON_COMPILE_OPTIONS_H
#define SAMBA_TOOLS_PYTHON_COMPILE_OPTIONS_H

#include "pipeline/compile.h"
#include "tools/python/convert.h"

/* The options of the pipeline from a dict of texts; false with an exception set. */
bool sambaReadPipeline(PyObject *dict, SambaPipelineOptions *out_options);
/* The notes of a dict of texts, to be freed; NULL with an exception set. */
SambaCompileNote *sambaReadNotes(PyObject *dict, size_t *out_count);

#endif
