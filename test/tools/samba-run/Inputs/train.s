# Training by hand: y = w * x * (1 - p); its gradient to w is added up; momentum; the seed that the
# run drew is an output. Every section type but REDUCE; OPT updates in place.
machine "tiny"
region "x" { memory = hbm  address = 0  bytes = 512  alignment = 512 }
region "w" { memory = hbm  address = 512  bytes = 512  alignment = 512 }
region "w__grad" { memory = hbm  address = 1024  bytes = 512  alignment = 512 }
region "w__velocity" { memory = hbm  address = 1536  bytes = 512  alignment = 512 }
region "y" { memory = hbm  address = 2048  bytes = 512  alignment = 512 }
region "drawn" { memory = hbm  address = 2560  bytes = 512  alignment = 512 }
symbol "x" { kind = input  dims = [16]  region = "x" }
symbol "w" { kind = weight  flags = persistent | requires_grad  dims = [16]  region = "w"
  address = 512  grad_symbol = "w__grad"
  data = [1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, 0.5] }
symbol "w__grad" { kind = gradient  dims = [16]  region = "w__grad"  address = 1024  init = fill }
symbol "w__velocity" { kind = optimizer_state  dims = [16]  region = "w__velocity"
  address = 1536  init = fill }
symbol "y" { kind = loss  dims = [16]  region = "y"  address = 2048 }
symbol "drawn" { kind = output  host_dtype = i64  device_dtype = i64  dims = [16]  region = "drawn"
  address = 2560 }
argin "lr" { kind = lr  flags = has_default  default_value = 0x3dcccccd }
argin "w__momentum" { kind = momentum  flags = has_default }
argin "drop__p" { kind = dropout_rate  group = "p"  flags = has_default | has_maximum
  default_value = 0x3f000000  maximum = 0x3f400000  layer = "drop" }
