/* Which C bodies each op has: rows for the ops with structure of their own, the operator table for
 * all others. */
#include "dialect/rdu/rdu.h"
#include "dialect/samba/samba.h"

static const SambaOpHooks structures[] = {
    {.name = {"samba.constant", 14},
     .result_count = 1,
     .verify = sambaVerifyConstant,
     .infer = sambaInferConstant,
     .fold = sambaFoldConstant},
    {.name = {"samba.section", 13}, .verify = sambaVerifySection},
    {.name = {"samba.call", 10}, .verify = sambaVerifyCallOp},
    {.name = {"samba.yield", 11}, .verify = sambaVerifyYield},
};

static bool startsWith(MlirStringRef text, const char *prefix, size_t size) {
  return text.length >= size && memcmp(text.data, prefix, size) == 0;
}

SambaOpHooks sambaOpHooks(MlirStringRef name) {
  if (startsWith(name, "rdu.", 4))
    return sambaRduOpHooks(name);
  for (size_t i = 0; i < sizeof structures / sizeof *structures; ++i)
    if (mlirStringRefEqual(name, structures[i].name))
      return structures[i];
  SambaOpHooks hooks = {.name = name,
                        .verify = sambaVerifyOperator,
                        .infer = sambaInferOperator,
                        .fold = sambaFoldOperator,
                        .patterns = sambaAddPatterns};
  hooks.folds = sambaFoldFind(name);
  if (!hooks.folds)
    hooks.fold = NULL;
  const SambaOperator *operator =
      sambaOperatorFind((SambaStringRef){name.data + 6, name.length - 6});
  hooks.data = operator;
  hooks.result_count = operator ? sambaOperatorResults(operator) : 1;

  return hooks;
}

bool sambaVerifyDialectAttribute(MlirOperation op, SambaAttributePlace place, unsigned index,
                                 MlirNamedAttribute attribute) {
  if (startsWith(mlirIdentifierStr(attribute.name), "rdu.", 4))
    return sambaVerifyRduAttribute(op, place, index, attribute);
  return sambaVerifySambaAttribute(op, place, index, attribute);
}

SambaStatus sambaCheckDictionaryAttribute(MlirStringRef mnemonic, MlirStringRef head,
                                          MlirAttribute body) {
  SambaStringRef word = sambaFromMlir(mnemonic);
  if (sambaStringRefEqualC(word, "machine") || sambaStringRefEqualC(word, "mapping"))
    return sambaCheckRduAttribute(word, sambaFromMlir(head), body);
  return sambaCheckSambaAttribute(word, sambaFromMlir(head), body);
}
