/* Reads files of cases: calls of operators with operands and the results, or the gradients, that
 * PyTorch or NumPy gives (cases/writer.py and cases/gradients/gradient_writer.py tell the format).
 */
#ifndef SAMBA_TEST_DIALECT_SAMBA_TABLE_CASE_FILE_H
#define SAMBA_TEST_DIALECT_SAMBA_TABLE_CASE_FILE_H

#include "dialect/samba/table/core/operator.h"
#include "support/base/memory.h"

enum { SAMBA_CASE_MAXIMUM = 24 }; /* operands or attributes of a case */

typedef struct {
  bool present; /* "none" and "any" are absent */
  bool any;     /* no number is expected, what is there must fit the function */
  SambaTensorType type;
  double *values;
} CaseTensor;

typedef struct {
  const char *file;
  int line;
  char name[64];
  uint32_t attribute_count, operand_count, result_count, flow_count, gradient_count;
  SambaAttribute attributes[SAMBA_CASE_MAXIMUM];
  CaseTensor operands[SAMBA_CASE_MAXIMUM], results[SAMBA_MAX_RESULTS];
  CaseTensor flows[SAMBA_MAX_RESULTS];      /* gradients of the results */
  CaseTensor gradients[SAMBA_CASE_MAXIMUM]; /* of the operands, expected */
  bool kink;                                /* the function has no derivative here */
} Case;

/* Calls `run` with every case of the files that the pattern matches. The arena holds the case, and
 * what `run` allocates; it is emptied after each. The number of cases. */
int caseFilesRun(const char *pattern,
                 void (*run)(SambaArena *arena, const Case *test, void *context), void *context);

#endif
