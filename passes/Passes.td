// Passes from samba to samba. Bodies are C functions of passes/*.c that return false after having emitted an error;
// passes/register.cpp pairs each with its class.
#ifndef SAMBA_PASSES
#define SAMBA_PASSES

include "mlir/Pass/PassBase.td"

def MixedPrecision : Pass<"samba-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "Change the precision of a traced graph";
  let description = [{
    mp0: as the model says. mp1: inputs of matmul-like operations are cast to bf16, accumulation and result stay f32. mp4: every f32 tensor
    becomes bf16; arguments and results keep f32 towards the host (`samba.host_dtype`).
  }];
  let options = [Option<"preset", "preset", "std::string", "\"mp0\"", "mp0 (alias f32), mp1 or mp4 (alias bf16)">];
  let dependentDialects = ["::samba::SambaDialect"];
}

def MaterializeViews : Pass<"samba-materialize-views", "::mlir::ModuleOp"> {
  let summary = "Make a view that memory must hold an operation of its own";
  let dependentDialects = ["::samba::SambaDialect"];
}

#endif
