/* Intervals of an order: what each reads and leaves, and which of them have the same structure. */
#include "backend/partition/partition_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*===-- Structures ----------------------------------------------------------------------------===*/

static SambaValueReaders findReaders(const SambaPartitionProblem *problem) {
  uint32_t reads = 0;
  SambaValueReaders readers = {
      .start = sambaAllocateZeroed(problem->value_count + 2, sizeof *readers.start)};
  for (uint32_t o = 0; o < problem->operator_count; ++o)
    for (uint32_t i = 0; i < problem->operators[o].read_count; ++i, ++reads)
      ++readers.start[problem->operators[o].reads[i].value + 2];
  for (uint32_t v = 0; v < problem->value_count; ++v)
    readers.start[v + 2] += readers.start[v + 1];
  readers.operators = sambaAllocate(sambaArraySize(reads + 1, sizeof *readers.operators));
  for (uint32_t o = problem->operator_count; o-- > 0;)
    for (uint32_t i = 0; i < problem->operators[o].read_count; ++i)
      readers.operators[readers.start[problem->operators[o].reads[i].value + 1]++] = o;
  return readers;
}

SambaSectionClasses sambaSectionClassesCreate(const SambaPartitionProblem *problem) {
  return (SambaSectionClasses){
      .problem = problem,
      .readers = findReaders(problem),
      .member = sambaAllocateZeroed(problem->operator_count + 1, sizeof(uint32_t)),
      .number = sambaAllocateZeroed(problem->value_count + 1, sizeof(uint32_t)),
      .seen = sambaAllocateZeroed(problem->value_count + 1, sizeof(uint32_t))};
}

void sambaSectionClassesFree(SambaSectionClasses *classes) {
  sambaArrayFree(&classes->list);
  sambaArrayFree(&classes->key);
  sambaArrayFree(&classes->sorted);
  sambaStringMapFree(&classes->by_key);
  sambaArenaDestroy(&classes->arena);
  free(classes->readers.start);
  free(classes->readers.operators);
  free(classes->member);
  free(classes->number);
  free(classes->seen);
}

/* Whether the value is read outside of the present section. */
static bool leavesSection(const SambaSectionClasses *classes, uint32_t value) {
  const SambaValueReaders *readers = &classes->readers;
  if (classes->problem->values[value].leaves)
    return true;
  for (uint32_t i = readers->start[value]; i < readers->start[value + 1]; ++i)
    if (classes->member[readers->operators[i]] != classes->stamp)
      return true;
  return false;
}

/* A value is known by when it occurs first. */
static void putValue(SambaSectionClasses *classes, uint32_t value, uint32_t *count) {
  if (classes->seen[value] != classes->stamp) {
    classes->seen[value] = classes->stamp;
    classes->number[value] = (*count)++;
  }
  sambaArrayAppend(&classes->key, classes->number[value]);
}

