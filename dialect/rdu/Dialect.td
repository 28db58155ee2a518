// The rdu dialect: sections as units and typed streams, one op per unit of
// backend/section/section.h. Bodies: dialect/rdu/*.c.
#ifndef SAMBA_DIALECT_RDU
#define SAMBA_DIALECT_RDU

include "dialect/bridge/Bridge.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Rdu_Dialect : Dialect {
  let name = "rdu";
  let cppNamespace = "::samba::rdu";
  let summary = "A section as it is configured: units, streams, counters";
  let description = [{
    `rdu.section` is a network of units. SSA values are streams; one with several uses is multicast.
    Each op states one record of the configuration, in the words of docs/execution-model.md. Nothing
    here knows an operator of samba.

    Ports are dictionaries, listed by `inputs` and `outputs`, which are left out when every port is
    plain. Every port has `streams` (how many operands or results it takes, in turn; default 1) and
    `block` (tokens per turn; default 1). Ports that address memory have the trip counts `slots`
    (slots of a buffer), `loops` (tokens) and `tile` (elements of a token), and `base`, `strides`
    (one per counter), `guards`, `fill` and `index`. Ports of a compute unit have `level`
    and `strides`.

    Every unit may have `lanes`: how many of the machine's SIMD lanes it uses (default: all). A
    vector at its ports has one 4-byte word per lane; a stream is as wide as the narrowest of its
    ends.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = sambaVerifyAttributes;
}

def Rdu_MachineAttr : Samba_DictionaryAttr<Rdu_Dialect, "Machine", "machine"> {
  let summary = "A machine: a shipped one by name, what differs from one, or every parameter";
  let description = [{
    `#rdu.machine<"sn40l">` is a shipped machine. `#rdu.machine<"mine", base = "sn40l", simd_lanes =
    32, clock_hz = {value = 1600000000, source = "data sheet"}>` is that machine with two other
    values. Without `base`, every parameter of backend/machine/parameters.def is given. A value is
    `{value = 4, source = "..."}` (or `derived` or `analogy` in place of `source`), `{value = 4,
    assumed}` or the number alone, which is assumed. A machine file is a module with such an
    attribute, `rdu.machine`.
  }];
}
def Rdu_MappingAttr : Samba_DictionaryAttr<Rdu_Dialect, "Mapping", "mapping"> {
  let summary = "How one stage is mapped: "
                "`#rdu.mapping<tile = [64, 64, 64], unroll = [2, 1, 1], order = [0, 1, 2]>`";
  let description = [{
    `tile`, `unroll` and `order` have one number per dimension of the stage, `level`, `depth` and
    `joined` one per operand. `joined` is 1 where copies whose slots overlap are loaded together, 2
    where two neighbouring copies share a buffer. `group` is a number, `pipeline` the dimensions
    along which the section is a pipeline, outermost first. `phases` is a number, the same for all
    stages of a section: in so many rounds it loads, and then stores what it has made. The planner
    decides what is left out.
  }];
}

class Rdu_ShapedType<string name, string word> : TypeDef<Rdu_Dialect, name> {
  let mnemonic = word;
  let parameters = (ins "::mlir::Type":$token);
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    Type $cppClass::parse(AsmParser &parser) { return parseType<$cppClass>(parser); }
    void $cppClass::print(AsmPrinter &printer) const { printType(printer, getToken()); }
  }];
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$token), [{
    return $_get(token.getContext(), token);
  }]>];
  let skipDefaultBuilders = 1;
}
def Rdu_Stream : Rdu_ShapedType<"Stream", "stream"> {
  let summary = "Tokens on the network: `!rdu.stream<64x64xbf16>`, "
                "`!rdu.stream<64x64xbf16 by [1, 64]>`, `!rdu.stream<scalar 1xi32>`, "
                "`!rdu.stream<control>`";
  let description = [{
    The dimensions are the counters that step through a token, outermost first: elements pass in
    this order, and both ends of the stream step through it. `by` says which elements these are: for
    each counter what a step of it adds to the place of the element in its tensor. `64x64xbf16 by
    [1, 64]` sends a 64x64 matrix column by column. A step of 0 sends what is inside of it again.

    Where indices give the places, the order depends on data. A step of type `index` then says in
    which order the indices arrive: `64x16xf32 by [1 : index, 1]` sends the rows of 64 indices, one
    index after the other; `[1 : index, 16]` adds to both. A copy takes elements to another tensor
    and says both places: `64x16xf32 by {from = [16, 1], to = [1, 64]}`.

    A load or store must walk its symbol so, and take its indices so; a buffer's outputs must find
    the elements where its inputs have put them. Without `by` the dimensions alone count: the
    counters of each end are those of the type, as far as it has any. Where one end needs another
    order than the other has, a buffer between them converts.
  }];
}
def Rdu_Symbol : Rdu_ShapedType<"Symbol", "symbol"> {
  let summary = "Memory that a call binds: `!rdu.symbol<128x128xbf16>`";
}

