/* The names of the samba.* attributes that IR carries, and of the kinds of attribute that stand
 * there. samba_attributes.c says where each may stand and what it must be; everyone else takes the
 * name from here. docs/dialects.md tells what they mean. */
#ifndef SAMBA_DIALECT_SAMBA_SAMBA_ATTRIBUTE_NAMES_H
#define SAMBA_DIALECT_SAMBA_SAMBA_ATTRIBUTE_NAMES_H

/* Of arguments and results of a graph. */
#define SAMBA_NAME_ATTRIBUTE "samba.name"
#define SAMBA_KIND_ATTRIBUTE "samba.kind"
#define SAMBA_REGION_ATTRIBUTE "samba.region"
#define SAMBA_HOST_DTYPE_ATTRIBUTE "samba.host_dtype"
#define SAMBA_DIM_NAME_ATTRIBUTE "samba.dim_name"
#define SAMBA_SHARD_ATTRIBUTE "samba.shard"
/* Of arguments only. */
#define SAMBA_VALUE_ATTRIBUTE "samba.value"
#define SAMBA_MEMORY_ATTRIBUTE "samba.mem"
#define SAMBA_REQUIRES_GRAD_ATTRIBUTE "samba.requires_grad"
#define SAMBA_ARGIN_ATTRIBUTE "samba.argin"
/* The number of the optimizer (of samba.optimizers) that trains a weight; absent: 0. */
#define SAMBA_OPTIMIZER_ATTRIBUTE "samba.optimizer"
/* The name of the argument that is its copy in f32: what the host writes goes into both. */
#define SAMBA_MASTER_ATTRIBUTE "samba.master"
/* Elements that follow each other in memory, and from the start of such a block to the next. The
 * argument lies among the elements of a result of its region. */
#define SAMBA_BLOCK_ATTRIBUTE "samba.block"
/* Of results only. */
#define SAMBA_GRAD_OF_ATTRIBUTE "samba.grad_of"

/* Of operations. */
#define SAMBA_OPERATION_NAME_ATTRIBUTE "samba.op_name"
#define SAMBA_OPERATION_STAGE_ATTRIBUTE "samba.stage"
#define SAMBA_KEEP_PRECISION_ATTRIBUTE "samba.graphamp"
/* What the operation does in a step of training (dialect/samba/phase.h); absent: FWD. */
#define SAMBA_PHASE_ATTRIBUTE "samba.phase"
#define SAMBA_CONSTANTS_ATTRIBUTE "samba.constants"
/* Fused sections do not begin before the operation and go on after it; a cat is not joined with
 * those it reads. */
#define SAMBA_SECTION_START_ATTRIBUTE "samba.starts_section"
/* Of a linalg operation: it is a stage of an operator, with this name, from which units take
 * theirs. */
#define SAMBA_STAGE_ATTRIBUTE "rdu.stage"

/* Of functions and modules. */
#define SAMBA_GRAPH_ATTRIBUTE "samba.graph"
/* Of a training graph, until samba-add-optimizers has done what they say. */
#define SAMBA_OPTIMIZERS_ATTRIBUTE "samba.optimizers"
#define SAMBA_ACCUMULATE_ATTRIBUTE "samba.accumulate_gradients"
#define SAMBA_GRAPHS_ATTRIBUTE "samba.graphs"

/* Kinds of attribute, for sambaAttributeIs and sambaAttributeGet. A samba.section carries the
 * machine that it is planned for, which is described in the dialect below. */
#define SAMBA_EXTERNAL_KIND "samba.external"
#define SAMBA_DERIVED_KIND "samba.derived"
#define SAMBA_ARGIN_KIND "samba.argin"
#define SAMBA_OPTIMIZER_KIND "samba.optimizer"
#define SAMBA_MACHINE_KIND "rdu.machine"

#endif
