// Conversions between dialects, and the passes on the rdu level. Bodies are C functions of lowering/ that return false after
// having emitted an error; lowering/register.cpp pairs each with its class and says on which operation it runs.
#ifndef SAMBA_LOWERING_PASSES
#define SAMBA_LOWERING_PASSES

include "mlir/Pass/PassBase.td"

def ConvertSambaToLinalg : Pass<"convert-samba-to-linalg"> {
  let summary = "One linalg operation per stage; runs on samba.section";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}
def ConvertSambaGraphsToLinalg : Pass<"convert-samba-graphs-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Whole graphs as linalg: the exit to other compilers";
  let description = [{
    Every function of samba operations becomes linalg, tensor, arith and math alone: views are copies, gathers `tensor.extract`. Composite operators
    are decomposed before (`samba-decompose-composites`). Attributes `samba.*` are dropped, and with them names and the data of weights: arguments
    stay in their order.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}
def TileSections : Pass<"samba-tile-sections"> {
  let summary = "Choose #rdu.mapping where it is absent; runs on samba.section";
  let description = [{
    A mapping written by hand stays. `decisions` names a file with a line per decision, `SECTION parallel N`: the planner uses at most 1/N of the
    parallel copies in that section. A module attribute `rdu.decisions` (a list of such lines) says the same.
  }];
  let options = [Option<"decisions", "decisions", "std::string", "\"\"", "file of planner decisions">];
  let dependentDialects = ["::samba::rdu::RduDialect"];
}
def VerifyMapping : Pass<"rdu-verify-mapping"> {
  let summary = "Refuse an operation without #rdu.mapping; runs on samba.section";
}
def ConvertLinalgToRdu : Pass<"convert-linalg-to-rdu", "::mlir::ModuleOp"> {
  let summary = "Make units and streams: every samba.section becomes an rdu.section";
  let dependentDialects = ["::samba::rdu::RduDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}
def RduSplitPrograms : Pass<"rdu-split-programs"> {
  let summary = "Split programs that are longer than a compute unit's stages or registers; runs on rdu.section";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}
def RduPlace : Pass<"rdu-place"> {
  let summary = "Give every unit a site; runs on rdu.section";
}
def RduRoute : Pass<"rdu-route"> {
  let summary = "Give every stream a way through the switches; runs on rdu.section";
}
def RduVerifySection : Pass<"rdu-verify-section"> {
  let summary = "Check what depends on the machine or on several units; runs on rdu.section";
}

#endif
