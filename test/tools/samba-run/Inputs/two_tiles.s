# Two copies: `left` uses the left half of the grid alone, `right` its right half.
machine "tiny"
region "a" { memory = hbm  bytes = 512  alignment = 512 }
region "b" { memory = hbm  address = 8192  bytes = 512  alignment = 512 }
region "c" { memory = hbm  address = 16384  bytes = 512  alignment = 512 }
symbol "a" { kind = input  dims = [128]  region = "a" }
symbol "b" { kind = activation  dims = [128]  region = "b"  address = 8192 }
symbol "c" { kind = output  dims = [128]  region = "c"  address = 16384 }
image section left {
  symbol from dtype=f32 elements=128
  symbol to dtype=f32 elements=128 written=yes
  load l symbol=from ag=0
    output dtype=f32 trips=[| 128] strides=[| 1]
  compute c x=1 y=1 trips=[| 128]
    input dtype=f32 strides=[| 1]
    output value=%0 dtype=f32 strides=[| 1]
  store s symbol=to ag=2
    input dtype=f32 trips=[| 128] strides=[| 1]
  stream s0 vector l.out0 -> c.in0
  stream s1 vector c.out0 -> s.in0
}
image section right {
  symbol from dtype=f32 elements=128
  symbol to dtype=f32 elements=128 written=yes
  load l symbol=from ag=1
    output dtype=f32 trips=[8 | 16] strides=[16 | 1]
  compute c x=3 y=1 trips=[8 | 16]
    input dtype=f32 strides=[0 | 1]
    output value=%0 dtype=f32 strides=[0 | 1]
  store s symbol=to ag=3
    input dtype=f32 trips=[8 | 16] strides=[16 | 1]
  stream s0 vector l.out0 -> c.in0
  stream s1 vector c.out0 -> s.in0
}
section "left" { image = "left"  type = FWD  pcus = 1  ags = 2 }
section "right" { image = "right"  type = FWD  pcus = 1  ags = 2 }
call { section = "left"  bindings = [{formal = 0, symbol = "a"}, {formal = 1, symbol = "b"}] }
call { section = "right"  bindings = [{formal = 0, symbol = "b"}, {formal = 1, symbol = "c"}] }
call { section = "right"  bindings = [{formal = 0, symbol = "b"}, {formal = 1, symbol = "c"}] }
call { section = "left"  bindings = [{formal = 0, symbol = "a"}, {formal = 1, symbol = "b"}] }
