// Passes from samba to samba. The body of `def Verb` is the C function sambaVerb of this folder: it
// takes the operation and the texts of the options, and returns false after having emitted an
// error. The build makes its declaration (passes/passes.h) and its class from the entry here.
#ifndef SAMBA_PASSES
#define SAMBA_PASSES

include "mlir/Pass/PassBase.td"

def SelectGraphs : Pass<"samba-select-graphs", "::mlir::ModuleOp"> {
  let summary = "Choose the functions that are graphs, and inline what they call";
  let description = [{
    Every public function is a graph, or the one that `entry` names alone. Their `func.call`s become
    the bodies of what they call, through any number of levels; all other functions go. A call of a
    function without body, of one with several blocks or of one that is being called is an error. A
    private function is a graph when it is the only one.
  }];
  let options = [Option<"entry", "entry", "std::string", "\"\"",
                        "the function that is the graph; empty: every public one">];
}

def ReduceGraph : Pass<"samba-reduce-graph", "::mlir::ModuleOp"> {
  let summary = "Make a module smaller while a test finds it interesting";
  let description = [{
    For samba-reduce. Functions and sections go, results go, a graph ends earlier, and ranges of
    operations become arguments, as long as `test` ends with another exit code than 0 when it is
    given the file: the convention of mlir-reduce. docs/debugging.md has an example.
  }];
  let options = [Option<"test", "test", "std::string", "\"\"",
                        "the program that is given a file, and says whether it is interesting">];
}

def MixedPrecision : Pass<"samba-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "Change the precision of a traced graph";
  let description = [{
    mp0: as the model says. mp1: inputs of matmul-like operations are cast to bf16, accumulation and
    result stay f32. mp4: every f32 tensor becomes bf16; arguments and results keep f32 towards the
    host (`samba.host_dtype`).
  }];
  let options = [Option<"preset", "preset", "std::string", "\"mp0\"",
                        "mp0 (alias f32), mp1 or mp4 (alias bf16)">];
}

def RequestTraining : Pass<"samba-request-training", "::mlir::ModuleOp"> {
  let summary = "Write into a graph that it is trained: losses, optimizer, what is frozen";
  let description = [{
    What `samba-compile --training` runs first. The named results (else those of kind loss, else the
    float results on which no other depends) become losses. Every float weight that is not frozen
    gets `samba.requires_grad`. Arguments whose new value an operator computes (running statistics)
    become buffers, and the result their update. Constants that are a layer's hyperparameters (the
    rate and the seed of dropout) become argins. The optimizer becomes `samba.optimizers`.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "\"\"", "names of results, separated by commas">,
    Option<"optimizer", "optimizer", "std::string", "\"\"",
           "sgd or adamw with settings: sgd,lr=0.1,momentum=0.9; empty: gradients only">,
    Option<"freeze", "freeze", "std::string", "\"\"", "weights that are not trained">,
    Option<"accumulate", "accumulate", "std::string", "\"false\"",
           "true: gradients are summed until ZEROGRAD">];
}

def DifferentiateGraph : Pass<"samba-differentiate-graph", "::mlir::ModuleOp"> {
  let summary = "Make the gradients of a training graph's losses results";
  let description = [{
    Of graphs with `samba.graph = {mode = "training"}`: the results of kind loss are differentiated
    with respect to the arguments with `samba.requires_grad`. Every loss gets an argument
    `NAME__grad` (ones, unless the host writes it), every such argument a result `NAME__grad` with
    `samba.grad_of`. The new operations have `samba.phase = "BCKWD"`. Attention that gradients pass
    through leaves the logsumexp of its rows for them, and cross_entropy its slopes. A graph that
    has gradients already is left alone.
  }];
}

def AddOptimizers : Pass<"samba-add-optimizers", "::mlir::ModuleOp"> {
  let summary = "Make the step of a training graph's optimizers operations";
  let description = [{
    Of graphs with `samba.optimizers`, after differentiation: operations of phase OPT, whose results
    are written back to the weights, and arguments for states (zeros) and hyperparameters. With
    max_grad_norm gradients are clipped in phase GRADNORM. With `samba.accumulate_gradients`
    gradients are summed, and phase ZEROGRAD starts them anew. With fp32_params a weight that is, or
    will be, of 16 bits has a state NAME__fp32, its copy in f32 (`samba.master`), and is written
    but not read.
  }];
  let options = [Option<"precision", "precision", "std::string", "\"mp0\"",
                        "the preset of samba-mixed-precision, which comes later">];
}

