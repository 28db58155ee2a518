// samba-translate: Samba's own translations (translate.c), and mlir-translate's for everything
// else.
#include "tools/samba-translate/translate.h"

#include "mlir/InitAllTranslations.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  if (sambaTranslateWants(argc, argv))
    return sambaTranslate(argc, argv);
  mlir::registerAllTranslations();
  return mlir::failed(mlir::mlirTranslateMain(argc, argv, "Samba's translations, and MLIR's"));
}
