// Machines and mappings, and what is refused of them.
// RUN: samba-opt --verify-diagnostics --split-input-file %s | FileCheck %s

// CHECK: module attributes {rdu.machine = #rdu.machine<"sn40l">}
module attributes {rdu.machine = #rdu.machine<"sn40l">} {
}

// -----

// A machine may say only what differs from a shipped one; in IR it stays as it was written.
// CHECK: module attributes {rdu.machine = #rdu.machine<"mine", base = "sn40l", clock_hz = {source = "data sheet", value = 1000000000}, simd_lanes = 32>}
module attributes {rdu.machine = #rdu.machine<"mine", base = "sn40l", simd_lanes = 32, clock_hz = {value = 1000000000, source = "data sheet"}>} {
}

// -----

// CHECK: rdu.mapping = #rdu.mapping<depth = [2, 2], group = 1, level = [0, 1], order = [2, 0, 1], phases = 2, pipeline = [2, 0], tile = [64, 64, 128], unroll = [2, 1, 1]>
func.func @f() attributes {rdu.mapping = #rdu.mapping<tile = [64, 64, 128], unroll = [2, 1, 1], order = [2, 0, 1], level = [0, 1], depth = [2, 2], group = 1, pipeline = [2, 0], phases = 2>} { return }
// CHECK: rdu.mapping = [#rdu.mapping<tile = [1]>, #rdu.mapping<>]
func.func @g() attributes {rdu.mapping = [#rdu.mapping<tile = [1]>, #rdu.mapping<>]} { return }

// -----

// expected-error@below {{#rdu.machine: there is no shipped machine 'sn50'; give base = "..." and what differs, or every parameter}}
module attributes {rdu.machine = #rdu.machine<"sn50">} {}

// -----

// expected-error@below {{#rdu.machine needs a name of 1 to 63 characters}}
module attributes {rdu.machine = #rdu.machine<clock_hz = {value = 1, assumed}>} {}

// -----

// expected-error@below {{#rdu.machine has no parameter 'clock'}}
module attributes {rdu.machine = #rdu.machine<"mine", clock = {value = 1, assumed}>} {}

// -----

// expected-error@below {{#rdu.machine: 'clock_hz' must be <integer>, {value = <integer>, assumed} or {value = <integer>, source = "..."}, where derived or analogy may stand for source}}
module attributes {rdu.machine = #rdu.machine<"mine", clock_hz = "fast">} {}

// -----

// expected-error@below {{#rdu.machine: 'clock_hz' must be <integer>, {value = <integer>, assumed} or {value = <integer>, source = "..."}, where derived or analogy may stand for source}}
module attributes {rdu.machine = #rdu.machine<"mine", clock_hz = {value = 1200000000}>} {}

// -----

// expected-error@below {{#rdu.machine: 'network' must be one of mesh|ideal, as a string, alone or as the value of a dictionary}}
module attributes {rdu.machine = #rdu.machine<"mine", base = "tiny", network = {value = "crossbar", assumed}>} {}

// -----

// expected-error@below {{#rdu.machine: base must be the name of a shipped machine}}
module attributes {rdu.machine = #rdu.machine<"mine", base = 40>} {}

// -----

// expected-error@below {{with base = "sn40l", what is not given is taken from that shipped machine}}
module attributes {rdu.machine = #rdu.machine<"mine", clock_hz = 1200000000>} {}

// -----

// expected-error@below {{#rdu.machine lacks parameter 'grid_columns' (columns of the checkerboard of PCUs and PMUs, all dies together, sites)}}
module attributes {rdu.machine = #rdu.machine<"mine", clock_hz = {value = 1200000000, source = "data sheet"}>} {}

// -----

// expected-error@below {{'builtin.module' op attribute 'rdu.machine' must be #rdu.machine<...>}}
module attributes {rdu.machine = "tiny"} {}

// -----

// expected-error@below {{'func.func' op attribute 'rdu.mapping' must be #rdu.mapping<...> or a list of them}}
func.func @f() attributes {rdu.mapping = [1, 2]} { return }

// -----

// expected-error@below {{'func.func' op attribute 'rdu.color' does not exist in the rdu dialect or cannot stand here}}
func.func @f() attributes {rdu.color = "red"} { return }

// -----

// expected-error@below {{#rdu.mapping takes no name}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<"m">} { return }

// -----

// expected-error@below {{#rdu.mapping has no 'tiles'; it has tile, unroll, order, level, depth, joined, group, pipeline and phases}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<tiles = [1]>} { return }

// -----

// expected-error@below {{#rdu.mapping: 'group' must be an integer from 0 to 4294967295}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<group = -1>} { return }

// -----

// expected-error@below {{#rdu.mapping: 'phases' must be an integer from 0 to 4294967295}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<phases = [2]>} { return }

// -----

// expected-error@below {{#rdu.mapping: 'tile' must be a list of at most 12 integers}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<tile = 64>} { return }

// -----

// expected-error@below {{#rdu.mapping: tile, unroll and order must have one length, but there are 2 and 1}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<tile = [64, 64], unroll = [1]>} { return }

// -----

// expected-error@below {{#rdu.mapping: 'tile' has 0, but every entry must be at least 1 and at most 9223372036854775807}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<tile = [64, 0]>} { return }

// -----

// expected-error@below {{#rdu.mapping: 'order' must name each of the 2 dimensions once}}
func.func @f() attributes {rdu.mapping = #rdu.mapping<order = [1, 1]>} { return }