def MoveRowFactors : Pass<"samba-move-row-factors", "::mlir::ModuleOp"> {
  let summary = "Let what multiplies a gradient take the factors of its rows";
  let description = [{
    Of graphs for training: a gradient that is a value of the forward pass times one number for each
    row, each column or all of it, and that products alone read, is not made. Where the numbers run
    along what a product sums over they multiply its other operand, and else its result, if these
    have together no more elements than the value. So what a loss over many classes has left in the
    forward pass is multiplied as it is. Values of f16 stay, because their sums might leave its
    range.
  }];
}

def DecomposeComposites : Pass<"samba-decompose-composites", "::mlir::ModuleOp"> {
  let summary = "Turn composite operators into the operators that they are made of";
  let description = [{
    Recurrent layers, resampling, losses and the like: every operator whose row of the table has a
    decomposition. Rules and reports before this pass see the composite. An operator that could also
    be one section (attention, batch_norm) is decomposed only where the target cannot hold it.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"",
                        "a shipped machine or a machine file; empty: one that holds every op">];
}

def AppendInPlace : Pass<"samba-append-in-place", "::mlir::ModuleOp"> {
  let summary = "Let what a graph appends to lie where the result has it";
  let description = [{
    The result of a `samba.cat` that a graph returns and whose first operand is an argument of the
    graph that nobody else reads: a cache. The argument gets a region with the result, in which it
    lies in blocks (`samba.block`), and the cat says that its first operand is `in_place`. So the
    new elements are stored beside the old ones, and these do not move.
  }];
}

def AddRowsInPlace : Pass<"samba-add-rows-in-place", "::mlir::ModuleOp"> {
  let summary = "Add the gradient of a lookup to another gradient row by row";
  let description = [{
    A sum of a tensor and the gradient of a lookup, which is zero but for the rows that were looked
    up, becomes a sum of these rows alone and a `samba.put_rows`, which stores them where they came
    from. samba-update-in-place gives its operand and its result one memory.
  }];
}

def PadRows : Pass<"samba-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Store tables for products of later phases in rows of whole bursts";
  let description = [{
    Of graphs for training: a table that an elementwise operator makes, that products of later
    phases alone read, that is larger than a PMU, and whose rows are 16 bursts or more, but no
    multiple of one, is stored with zeros behind its rows. A product that sums along the rows has
    zeros in its other operand, too, as a view.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"",
                        "a shipped machine or a machine file">];
}

def StackProducts : Pass<"samba-stack-products", "::mlir::ModuleOp"> {
  let summary = "Make one product of the equal products of many layers that nobody waits for";
  let description = [{
    Of graphs for training: products (`samba.matmul`) of a phase behind FWD with equal attributes,
    types and views of what they read, whose results only later phases read or the graph returns:
    the gradients of weights of equal layers. What they read must be made by operators, and lie in
    no region. They become one product with one more axis at the end of the phase. `samba.stack`
    says that what it reads lies side by side, `samba.unstack` that the results do. The stacked
    operands live until then, so they take no more than a quarter of the device's memory: of several
    groups the first that have room. The layer of such a product has a star where the names differ:
    `layers.*.fc`.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"",
                        "a shipped machine or a machine file">];
}

def ChannelsLast : Pass<"samba-channels-last", "::mlir::ModuleOp"> {
  let summary = "Let images between convolutions hold the channels of a pixel side by side";
  let description = [{
    conv2d, max_pool2d and avg_pool2d become those on channels last, with everything between them
    that works point by point or joins channels. A tile of pixels is then one long row of memory,
    and any 16 pixels of it are rows of an array. Images that come from outside are read through a
    permutation. Connected operators change together, or stay where a quarter of their bytes or more
    would lie worse: results of the graph, what others read, channels of fewer bytes than a burst.
    Graphs for training stay.
  }];
}

def MaterializeViews : Pass<"samba-materialize-views", "::mlir::ModuleOp"> {
  let summary = "Make a view that memory must hold an operation of its own";
  let description = [{
    samba.contiguous copies what no operator can read through its views. Before that, views become
    such that need no copy: a permutation that only moves axes of one element is a reshape, and what
    splits the axes of a permutation splits them first. Where the copy of a permuted result is all
    that its own phase reads of it, later phases read the copy turned back, so that the result is in
    memory once.
  }];
}

def RaiseIdioms : Pass<"samba-raise-idioms", "::mlir::ModuleOp"> {
  let summary = "Turn expanded forms that exporters write into the operators they mean";
  let description = [{
    layer_norm, rms_norm, gelu (both forms), silu, softmax, scaled_dot_product_attention (scale on q
    and k or on the scores, masks added or chosen, heads split off the batch, products as einsum)
    and rotary_embedding from their formulas. Attention whose mask is made of constants and hides
    what comes later is causal and reads no mask. Attention whose keys and values are repeated for
    the heads that share them reads them where they lie. Near misses stay as they are. Part of o1,
    not of o0.
  }];
}

def PinDecisions : Pass<"samba-pin-decisions", "::mlir::ModuleOp"> {
  let summary = "What a decisions file says of layers becomes attributes of their operators";
  let description = [{
    `rdu.section`: operators with the same number are to be one section; `rdu.parallel`: copies in
    their section may take 1/N of the units; `rdu.mapping`: the mappings of their stages. The same
    attributes may be written by hand. Tiles are cut to the extents of the graph, so that the
    decisions of another batch size can be used (docs/planner.md).
  }];
  let options = [Option<"decisions", "decisions", "std::string", "\"\"",
                        "a file of decisions, as --dump-decisions writes it">];
}

def PartitionSections : Pass<"samba-partition-sections", "::mlir::ModuleOp"> {
  let summary = "Outline the graph into sections and calls";
  let description = [{
    Every distinct section becomes a symbol `samba.section`, the graph a list of `samba.call`. Equal
    sections are one. o0: each operation its own section; o1: greedily fused within the machine's
    units, what a rule joins at once; o3: by a search over all sections for the least predicted
    time (docs/planner.md).
    Mapped spatially, a graph is one section, or is refused.
  }];
  let options = [Option<"target", "target", "std::string", "\"sn40l\"",
                        "a shipped machine or a machine file">,
                 Option<"opt", "opt", "std::string", "\"o1\"", "o0, o1 or o3">,
                 Option<"mapping", "mapping", "std::string", "\"section\"",
                        "section or spatial">,
                 Option<"search_seconds", "search_seconds", "std::string", "\"\"",
                        "seconds that the search of o3 may take, counted by its work; empty: 3, or "
                        "30 for a graph that trains">,
                 Option<"rules", "rules", "std::string", "\"\"",
                        "a file of fusion rules, or llama, gpt2, bert or resnet; empty: none">];
}

def SplitSums : Pass<"samba-split-sums", "::mlir::ModuleOp"> {
  let summary = "Sum rows in blocks, so that a pipeline over the rows can take their sums";
  let description = [{
    A `samba.sum` over all dimensions in front, such as the gradient of a bias, needs every row
    before its first result is there. Where the phase of the sum makes the rows and a PMU of
    `target` does not hold them all, one sum adds blocks of 16 rows each, where the rows are made,
    and another adds those as late as it can: the rows are not read again.
  }];
  let options = [Option<"target", "target", "std::string", "\"\"",
                        "a shipped machine or a machine file; empty: the graph stays">];
}

def SplitAttention : Pass<"samba-split-attention", "::mlir::ModuleOp"> {
  let summary = "Let causal attention compute no scores that the mask hides";
  let description = [{
    A section that is causal attention alone becomes several, each for some rows of the query and
    for the keys that they see. Each stores its rows where the result lies (`samba.put_slice`, in a
    region). How many there are, and whether there are several, is the choice with the fewest
    predicted cycles, launches included. Sections with pinned mappings stay.
  }];
  let options = [Option<"parts", "parts", "std::string", "\"\"",
                        "parts of each attention, 16 at most; empty: the fewest predicted cycles">];
}

def UpdateInPlace : Pass<"samba-update-in-place", "::mlir::ModuleOp"> {
  let summary = "Order the calls that read a region before the one that writes it";
  let description = [{
    A call whose result has a region (docs/dialects.md) overwrites what the region held. Whoever
    reads an earlier value afterwards is moved in front of it, within its phase, or reads a copy
    that is taken just before. A section that reads and writes one region does so at equal indices;
    one that does not reads a copy. `rdu.regions` says afterwards where each result of a call goes.
  }];
}

def AssignMemory : Pass<"samba-assign-memory", "::mlir::ModuleOp"> {
  let summary = "Give everything that crosses sections its place in device memory";
  let options = [Option<"io_host_memory", "io_host_memory", "std::string", "\"false\"",
                        "true: inputs and outputs without samba.mem lie in host memory">];
}

#endif
