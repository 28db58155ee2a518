/* What ran on a session, for Python. */
#ifndef SAMBA_TOOLS_PYTHON_REPORT_H
#define SAMBA_TOOLS_PYTHON_REPORT_H

#include "tools/python/convert.h"

/* A new dict: sums over all calls, the machine, and a dict for each section that ran. */
PyObject *sambaReportToPython(const SambaSession *session);

#endif
