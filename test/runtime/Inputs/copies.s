# Three copies over device memory: a to t, a to u - which shares t's bytes - and t to y.
machine "tiny"
region "a" { memory = hbm  bytes = 512  alignment = 512 }
region "y" { memory = hbm  address = 16384  bytes = 512  alignment = 512 }
region "shared" { memory = hbm  address = 8192  bytes = 512  alignment = 512 }
symbol "a" { kind = input  dims = [16]  region = "a" }
symbol "t" { kind = activation  dims = [16]  region = "shared"  address = 8192 }
symbol "u" { kind = activation  dims = [16]  region = "shared"  address = 8192 }
symbol "y" { kind = output  dims = [16]  region = "y"  address = 16384 }
image section copy {
  symbol from dtype=f32 elements=16
  symbol to dtype=f32 elements=16 written=yes
  load l symbol=from
    output dtype=f32 trips=[| 16] strides=[| 1]
  compute c trips=[| 16]
    input dtype=f32 strides=[| 1]
    output value=%0 dtype=f32 strides=[| 1]
  store s symbol=to
    input dtype=f32 trips=[| 16] strides=[| 1]
  stream s0 vector l.out0 -> c.in0
  stream s1 vector c.out0 -> s.in0
}
section "copy" { image = "copy"  type = FWD  pcus = 1  ags = 2 }
section "second" { image = "copy"  type = BCKWD  pcus = 1  ags = 2 }
section "third" { image = "copy"  type = OPT  pcus = 1  ags = 2 }
call { section = "copy"  bindings = [{formal = 0, symbol = "a"}, {formal = 1, symbol = "t"}] }
call { section = "second"  bindings = [{formal = 0, symbol = "a"}, {formal = 1, symbol = "u"}] }
call { section = "third"  bindings = [{formal = 0, symbol = "t"}, {formal = 1, symbol = "y"}] }
