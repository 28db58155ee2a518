# y = x * lr, the argin in slot 0.
machine "tiny"
symbol "x" { kind = input  dims = [16] }
symbol "y" { kind = output  dims = [16] }
argin "lr" { kind = lr  flags = has_default  default_value = 0x40000000 }
argin "seed" { kind = dropout_seed  dtype = i64 }
image section scale {
  symbol from dtype=f32 elements=16
  symbol to dtype=f32 elements=16 written=yes
  load l symbol=from
    output dtype=f32 trips=[| 16] strides=[| 1]
  compute c trips=[| 16]
    input dtype=f32 strides=[| 1]
    %1 = argin f32 0
    %2 = mul f32 %0, %1
    output value=%2 dtype=f32 strides=[| 1]
  store s symbol=to
    input dtype=f32 trips=[| 16] strides=[| 1]
  stream s0 vector l.out0 -> c.in0
  stream s1 vector c.out0 -> s.in0
}
section "scale" { image = "scale"  type = FWD  pcus = 1  ags = 2 }
call { section = "scale"  bindings = [{formal = 0, symbol = "x"}, {formal = 1, symbol = "y"}, {kind = argin, formal = 0, argin = "lr"}] }
