/* The bodies of the conversions in Passes.td: each returns false after having emitted an error. */
#ifndef SAMBA_LOWERING_LOWERING_H
#define SAMBA_LOWERING_LOWERING_H

#include "mlir-c/IR.h"

#include <stdbool.h>

/* convert-samba-to-linalg on one samba.section: every operator that has structured stages becomes
 * linalg; views stay, and so do operators that index memory by values. */
bool sambaConvertSambaToLinalg(MlirOperation section);
/* convert-samba-graphs-to-linalg on the module: every graph without a samba operation or attribute
 * left. Refuses what has no such form by name. */
bool sambaConvertGraphsToLinalg(MlirOperation module);
/* samba-tile-sections on one samba.section: #rdu.mapping where it is absent. decisions: a file
 * (dialect/rdu/decisions.h) or
 * "" for none; the module's own rdu.decisions come after it. */
bool sambaTileSections(MlirOperation section, const char *decisions);
/* rdu-verify-mapping on one samba.section: refuses an operation without one. */
bool sambaVerifyMapping(MlirOperation section);
/* convert-linalg-to-rdu on the module: every samba.section becomes an rdu.section of the
 * same name. */
bool sambaConvertLinalgToRdu(MlirOperation module);
/* On one rdu.section: rdu-split-programs, rdu-place, rdu-route, rdu-verify-section. */
bool sambaRduSplitPrograms(MlirOperation section);
bool sambaRduPlace(MlirOperation section);
bool sambaRduRoute(MlirOperation section);
bool sambaRduVerifySection(MlirOperation section);

#endif
