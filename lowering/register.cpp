// The passes of lowering/Passes.td: each class gets its C body.
#include "lowering/register.h"

#include "dialect/bridge/Pass.hpp"

extern "C" {
#include "lowering/lowering.h"
}

namespace samba {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CONVERTLINALGTORDU
#define GEN_PASS_DEF_CONVERTSAMBATOLINALG
#define GEN_PASS_DEF_RDUPLACE
#define GEN_PASS_DEF_RDUROUTE
#define GEN_PASS_DEF_RDUSPLITPROGRAMS
#define GEN_PASS_DEF_RDUVERIFYSECTION
#define GEN_PASS_DEF_TILESECTIONS
#define GEN_PASS_DEF_VERIFYMAPPING
#include "lowering/passes.inc"

namespace {
constexpr char sambaSection[] = "samba.section", rduSection[] = "rdu.section";
using ConvertSambaToLinalg = AnchoredPass<impl::ConvertSambaToLinalgBase, sambaConvertSambaToLinalg, sambaSection>;
struct TileSections : impl::TileSectionsBase<TileSections> {
  using TileSectionsBase::TileSectionsBase;
  bool canScheduleOn(mlir::RegisteredOperationName name) const override { return name.getStringRef() == sambaSection; }
  void runOnOperation() override {
    if (!sambaTileSections(wrap(getOperation()), decisions.c_str()))
      signalPassFailure();
  }
};
using VerifyMapping = AnchoredPass<impl::VerifyMappingBase, sambaVerifyMapping, sambaSection>;
using ConvertLinalgToRdu = CPass<impl::ConvertLinalgToRduBase, sambaConvertLinalgToRdu>;
using RduSplitPrograms = AnchoredPass<impl::RduSplitProgramsBase, sambaRduSplitPrograms, rduSection>;
using RduPlace = AnchoredPass<impl::RduPlaceBase, sambaRduPlace, rduSection>;
using RduRoute = AnchoredPass<impl::RduRouteBase, sambaRduRoute, rduSection>;
using RduVerifySection = AnchoredPass<impl::RduVerifySectionBase, sambaRduVerifySection, rduSection>;
} // namespace
} // namespace samba

void sambaRegisterLowerings(void) {
  mlir::PassRegistration<samba::ConvertSambaToLinalg>();
  mlir::PassRegistration<samba::TileSections>();
  mlir::PassRegistration<samba::VerifyMapping>();
  mlir::PassRegistration<samba::ConvertLinalgToRdu>();
  mlir::PassRegistration<samba::RduSplitPrograms>();
  mlir::PassRegistration<samba::RduPlace>();
  mlir::PassRegistration<samba::RduRoute>();
  mlir::PassRegistration<samba::RduVerifySection>();
}