class Rdu_Op<string mnemonic, list<Trait> traits = []> : Op<Rdu_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
  let extraClassDefinition = sambaVerify;
}

def Rdu_SectionOp : Rdu_Op<"section", [FunctionOpInterface, IsolatedFromAbove, NoTerminator,
                                       SingleBlock,
                                       DeclareOpInterfaceMethods<RegionKindInterface>]> {
  let summary = "one configuration of the chip";
  let description = [{
    The body is a graph: a stream may be used before the unit that makes it (loops). Arguments carry
    `rdu.name`, and `rdu.written` when a store writes them.
    ```mlir
    rdu.section @copy(%a: !rdu.symbol<8xf32> {rdu.name = "a"},
                      %b: !rdu.symbol<8xf32> {rdu.name = "b", rdu.written})
        attributes {machine = #rdu.machine<"tiny">} {
      %t = rdu.load %a {outputs = [{loops = [2], strides = [4, 1], tile = [4]} ]}
          : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
      rdu.store %b, %t {inputs = [{loops = [2], strides = [4, 1], tile = [4]} ]}
          : (!rdu.symbol<8xf32>, !rdu.stream<4xf32>) -> ()
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                   OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                   OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<AnyAttr>:$machine,
                   UnitAttr:$split_k);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 0;
  let hasRegionVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = sambaFunctionTypes;
  let extraClassDefinition = !strconcat(sambaVerifyRegions, sambaFunctionAssembly, [{
    RegionKind $cppClass::getRegionKind(unsigned) { return RegionKind::Graph; }
  }]);
}

defvar rduUnitAssembly = [{
  ParseResult $cppClass::parse(OpAsmParser &parser, OperationState &result) {
    return parseOp(parser, result, nullptr);
  }
  void $cppClass::print(OpAsmPrinter &printer) { printOp(printer, getOperation(), true); }
}];

// A unit. Operands: (symbol,) input streams port by port; results: output streams port by port.
class Rdu_Unit<string mnemonic, list<Trait> traits = []>
    : Rdu_Op<mnemonic, !listconcat([HasParent<"SectionOp">], traits)> {
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = !strconcat(sambaVerify, rduUnitAssembly);
  dag placed = (ins OptionalAttr<StrAttr>:$name, OptionalAttr<StrAttr>:$layer,
                OptionalAttr<ArrayAttr>:$inputs, OptionalAttr<ArrayAttr>:$outputs,
                OptionalAttr<DenseI64ArrayAttr>:$site, OptionalAttr<I64Attr>:$ag,
                OptionalAttr<I64Attr>:$lanes);
}

def Rdu_LoadOp : Rdu_Unit<"load"> {
  let summary = "an address generator that reads memory";
  let description = "Input streams: nothing, or indices, or control (each firing waits for a "
                    "token). `ag`: its address generator.";
  let arguments = !con((ins Rdu_Symbol:$symbol, Variadic<Rdu_Stream>:$ins), placed);
  let results = (outs Variadic<Rdu_Stream>:$outs);
}
def Rdu_StoreOp : Rdu_Unit<"store"> {
  let summary = "an address generator that writes memory";
  let description = "Input streams: data, then indices. Output streams: control (a token per "
                    "firing once its data is in memory).";
  let arguments = !con((ins Rdu_Symbol:$symbol, Variadic<Rdu_Stream>:$ins), placed);
  let results = (outs Variadic<Rdu_Stream>:$outs);
}
def Rdu_BufferOp : Rdu_Unit<"buffer"> {
  let summary = "a memory unit: a ring of `depth` slots of `slot_elements` elements";
  let description = "`banking`: \"row\" or \"diagonal\", with rows of `row_words` words, shifted "
                    "by `skew` banks; else column. `in_place`: writes follow the reads of their "
                    "slot element by element. `initial`: slots start full of these bits "
                    "(loop-carried).";
  let arguments = !con((ins Variadic<Rdu_Stream>:$ins, I64Attr:$depth, I64Attr:$slot_elements,
                        OptionalAttr<StrAttr>:$banking, OptionalAttr<I64Attr>:$row_words,
                        OptionalAttr<I64Attr>:$skew, UnitAttr:$in_place,
                        OptionalAttr<I64Attr>:$initial), placed);
  let results = (outs Variadic<Rdu_Stream>:$outs);
}
def Rdu_ComputeOp : Rdu_Unit<"compute", [IsolatedFromAbove]> {
  let summary = "a compute unit: one chain of counters and a short program";
  let description = [{
    `loops` are the trip counts of the counters that step tokens, `tile` of those within a token.
    The region is the program. Its arguments are the inputs' elements (f32, i1, i32 or i64), and it
    yields the outputs' values. It consists of arith and math where they say the same, else of
    `rdu.lane` and `rdu.reduce`. `reduce` lists the counters that reductions accumulate over.
    `systolic`: the body is one MAC on the array. `lane_reduce`: lanes accumulate apart and then
    fold.
  }];
  let arguments = !con((ins Variadic<Rdu_Stream>:$ins, OptionalAttr<DenseI64ArrayAttr>:$loops,
                        OptionalAttr<DenseI64ArrayAttr>:$tile,
                        OptionalAttr<DenseI64ArrayAttr>:$reduce, UnitAttr:$systolic,
                        UnitAttr:$lane_reduce), placed);
  let results = (outs Variadic<Rdu_Stream>:$outs);
  let regions = (region SizedRegion<1>:$program);
  let hasVerifier = 0;
  let hasRegionVerifier = 1;
  let extraClassDefinition = !strconcat(sambaVerifyRegions, rduUnitAssembly);
}

def Rdu_RouteOp : Rdu_Op<"route", [HasParent<"SectionOp">]> {
  let summary = "the way of one stream through the network";
  let description = [{
    `hops` are listed from the source
    on, as `"(x,y) port lane:flow -> port lane:flow"`. Ports are north, east, south, west, unit, and
    `ag N` for address generator N. For units the lane is the unit's physical port. Several hops
    with one origin are multicast.
  }];
  let arguments = (ins Rdu_Stream:$stream, StrArrayAttr:$hops);
  let assemblyFormat = "$stream custom<PrettyAttributes>(attr-dict) `:` type($stream)";
}

//===-- Programs ----------------------------------------------------------===//

def Rdu_Element : AnyTypeOf<[F32, I1, I32, I64]>;

def Rdu_LaneOp : Rdu_Op<"lane", [Pure]> {
  let summary = "one lane operation by its name in backend/section/lane_ops.def";
  let description = "`%y = rdu.lane \"to_bf16\"(%x) : (f32) -> f32`, "
                    "`%i = rdu.lane \"counter\" immediate 2 : () -> i32`.";
  let arguments = (ins StrAttr:$opcode, Variadic<Rdu_Element>:$ins,
                   OptionalAttr<I64Attr>:$immediate);
  let results = (outs Rdu_Element:$result);
  let assemblyFormat = "$opcode (`(` $ins^ `)`)? (`immediate` $immediate^)? attr-dict `:` "
                       "functional-type($ins, $result)";
}
def Rdu_ReduceOp : Rdu_Op<"reduce", [Pure, HasParent<"ComputeOp">]> {
  let summary = "an accumulator over the unit's reduced counters";
  let description = "`%s = rdu.reduce \"add\"(%x) : (f32) -> f32`; add, mul, min, max, and, or; "
                    "`\"mac\"(%a, %b)`: fma into it, starting at +0.";
  let arguments = (ins StrAttr:$opcode, Variadic<Rdu_Element>:$ins);
  let results = (outs Rdu_Element:$result);
  let assemblyFormat = "$opcode `(` $ins `)` attr-dict `:` functional-type($ins, $result)";
}
def Rdu_YieldOp : Rdu_Op<"yield", [Pure, Terminator, HasParent<"ComputeOp">]> {
  let summary = "the values of a program's outputs";
  let arguments = (ins Variadic<Rdu_Element>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
