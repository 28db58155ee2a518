/* Counts the cycles of a PEF with the simulator's half alone: nothing of MLIR is linked.
 *
 *   run-pef FILE.pef */
#include <samba/session.h>

#include <stdio.h>

/* Prints a tensor of the PEF. */
static void show(void *user, const SambaTensorInfo *info) {
  (void)user;
  printf("input %.*s:", (int)info->name.size, info->name.data);
  for (uint32_t i = 0; i < info->rank; ++i)
    printf(" %lld", (long long)info->dims[i]);
  printf("\n");
}

static SambaStatus run(const char *path) {
  SambaSimulatedDeviceOptions options = {.threads = 1, .timing_only = true};
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SambaSession *session;
  SambaRunReport report;

  SAMBA_RETURN_IF_ERROR(sambaSessionOpen(path, &device, &session));
  sambaSessionForEachTensor(session, 1u << SAMBA_SYMBOL_INPUT, show, NULL);
  SambaStatus status = sambaSessionRun(session, NULL, NULL, NULL);
  sambaSessionGetReport(session, &report);
  if (!status)
    printf("%s: %llu cycles\n", report.machine.name, (unsigned long long)report.activity.cycles);
  sambaSessionClose(session);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: run-pef FILE.pef\n");
    return 1;
  }
  SambaStatus status = run(argv[1]);
  if (status)
    fprintf(stderr, "error: %s\n", sambaStatusGetMessage(status));
  int code = status ? 1 : 0;
  sambaStatusFree(status);
  return code;
}