static int compareNumbers(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void makeKey(SambaSectionClasses *classes, const uint32_t *operators, uint32_t count) {
  uint32_t values = 0;
  bool in_order = true;
  ++classes->stamp;
  classes->sorted.size = classes->key.size = 0;
  for (uint32_t i = 0; i < count; ++i) {
    sambaArrayAppend(&classes->sorted, operators[i]);
    classes->member[operators[i]] = classes->stamp;
    in_order &= i == 0 || operators[i - 1] < operators[i];
  }
  if (!in_order)
    qsort(classes->sorted.data, count, sizeof *classes->sorted.data, compareNumbers);

  for (uint32_t i = 0; i < count; ++i) {
    const SambaPartitionOperator *operator = &classes->problem->operators[classes->sorted.data[i]];
    sambaArrayAppend(&classes->key, operator->kind);
    for (uint32_t r = 0; r < operator->read_count; ++r)
      putValue(classes, operator->reads[r].value, &values);
    for (uint32_t m = 0; m < operator->make_count; ++m) {
      putValue(classes, operator->makes[m], &values);
      sambaArrayAppend(&classes->key, leavesSection(classes, operator->makes[m]));
    }
  }
}

uint32_t sambaSectionClassOf(SambaSectionClasses *classes, const uint32_t *operators,
                             uint32_t count) {
  makeKey(classes, operators, count);
  SambaStringRef key = {(const char *)classes->key.data,
                        classes->key.size * sizeof *classes->key.data};
  uint32_t found;
  if (sambaStringMapGet(&classes->by_key, key, &found))
    return found;

  found = (uint32_t)classes->list.size;
  key.data = sambaArenaCopy(&classes->arena, key.data, key.size);
  sambaStringMapInsert(&classes->by_key, key, found, NULL);
  const uint32_t *sorted =
      sambaArenaCopy(&classes->arena, classes->sorted.data, count * sizeof *sorted);
  sambaArrayAppend(&classes->list, (SambaSectionClass){.operators = sorted, .count = count});
  return found;
}

/*===-- Intervals -----------------------------------------------------------------------------===*/

/* What the groups from one on read and leave, while it goes on group by group. */
typedef struct Row {
  const SambaPartitionProblem *problem;
  const SambaGroupOrder *order;
  uint32_t first;
  SambaCell sum; /* its counts and bytes */
  double cycles;
  /* Of each value: 1 + the first group of the row in which it was read from outside, or in which
   * its last reader came, and bytes that were counted for it. */
  uint32_t *read, *closed;
  uint64_t *bytes;
} Row;

static void addRead(Row *row, const SambaPartitionRead *read, uint32_t place) {
  uint32_t value = read->value, maker = row->order->maker[value], mark = row->first + 1;
  if (maker == SAMBA_NO_INDEX || maker < row->first) {
    if (row->read[value] != mark) {
      row->read[value] = mark;
      row->bytes[value] = 0;
      ++row->sum.reads;
    }
    if (read->bytes > row->bytes[value]) {
      row->sum.read_bytes += (double)(read->bytes - row->bytes[value]);
      row->bytes[value] = read->bytes;
    }
    return;
  }
  bool closes = row->order->last_reader[value] == place && !row->problem->values[value].leaves;
  if (maker == place || !closes || row->closed[value] == mark)
    return;
  row->closed[value] = mark;
  --row->sum.leaves;
  row->sum.left_bytes -= (double)row->problem->values[value].bytes;
}

static void addGroup(Row *row, uint32_t place) {
  const SambaGroupOrder *order = row->order;
  for (uint32_t at = order->first[place]; at < order->first[place + 1]; ++at) {
    const SambaPartitionOperator *operator = &row->problem->operators[order->operators[at]];
    row->cycles += operator->cycles;
    for (uint32_t i = 0; i < operator->read_count; ++i)
      addRead(row, &operator->reads[i], place);
    for (uint32_t i = 0; i < operator->make_count; ++i) {
      const SambaPartitionValue *value = &row->problem->values[operator->makes[i]];
      uint32_t last = order->last_reader[operator->makes[i]];
      if (!value->leaves && (last == SAMBA_NO_INDEX || last <= place))
        continue;
      ++row->sum.leaves;
      row->sum.left_bytes += (double)value->bytes;
    }
  }
}

/* How many groups a section may have that begins with one. */
static uint32_t lengthOf(const SambaPartitionProblem *problem, const SambaGroupOrder *order,
                         uint32_t first) {
  uint32_t stretch = problem->operators[order->operators[order->first[first]]].stretch;
  uint32_t end = first + 1;
  while (end < order->group_count &&
         problem->operators[order->operators[order->first[end]]].stretch == stretch &&
         order->first[end + 1] - order->first[first] <= problem->most[stretch])
    ++end;
  return end - first;
}

static void fillRow(Row *row, SambaCell *cells, uint32_t length) {
  row->sum = (SambaCell){.class = SAMBA_NO_INDEX};
  row->cycles = 0;
  for (uint32_t i = 0; i < length; ++i) {
    addGroup(row, row->first + i);
    cells[i] = row->sum;
    double memory = (row->sum.read_bytes + row->sum.left_bytes) / row->problem->bytes_per_cycle;
    cells[i].floor = fmax(row->cycles, memory) + row->problem->launch;
  }
}

SambaIntervals sambaIntervalsCreate(const SambaPartitionProblem *problem,
                                    const SambaGroupOrder *order) {
  SambaIntervals intervals = {.order = order};
  uint32_t count = order->group_count;
  intervals.row = sambaAllocate(sambaArraySize(count + 1, sizeof *intervals.row));
  intervals.row[0] = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t length = lengthOf(problem, order, i);
    intervals.row[i + 1] = intervals.row[i] + length;
    intervals.longest = length > intervals.longest ? length : intervals.longest;
  }
  intervals.cells =
      sambaAllocate(sambaArraySize(intervals.row[count] + 1, sizeof *intervals.cells));

  size_t values = problem->value_count + 1;
  Row row = {.problem = problem,
             .order = order,
             .read = sambaAllocateZeroed(values, sizeof *row.read),
             .closed = sambaAllocateZeroed(values, sizeof *row.closed),
             .bytes = sambaAllocateZeroed(values, sizeof *row.bytes)};
  for (row.first = 0; row.first < count; ++row.first)
    fillRow(&row, sambaCellAt(&intervals, row.first, 1), sambaRowLength(&intervals, row.first));
  free(row.read);
  free(row.closed);
  free(row.bytes);
  return intervals;
}

void sambaIntervalsFree(SambaIntervals *intervals) {
  free(intervals->row);
  free(intervals->cells);
}
