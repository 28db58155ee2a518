// The machine of the published runs (stanford-ppl/pir, May 2020): the shipped `plasticine` with the ideal network of those runs,
// and with every read on its way to DRAM, as the programs' text counts bytes. README.md says why each value differs.
module attributes {rdu.machine = #rdu.machine<"plasticine-20x20", base = "plasticine",
  network = {value = "ideal", source = "stanford-ppl/pir regression logs, May 2020"},
  unit_counters = {value = 6, source = "stanford-ppl/spade, default parameters"},
  unit_vector_outputs = {value = 4, assumed},
  ag_latency_cycles = {value = 30, assumed},
  ag_merge_outstanding = {value = 0, assumed},
  host_latency_ns = {value = 0, assumed}
>} {}
