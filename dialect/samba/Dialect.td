// The samba dialect: the traced graph. Ops are in Ops.td; every body is C (dialect/samba/*.c).
#ifndef SAMBA_DIALECT_SAMBA
#define SAMBA_DIALECT_SAMBA

include "dialect/bridge/Bridge.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Samba_Dialect : Dialect {
  let name = "samba";
  let cppNamespace = "::samba";
  let summary = "The traced graph: one operation per operator that a framework traces";
  let description = [{
    A graph is a `func.func` over static ranked tensors. Names are those of functional PyTorch,
    element-wise operations broadcast as numpy does, and the operations are strict about element
    types: promotion happens in the builders.

    Attributes of the dialect on arguments, results, operations and modules are listed in
    docs/dialects.md; an unknown `samba.*` attribute is an error.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = sambaVerifyAttributes;
}

def Samba_ExternalAttr : Samba_DictionaryAttr<Samba_Dialect, "External", "external"> {
  let summary = "A tensor's data in a file: "
                "`#samba.external<\"model.onnx\", offset = 4096, bytes = 401408>`";
  let description = "Raw little-endian elements, row-major. The path is relative to the IR file.";
}
def Samba_DerivedAttr : Samba_DictionaryAttr<Samba_Dialect, "Derived", "derived"> {
  let summary = "A tensor computed from others when the PEF is written";
  let description = [{
    `#samba.derived<"permute", operands = [#samba.external<...>], types = [tensor<2x3xf32>],
    attributes = {dims = [1, 0]}>` is an operation of the table applied to values. Operands may be
    derived themselves.
  }];
}
def Samba_ArginAttr : Samba_DictionaryAttr<Samba_Dialect, "Argin", "argin"> {
  let summary = "A hyperparameter: "
                "`#samba.argin<kind = \"lr\", group = \"p\", default = 0.5, min = 0.0, max = 1.0>`";
}
def Samba_OptimizerAttr : Samba_DictionaryAttr<Samba_Dialect, "Optimizer", "optimizer"> {
  let summary = "An optimizer: `#samba.optimizer<\"sgd\", group = \"p\", lr = 0.1>`";
  let description = [{
    Its settings are those of `samba-compile --optimizer`; `group` stands before the names of its
    hyperparameters.
  }];
}

include "dialect/samba/Ops.td"

#endif
