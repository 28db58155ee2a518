// The operations of the samba dialect. Those of the operator table are made from its rows when
// Samba is built (TableOps.td, by samba-generate); here are the types that they use and the
// operations that have no row.
#ifndef SAMBA_DIALECT_SAMBA_OPS
#define SAMBA_DIALECT_SAMBA_OPS

def Samba_Tensor : StaticShapeTensorOf<[F32, BF16, F16, I1, I8, UI8, I16, I32, I64]>;
defvar Samba_Ints = DenseI64ArrayAttr;
defvar Samba_Floats = DenseF64ArrayAttr;
defvar Samba_Int = I64Attr;
defvar Samba_Float = F64Attr;
defvar Samba_Bool = BoolAttr;
defvar Samba_String = StrAttr;
def Samba_DType : TypeAttrBase<"::mlir::Type", "element type">;

class Samba_Op<string mnemonic, list<Trait> traits = []>
    : Samba_InferringOp<Samba_Dialect, mnemonic, traits> {
  let results = (outs Samba_Tensor:$result);
}
// An op with other results than one tensor. MLIR's fold of such ops has another signature; none of
// them folds.
class Samba_ResultsOp<string mnemonic, dag resultTypes>
    : Samba_InferringOp<Samba_Dialect, mnemonic> {
  let results = resultTypes;
  let hasFolder = 0;
  let extraClassDefinition = !strconcat(sambaVerify, sambaInfer);
}

// The operators of the table.
include "dialect/samba/TableOps.td"

//===-- Values ------------------------------------------------------------===//

def Samba_ConstantOp : Samba_Op<"constant", [ConstantLike]> {
  let summary = "a small constant; weights are arguments with samba.value";
  let description = [{
    The result has the type of the value, which is dense or dense_resource.
    ```mlir
    %y = samba.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>}
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
}

//===-- Memory ------------------------------------------------------------===//

class Samba_StructureOp<string mnemonic, list<Trait> traits = []>
    : Op<Samba_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
  let extraClassDefinition = sambaVerify;
}

def Samba_StackOp : Samba_StructureOp<"stack", [Pure]> {
  let summary = "equal tensors as one, whose memory is theirs";
  let description = [{
    The values lie one after the other in memory, so that one section can read all of them: nothing
    is copied, and no section computes this. `samba-stack-products` makes it of what calls leave in
    memory.
    ```mlir
    func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
      %0 = samba.stack %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Samba_Tensor>:$inputs);
  let results = (outs Samba_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $result)";
}

def Samba_UnstackOp : Samba_StructureOp<"unstack", [Pure]> {
  let summary = "the parts of a tensor, each where it lies in its memory";
  let description = [{
    Part i is the tensor at place i of the outermost axis. Nothing is copied, and no section
    computes this.
    ```mlir
    func.func @f(%a: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0:2 = samba.unstack %a : (tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Samba_Tensor:$input);
  let results = (outs Variadic<Samba_Tensor>:$parts);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $parts)";
}

//===-- Sections ----------------------------------------------------------===//

def Samba_SectionOp
    : Samba_StructureOp<"section", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "a subgraph that is configured onto the chip as one";
  let description = [{
    A symbol of the module, called by `samba.call`. Equal sections are one. `machine` says which
    chip it is planned for.
    ```mlir
    samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32>
        attributes {machine = #rdu.machine<"tiny">} {
      %0 = samba.relu %x : tensor<4xf32>
      samba.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                   OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                   OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<AnyAttr>:$machine);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 0;
  let hasRegionVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = sambaFunctionTypes;
  let extraClassDefinition = !strconcat(sambaVerifyRegions, sambaFunctionAssembly);
}

def Samba_CallOp : Samba_StructureOp<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one run of a section: its place in the schedule";
  let description = [{
    `%0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>`. Types:
    ZEROGRAD, FWD, BCKWD, OPT, REDUCE, GRADNORM.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Samba_Tensor>:$inputs, Samba_Int:$id,
                   Samba_String:$type);
  let results = (outs Variadic<Samba_Tensor>:$outputs);
  let assemblyFormat = "$callee `(` $inputs `)` custom<PrettyAttributes>(attr-dict) `:` "
                       "functional-type($inputs, $outputs)";
  let extraClassDefinition = !strconcat(sambaVerify, [{
    LogicalResult $cppClass::verifySymbolUses(SymbolTableCollection &symbols) {
      Operation *callee = symbols.lookupNearestSymbolFrom(getOperation(), getCalleeAttr());
      return success(sambaVerifyCallee(wrap(getOperation()), wrap(callee)));
    }
  }]);
}

def Samba_YieldOp : Samba_StructureOp<"yield", [Pure, Terminator, HasParent<"SectionOp">]> {
  let summary = "the results of a section";
  let arguments = (ins Variadic<Samba_Tensor>:$results_);
  let assemblyFormat = "($results_^)? attr-dict (`:` type($results_)^)?";
}

#endif