argin "drop__seed" { kind = dropout_seed  group = "seed"  dtype = i64 }
image section zero {
  symbol g dtype=f32 elements=16 written=yes
  compute c trips=[| 16]
    %0 = const f32 0
    output value=%0 dtype=f32 strides=[| 1]
  store s symbol=g
    input dtype=f32 trips=[| 16] strides=[| 1]
  stream s0 vector c.out0 -> s.in0
}
image section forward {
  symbol w dtype=f32 elements=16
  symbol x dtype=f32 elements=16
  symbol y dtype=f32 elements=16 written=yes
  symbol drawn dtype=i64 elements=16 written=yes
  load lw symbol=w
    output dtype=f32 trips=[| 16] strides=[| 1]
  load lx symbol=x
    output dtype=f32 trips=[| 16] strides=[| 1]
  compute c trips=[| 16]
    input dtype=f32 strides=[| 1]
    input dtype=f32 strides=[| 1]
    %2 = const f32 1
    %3 = argin f32 2
    %4 = sub f32 %2, %3
    %5 = mul f32 %0, %1
    %6 = mul f32 %5, %4
    %7 = argin i64 3
    output value=%6 dtype=f32 strides=[| 1]
    output value=%7 dtype=i64 strides=[| 1]
  store sy symbol=y
    input dtype=f32 trips=[| 16] strides=[| 1]
  store sd symbol=drawn
    input dtype=i64 trips=[| 16] strides=[| 1]
  stream s0 vector lw.out0 -> c.in0
  stream s1 vector lx.out0 -> c.in1
  stream s2 vector c.out0 -> sy.in0
  stream s3 vector c.out1 -> sd.in0
}
image section backward {
  symbol x dtype=f32 elements=16
  symbol old dtype=f32 elements=16
  symbol new dtype=f32 elements=16 written=yes
  load lx symbol=x
    output dtype=f32 trips=[| 16] strides=[| 1]
  load lg symbol=old
    output dtype=f32 trips=[| 16] strides=[| 1]
  compute c trips=[| 16]
    input dtype=f32 strides=[| 1]
    input dtype=f32 strides=[| 1]
    %2 = const f32 1
    %3 = argin f32 2
    %4 = sub f32 %2, %3
    %5 = fma f32 %0, %4, %1
    output value=%5 dtype=f32 strides=[| 1]
  store s symbol=new
    input dtype=f32 trips=[| 16] strides=[| 1]
  stream s0 vector lx.out0 -> c.in0
  stream s1 vector lg.out0 -> c.in1
  stream s2 vector c.out0 -> s.in0
}
image section halve {
  symbol old dtype=f32 elements=16
  symbol new dtype=f32 elements=16 written=yes
  load lg symbol=old
    output dtype=f32 trips=[| 16] strides=[| 1]
  compute c trips=[| 16]
    input dtype=f32 strides=[| 1]
    %1 = const f32 0.5
    %2 = mul f32 %0, %1
    output value=%2 dtype=f32 strides=[| 1]
  store s symbol=new
    input dtype=f32 trips=[| 16] strides=[| 1]
  stream s0 vector lg.out0 -> c.in0
  stream s1 vector c.out0 -> s.in0
}
image section momentum {
  symbol g dtype=f32 elements=16
  symbol old dtype=f32 elements=16
  symbol new dtype=f32 elements=16 written=yes
  load lg symbol=g
    output dtype=f32 trips=[| 16] strides=[| 1]
  load lv symbol=old
    output dtype=f32 trips=[| 16] strides=[| 1]
  compute c trips=[| 16]
    input dtype=f32 strides=[| 1]
    input dtype=f32 strides=[| 1]
    %2 = argin f32 1
    %3 = fma f32 %1, %2, %0
    output value=%3 dtype=f32 strides=[| 1]
  store s symbol=new
    input dtype=f32 trips=[| 16] strides=[| 1]
  stream s0 vector lg.out0 -> c.in0
  stream s1 vector lv.out0 -> c.in1
  stream s2 vector c.out0 -> s.in0
}
image section descend {
  symbol v dtype=f32 elements=16
  symbol old dtype=f32 elements=16
  symbol new dtype=f32 elements=16 written=yes
  load lv symbol=v
    output dtype=f32 trips=[| 16] strides=[| 1]
  load lw symbol=old
    output dtype=f32 trips=[| 16] strides=[| 1]
  compute c trips=[| 16]
    input dtype=f32 strides=[| 1]
    input dtype=f32 strides=[| 1]
    %2 = argin f32 0
    %3 = mul f32 %0, %2
    %4 = sub f32 %1, %3
    output value=%4 dtype=f32 strides=[| 1]
  store s symbol=new
    input dtype=f32 trips=[| 16] strides=[| 1]
  stream s0 vector lv.out0 -> c.in0
  stream s1 vector lw.out0 -> c.in1
  stream s2 vector c.out0 -> s.in0
}
section "zero" { image = "zero"  type = ZEROGRAD  pcus = 1  ags = 1 }
section "forward" { image = "forward"  type = FWD  pcus = 1  ags = 4 }
section "backward" { image = "backward"  type = BCKWD  pcus = 1  ags = 3 }
section "halve" { image = "halve"  type = GRADNORM  pcus = 1  ags = 2 }
section "momentum" { image = "momentum"  type = OPT  pcus = 1  ags = 3 }
section "descend" { image = "descend"  type = OPT  pcus = 1  ags = 3 }
call { section = "zero"  bindings = [{formal = 0, symbol = "w__grad"}] }
call { section = "forward"  bindings = [{formal = 0, symbol = "w"}, {formal = 1, symbol = "x"},
  {formal = 2, symbol = "y"}, {formal = 3, symbol = "drawn"},
  {kind = argin, formal = 2, argin = "drop__p"}, {kind = argin, formal = 3, argin = "drop__seed"}] }
call { section = "backward"  depends = [0]  bindings = [{formal = 0, symbol = "x"},
  {formal = 1, symbol = "w__grad"}, {formal = 2, symbol = "w__grad"},
  {kind = argin, formal = 2, argin = "drop__p"}] }
call { section = "halve"  depends = [2]  bindings = [{formal = 0, symbol = "w__grad"},
  {formal = 1, symbol = "w__grad"}] }
call { section = "momentum"  depends = [3]  bindings = [{formal = 0, symbol = "w__grad"},
  {formal = 1, symbol = "w__velocity"}, {formal = 2, symbol = "w__velocity"},
  {kind = argin, formal = 1, argin = "w__momentum"}] }
call { section = "descend"  depends = [4]  bindings = [{formal = 0, symbol = "w__velocity"},
  {formal = 1, symbol = "w"}, {formal = 2, symbol = "w"}, {kind = argin, formal = 0, argin = "lr"}] }
graph "main" { mode = training  call_count = 6  inputs = ["x"]  outputs = [{symbol = "y", flags = loss}, {symbol = "drawn"}] }
