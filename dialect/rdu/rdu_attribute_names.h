/* The names of the rdu.* attributes that IR carries. rdu_attributes.c says where each may stand and
 * what it must be; everyone else takes the name from here. */
#ifndef SAMBA_DIALECT_RDU_RDU_ATTRIBUTE_NAMES_H
#define SAMBA_DIALECT_RDU_RDU_ATTRIBUTE_NAMES_H

/* Arguments and constants: one i64. Calls: one i64 per result. Functions: start and bytes of the
 * memory that activations share. */
#define SAMBA_ADDRESS_ATTRIBUTE "rdu.address"
#define SAMBA_ADDRESSES_ATTRIBUTE "rdu.addresses"
#define SAMBA_ACTIVATIONS_ATTRIBUTE "rdu.activations"
/* On a call: the region that each result is written to, "" for none. */
#define SAMBA_REGIONS_ATTRIBUTE "rdu.regions"
/* On a call: the layers of its operators, in order. */
#define SAMBA_LAYERS_ATTRIBUTE "rdu.layers"
/* On a call: why its section ends behind its last operator, a dictionary: `reason` is graph, order,
 * number, room, cycles, request, search or time; `next` the layer behind it; `why` what is short of
 * room; `together` and `apart` the predicted cycles with the next operators and of two sections;
 * `more` what the graph takes more when the next operator joins. */
#define SAMBA_END_ATTRIBUTE "rdu.end"
/* On a function: it was asked to be one section, and is. */
#define SAMBA_SPATIAL_ATTRIBUTE "rdu.spatial"
/* On a module without sections - every result is known to have no elements - the machine. */
#define SAMBA_MODULE_MACHINE_ATTRIBUTE "rdu.machine"
/* On an operation of a graph or section: one #rdu.mapping, or an array of them for an operation of
 * several stages. */
#define SAMBA_MAPPING_ATTRIBUTE "rdu.mapping"
/* On a reduction that runs across lanes (docs/numerics.md). */
#define SAMBA_LANE_REDUCE_ATTRIBUTE "rdu.lane_reduce"
/* On a section that could not be placed or routed. */
#define SAMBA_FAILED_ATTRIBUTE "rdu.failed"
/* On an operator of a graph or on a section: N of i64, when its copies may take 1/N of the units.
 */
#define SAMBA_PARALLEL_ATTRIBUTE "rdu.parallel"
/* On an operator of a graph: an i64. Operators with the same number are to be one section. */
#define SAMBA_SECTION_ATTRIBUTE "rdu.section"
/* On a call: the numbers of its operators in the graph that was partitioned, as a list. */
#define SAMBA_OPERATORS_ATTRIBUTE "rdu.operators"
/* On an argument of an rdu.section: the symbol's name, and that a store writes it. */
#define SAMBA_SYMBOL_NAME_ATTRIBUTE "rdu.name"
#define SAMBA_SYMBOL_WRITTEN_ATTRIBUTE "rdu.written"

/* A kind of attribute, for sambaAttributeIs and sambaAttributeGet. */
#define SAMBA_MAPPING_KIND "rdu.mapping"

#endif
