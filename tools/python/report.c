/* What ran on a session, for Python; see report.h. */
#include "tools/python/report.h"

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
                          {"flops", activity->flops},
                          {"multiply_adds", activity->multiply_adds}};
  return addCounts(dict, sizeof counts / sizeof *counts, counts);
}

/* The share of the cycles in which the units of a kind were busy, between 0 and 1. */
static double utilization(uint64_t busy, const SambaDeviceActivity *activity, uint64_t units) {
  return activity->cycles ? (double)busy / (double)activity->cycles / (double)units : 0;
}

static bool addUtilization(PyObject *dict, const SambaMachineInfo *machine,
                           const SambaDeviceActivity *activity) {
  return addReal(dict, "pcu_utilization",
                 utilization(activity->pcu_busy, activity, machine->pcus)) &&
         addReal(dict, "pmu_utilization", utilization(activity->pmu_busy, activity, machine->pmus));
}

typedef struct {
  const SambaRunReport *report;
  PyObject *list; /* NULL after a failure */
} Sections;

/* Adds a section that ran. */
static void describeSection(void *user, const SambaSectionInfo *info) {
  Sections *sections = user;
  const SambaSectionReport *report = &sections->report->sections[info->section];
  if (!sections->list || !report->calls)
    return;
  PyObject *dict =
      Py_BuildValue("{s:I,s:N,s:s}", "section", info->section, "name",
                    sambaTextToPython(info->name), "type", sambaSectionTypeName(info->type));
  bool fine = dict && addActivity(dict, report->calls, &report->activity) &&
              addUtilization(dict, &sections->report->machine, &report->activity) &&
              !PyList_Append(sections->list, dict);
  if (!fine)
    Py_CLEAR(sections->list);
  Py_XDECREF(dict);
}

static bool addTransfers(PyObject *dict, const SambaTransferReport *transfers) {
  const Count counts[] = {{"host_to_device_bytes", transfers->host_to_device_bytes},
                          {"device_to_host_bytes", transfers->device_to_host_bytes},
                          {"conversions", transfers->conversions}};
  return addCounts(dict, sizeof counts / sizeof *counts, counts) &&
         addReal(dict, "transfer_seconds", transfers->seconds);
}

PyObject *sambaReportToPython(const SambaSession *session) {
  SambaRunReport report;
  sambaSessionGetReport(session, &report);

  Sections sections = {&report, PyList_New(0)};
  if (sections.list)
    sambaSessionForEachSection(session, describeSection, &sections);
  if (!sections.list)
    return NULL;
  PyObject *dict = Py_BuildValue("{s:N,s:s,s:d,s:d,s:d}", "sections", sections.list, "machine",
                                 report.machine.name, "clock_hz", (double)report.machine.clock_hz,
                                 "load_seconds", report.load_seconds, "simulate_seconds",
                                 report.simulate_seconds);
  if (dict && (!addActivity(dict, report.calls, &report.activity) ||
               !addUtilization(dict, &report.machine, &report.activity) ||
               !addTransfers(dict, &report.transfers)))
    Py_CLEAR(dict);
  return dict;
}
