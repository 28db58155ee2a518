/* What ran on a session, for Python; see report.h. */
#include "tools/python/report.h"

#include "runtime/summary.h"

typedef struct {
  const char *name;
  unsigned long long value;
} Count;

/* Adds the numbers to the dict; false with an exception set. */
static bool addCounts(PyObject *dict, size_t count, const Count *counts) {
  bool fine = true;
  for (size_t i = 0; i < count && fine; ++i) {
    PyObject *number = PyLong_FromUnsignedLongLong(counts[i].value);
    fine = number && !PyDict_SetItemString(dict, counts[i].name, number);
    Py_XDECREF(number);
  }
  return fine;
}

static bool addReal(PyObject *dict, const char *name, double value) {
  PyObject *number = PyFloat_FromDouble(value);
  bool fine = number && !PyDict_SetItemString(dict, name, number);
  Py_XDECREF(number);
  return fine;
}

static bool addActivity(PyObject *dict, uint64_t calls, const SambaDeviceActivity *activity) {
  const Count counts[] = {{"calls", calls},
                          {"cycles", activity->cycles},
                          {"launch_cycles", activity->launch_cycles},
                          {"dram_read_bytes", activity->dram_read_bytes},
                          {"dram_write_bytes", activity->dram_write_bytes},
                          {"host_read_bytes", activity->host_read_bytes},
                          {"host_write_bytes", activity->host_write_bytes},
                          {"flops", activity->flops}};
  return addCounts(dict, sizeof counts / sizeof *counts, counts);
}

/* The share of the cycles in which the units of a kind were busy, between 0 and 1. */
static double utilization(uint64_t busy, const SambaDeviceActivity *activity, uint64_t units) {
  return activity->cycles ? (double)busy / (double)activity->cycles / (double)units : 0;
}

static bool addUtilization(PyObject *dict, const SambaSession *session,
                           const SambaDeviceActivity *activity) {
  const SambaMachine *machine = sambaSessionGetMachine(session);
  uint64_t pcus = sambaMachinePcuCount(machine), pmus = sambaMachinePmuCount(machine);
  return addReal(dict, "pcu_utilization", utilization(activity->pcu_busy, activity, pcus)) &&
         addReal(dict, "pmu_utilization", utilization(activity->pmu_busy, activity, pmus));
}

static PyObject *describeSection(const SambaSession *session, const SambaSectionReport *report) {
  const SambaPefSection *section = &sambaSessionGetPef(session)->sections[report->section];
  PyObject *dict = Py_BuildValue("{s:I,s:N,s:s}", "section", report->section, "name",
                                 sambaTextToPython(section->name), "type",
                                 sambaPefSectionTypeName(section->type));
  if (dict && (!addActivity(dict, report->calls, &report->activity) ||
               !addUtilization(dict, session, &report->activity)))
    Py_CLEAR(dict);
  return dict;
}

static PyObject *describeSections(const SambaSession *session, const SambaRunReport *report) {
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < report->section_count; ++i) {
    if (!report->sections[i].calls)
      continue;
    PyObject *section = describeSection(session, &report->sections[i]);
    if (!section || PyList_Append(list, section))
      Py_CLEAR(list);
    Py_XDECREF(section);
  }
  return list;
}

PyObject *sambaReportToPython(const SambaSession *session) {
  const SambaMachine *machine = sambaSessionGetMachine(session);
  SambaRunReport report;
  sambaSessionGetReport(session, &report);

  PyObject *sections = describeSections(session, &report);
  PyObject *dict =
      sections ? Py_BuildValue("{s:N,s:s,s:d,s:d,s:d}", "sections", sections, "machine",
                               machine->name, "clock_hz", (double)machine->clock_hz, "load_seconds",
                               report.load_seconds, "simulate_seconds", report.simulate_seconds)
               : NULL;
  if (dict && (!addActivity(dict, report.calls, &report.activity) ||
               !addUtilization(dict, session, &report.activity)))
    Py_CLEAR(dict);
  return dict;
}
