// Conversions between dialects, and the passes on the rdu level. The body of `def Verb` is the C
// function sambaVerb of this folder: it takes the operation and the texts of the options, and
// returns false after having emitted an error. The build makes its declaration (lowering/passes.h)
// and its class from the entry here.
#ifndef SAMBA_LOWERING_PASSES
#define SAMBA_LOWERING_PASSES

include "mlir/Pass/PassBase.td"

def CheckForeign : Pass<"samba-check-foreign", "::mlir::ModuleOp"> {
  let summary = "Refuse operations that no graph can hold: control flow, memory, vectors";
  let description = [{
    The first one is named, and what to do about it. It runs before anything is simplified away, so
    that what is refused does not depend on simplifications.
  }];
}
def ConvertTosaToSamba : Pass<"convert-tosa-to-samba", "::mlir::ModuleOp"> {
  let summary = "TOSA becomes samba operations";
  let description = [{
    Each operation of TOSA becomes one or a few of samba, so that a convolution stays one. Constants
    become `arith.constant`, which samba-enter-linalg takes. What quantized networks need (rescale,
    table), control flow and state are refused by name.
  }];
}
def EnterLinalg : Pass<"samba-enter-linalg", "::mlir::ModuleOp"> {
  let summary = "linalg on tensors from another compiler becomes a graph";
  let description = [{
    Operations of tensor, and of arith and math on tensors, become samba operations; structured
    operations (linalg) stay. Constants become `samba.constant`, floats of several values arguments
    of kind weight. Arguments and results without a name are arg0, out0 and so on. What no graph can
    hold (dynamic shapes, memory, control flow, f64, complex numbers) is refused by name.
  }];
}
def SettleGraphs : Pass<"samba-settle-graphs", "::mlir::ModuleOp"> {
  let summary = "What samba-raise-linalg left of tensor operations becomes samba operations";
  let description = [{
    Insertions anywhere, slices and pads with computed values, in a general way that costs more than
    the patterns of samba-raise-linalg. Operations whose results nobody uses go.
  }];
}
def ConvertSambaToLinalg : Pass<"convert-samba-to-linalg", "::samba::SectionOp"> {
  let summary = "One linalg operation per stage";
}
def ConvertSambaGraphsToLinalg : Pass<"convert-samba-graphs-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Whole graphs as linalg: the exit to other compilers";
  let description = [{
    Every function of samba operations becomes linalg, tensor, arith and math alone; gathers are
    `tensor.extract`. Composite operators are decomposed before (`samba-decompose-composites`).
    Arguments with data stay arguments, in their order, or become constants or globals; data in
    files are read from `folder` and must lie in `data-folder`. Attributes of Samba are dropped;
    names of arguments stay as their locations.
  }];
  let options = [
    Option<"weights", "weights", "std::string", "\"arguments\"",
           "arguments, constants (arith.constant) or globals (ml_program.global)">,
    Option<"attributes", "attributes", "std::string", "\"false\"",
           "true: attributes of Samba stay (names, kinds, where data lie, what a stage was)">,
    Option<"folder", "folder", "std::string", "\"\"",
           "that paths of data are relative to; empty: the current folder">,
    Option<"data_folder", "data-folder", "std::string", "\"\"",
           "that data must lie in; empty: the same">];
}
def RaiseLinalg : Pass<"samba-raise-linalg", "::mlir::ModuleOp"> {
  let summary = "Structured operations that are operators of samba become them";
  let description = [{
    Contractions, convolutions, pools, reductions, searches, gathers and element-wise bodies of
    linalg, generic or named, with their views and pads. Numbers stay but for rounding. What is no
    operator, or is one but for its initial value, its types or its padding, stays as it is.
  }];
}
def TileSections : Pass<"samba-tile-sections", "::samba::SectionOp"> {
  let summary = "Choose #rdu.mapping where it is absent";
  let description = [{
    A mapping that is there stays. With `rdu.parallel = N` on a section, copies take at most 1/N of
    the units. `dump` names a folder: SECTION.plan.txt in it tells the section's stages, their
    mappings and the groups that they form. With `compare=true` plans of other numbers of replicas,
    for less of the machine and those that are next by the planner's estimate are made too, and the
    one that is predicted to take the fewest cycles is taken.
  }];
  let options = [
    Option<"dump", "dump", "std::string", "\"\"", "folder for the plan of each section, as text">,
    Option<"compare", "compare", "std::string", "\"false\"",
           "true: compare with other plans, as for less of the machine">];
}
def RduVerifyLinalg : Pass<"rdu-verify-linalg", "::mlir::ModuleOp"> {
  let summary = "Refuse linalg and TOSA that a graph cannot become";
  let description = [{
    The module stays as it is; a copy of it goes the way of the pipeline up to the graph. The first
    operation that has no place there, or whose body no lane program can say, is an error at its
    place. docs/linalg.md lists what is accepted.
  }];
}
def VerifyMapping : Pass<"rdu-verify-mapping", "::samba::SectionOp"> {
  let summary = "Refuse an operation without #rdu.mapping";
}
def ConvertLinalgToRdu : Pass<"convert-linalg-to-rdu", "::mlir::ModuleOp"> {
  let summary = "Make units and streams: every samba.section becomes an rdu.section";
}
def CheckPassValues : Pass<"samba-check-values", "::mlir::ModuleOp"> {
  let summary = "Run passes one by one, and name the first that changes values";
  let description = [{
    `samba-check-values{passes=samba-to-rdu{target=tiny}}` computes every graph of the module on
    random inputs, runs the first of the passes, computes the graphs again, and so on. Results that
    differ from those of the module as it came, by more than atol + rtol * max(|element|, root mean
    square of the result), are an error that names the pass and the first such element; integers
    must be equal. Graphs and sections of samba and linalg operations are evaluated by the
    operators' definition, rdu sections by the simulator's value engine. docs/debugging.md has an
    example.
  }];
  let options = [
    Option<"passes", "passes", "std::string", "\"\"", "passes and pipelines, separated by commas">,
    Option<"seed", "seed", "std::string", "\"1\"", "of the inputs">,
    Option<"integers", "integers", "std::string", "\"2\"",
           "inputs of integers are from 0 to one less than this">,
    Option<"rtol", "rtol", "std::string", "\"1e-3\"", "relative tolerance">,
    Option<"atol", "atol", "std::string", "\"1e-5\"", "absolute tolerance">];
}
def RduSetMachine : Pass<"rdu-set-machine", "::mlir::ModuleOp"> {
  let summary = "Give sections of units that name no machine the target";
  let description = [{
    Sections written by hand may leave their machine out, so that one file serves several machines.
    A section that names one keeps it.
  }];
  let options = [Option<"target", "target", "std::string", "\"sn40l\"",
                        "a shipped machine or a machine file">];
}
def RduSplitPrograms : Pass<"rdu-split-programs", "::samba::rdu::SectionOp"> {
  let summary = "Split programs that are longer than a compute unit's stages or registers";
}
def RduPlace : Pass<"rdu-place", "::samba::rdu::SectionOp"> {
  let summary = "Give every unit a site";
}
def RduRoute : Pass<"rdu-route", "::samba::rdu::SectionOp"> {
  let summary = "Give every stream a way through the switches";
}
def RduVerifySection : Pass<"rdu-verify-section", "::samba::rdu::SectionOp"> {
  let summary = "Check what depends on the machine or on several units";
}

#endif
