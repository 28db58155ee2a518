/* NAME.pef.log: what was compiled, for people. */
#include "backend/pef/image/log.h"

#include "backend/pef/image/image.h"
#include "backend/pef/pef.h"
#include "support/file/atomic_file.h"
#include "support/text/escape.h"

#include <stdio.h>
#include <stdlib.h>

enum { maxLayers = 12 }; /* shown per section */

/* The first layers of a section's units. */
static void writeLayers(FILE *out, const SambaPefImage *image, SambaArena *arena) {
  SambaStringRef *layers;
  uint32_t count = sambaPefImageLayers(image, arena, &layers);
  for (uint32_t i = 0; i < count && i < maxLayers; ++i)
    fprintf(out, "%s%s", i ? ", " : "  layers ", sambaStringEscape(arena, layers[i]).data);
  fputs(count >= maxLayers ? ", ...\n" : "\n", out);
}

static void writeSections(FILE *out, const SambaPef *pef, const SambaMachine *machine,
                          SambaArena *arena) {
  double pcus = (double)sambaMachinePcuCount(machine);
  double pmus = (double)sambaMachinePmuCount(machine);
  uint32_t *calls = SAMBA_ARENA_ARRAY(arena, uint32_t, pef->sections_count);

  for (uint32_t i = 0; i < pef->calls_count; ++i)
    ++calls[pef->calls[i].section];
  fprintf(out, "\n%5s %-8s %5s %5s %6s %5s %6s %4s %14s %14s %14s  %s\n", "id", "type", "calls",
          "PCU", "", "PMU", "", "AG", "est. cycles", "read B", "written B", "name");

  for (uint32_t i = 0; i < pef->sections_count; ++i) {
    const SambaPefSection *section = &pef->sections[i];
    fprintf(out, "%5u %-8s %5u %5u %5.1f%% %5u %5.1f%% %4u %14llu %14llu %14llu  %s%s", i,
            sambaPefSectionTypeName(section->type), calls[i], section->pcus,
            100.0 * section->pcus / pcus, section->pmus, 100.0 * section->pmus / pmus, section->ags,
            (unsigned long long)section->estimated_cycles,
            (unsigned long long)section->estimated_read_bytes,
            (unsigned long long)section->estimated_write_bytes,
            sambaStringEscape(arena, section->name).data,
            section->flags & SAMBA_PEF_SPLIT_K ? "  (split-k: partial sums are added across units)"
                                               : "");
    writeLayers(out, &pef->images[section->image], arena);
  }
}

static void writeMemory(FILE *out, const SambaPef *pef) {
  uint64_t bytes[4] = {0}, data = 0;
  for (uint32_t i = 0; i < pef->regions_count; ++i)
    bytes[pef->regions[i].memory & 3] += pef->regions[i].bytes;
  for (uint32_t i = 0; i < pef->symbols_count; ++i)
    data += pef->symbols[i].init_bytes;
  fprintf(out,
          "symbols: %u in %u regions; HBM %llu B, DDR %llu B, host %llu B; data on load %llu B\n",
          pef->symbols_count, pef->regions_count, (unsigned long long)bytes[SAMBA_PEF_MEMORY_HBM],
          (unsigned long long)bytes[SAMBA_PEF_MEMORY_DDR],
          (unsigned long long)bytes[SAMBA_PEF_MEMORY_HOST], (unsigned long long)data);
}

SambaStatus sambaPefWriteLog(const SambaPef *pef, const char *path, const char *more) {
  SambaMachine machine;
  SAMBA_RETURN_IF_ERROR(sambaPefGetMachine(pef, &machine));
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  if (!out)
    return sambaStatusMake(SAMBA_IO, "%s: cannot be written: out of memory", path);
  SambaArena arena = {0};
  fprintf(out,
          "# Written by %s; estimated cycles are the planner's; real ones come from samba-run.\n",
          sambaStringEscape(&arena, pef->header.producer).data);
  fprintf(out, "target: %s\n", sambaStringEscape(&arena, pef->machine.name).data);
  for (uint32_t i = 0; i < pef->options_count; ++i)
    fprintf(out, "option: %s = %s\n", sambaStringEscape(&arena, pef->options[i].key).data,
            sambaStringEscape(&arena, pef->options[i].value).data);
  for (uint32_t i = 0; i < pef->graphs_count; ++i)
    fprintf(out, "graph %u: %s, %scalls [%u, %u)\n", i,
            sambaStringEscape(&arena, pef->graphs[i].name).data,
            pef->graphs[i].mode == SAMBA_PEF_GRAPH_TRAINING ? "training, " : "",
            pef->graphs[i].first_call, pef->graphs[i].first_call + pef->graphs[i].call_count);
  fprintf(out, "sections: %u, configurations: %u, calls: %u\n", pef->sections_count,
          pef->images_count, pef->calls_count);
  writeMemory(out, pef);
  writeSections(out, pef, &machine, &arena);
  fputs(more, out);
  bool failed = fclose(out) != 0;
  SambaStatus status = failed
                           ? sambaStatusMake(SAMBA_IO, "%s: cannot be written: out of memory", path)
                           : sambaWriteFile(path, text, size);
  free(text);
  sambaArenaDestroy(&arena);

  return status;
}
