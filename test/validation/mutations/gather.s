# Written by hand, to be changed: rows of a table are picked by index and go through a PMU, whose
# guarded read deals their halves to two PCUs in turn. One sums squares, the other takes the largest
# element (the second half is filled up with ones) and its exponential.
machine "tiny"
symbol "table" { kind = input   dtype = f32  dims = [180] }
symbol "rows"  { kind = input   dtype = i32  dims = [12] }
symbol "sums"  { kind = output  dtype = f32  dims = [24] }

image section gather {
  symbol table dtype=f32 elements=180
  symbol rows  dtype=i32 elements=12
  symbol sums  dtype=f32 elements=24 written=yes

  load indices symbol=rows
    output dtype=i32 trips=[12, 1 |] strides=[1, 0]
  load picked symbol=table
    output dtype=f32 trips=[12, 1 | 20] strides=[0, 0 | 1] has_index=yes index_stride=20 index_limit=9
    input dtype=i32

  buffer tile slot_count=2 slot_elements=20
    input  dtype=f32 trips=[12 | | 20] strides=[0 | | 1]
    output dtype=f32 trips=[12 | 2 | 16] strides=[0 | 16 | 1] fill=1.0
      guard limit=20 strides=[0 | 16 | 1]

  compute even trips=[12 | 16] reduce=[1]
    input dtype=f32 strides=[0 | 1]
    %1 = mul f32 %0, %0
    %2 = reduce_add f32 %1
    output dtype=f32 strides=[0 | 0]
  compute odd trips=[12 | 16] reduce=[1] lane_reduce=yes
    input dtype=f32 strides=[0 | 1]
    %1 = reduce_max f32 %0
    %2 = exp f32 %1
    output dtype=f32 strides=[0 | 0]

  store out symbol=sums
    input dtype=f32 trips=[12, 2 |] strides=[2, 1]

  stream s0 scalar indices.out0 -> picked.in0
  stream s1 vector picked.out0 -> tile.in0
  stream s2 vector tile.out0 -> even.in0
  stream s3 vector tile.out0 -> odd.in0
  stream s4 scalar even.out0 -> out.in0
  stream s5 scalar odd.out0 -> out.in0
}
