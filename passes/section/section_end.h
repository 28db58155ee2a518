/* Why a section ends where it ends: the attribute `rdu.end` of its calls. */
#ifndef SAMBA_PASSES_SECTION_SECTION_END_H
#define SAMBA_PASSES_SECTION_SECTION_END_H

#include "support/text/text.h"

#include "mlir-c/IR.h"

typedef enum {
  SAMBA_END_OF_GRAPH,   /* there is no operator behind it */
  SAMBA_END_BY_ORDER,   /* the next operator must begin a section */
  SAMBA_END_BY_NUMBER,  /* it has as many operators as one may have */
  SAMBA_END_BY_ROOM,    /* with the next operators it finds no plan; `why` tells */
  SAMBA_END_BY_CYCLES,  /* the next operators are faster in a section of their own */
  SAMBA_END_BY_REQUEST, /* every operator is a section (o0) */
  SAMBA_END_BY_SEARCH,  /* going on takes `more` cycles in all (o3) */
  SAMBA_END_BY_TIME     /* the time for the search was over before that was known */
} SambaSectionEndKind;

typedef struct SambaSectionEnd {
  SambaSectionEndKind kind;
  double together, apart; /* cycles with the next, and of two sections, launches included */
  double more;
  SambaText why;
} SambaSectionEnd;

/* next: the operator behind the section, null: none. */
MlirAttribute sambaSectionEndAttribute(const SambaSectionEnd *end, MlirContext context,
                                       MlirOperation next);

#endif
