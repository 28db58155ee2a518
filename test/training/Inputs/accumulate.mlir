// A step with an accumulated gradient: zeros, x^T (x w) added up, w - lr g. `late` reads the old and the new weight.
func.func @step(%x: tensor<8x16xf32> {samba.name = "x"},
                %w: tensor<16x16xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true},
                %g: tensor<16x16xf32> {samba.name = "w__grad", samba.kind = "gradient",
                                       samba.value = dense<0.0> : tensor<16x16xf32>})
    -> (tensor<8x16xf32> {samba.name = "y"},
        tensor<16x16xf32> {samba.kind = "gradient", samba.region = "w__grad", samba.grad_of = "w"},
        tensor<16x16xf32> {samba.kind = "update", samba.region = "w"},
        tensor<8x16xf32> {samba.name = "late"}) attributes {samba.graph = {mode = "training"}} {
  %zeros = samba.constant {value = dense<0.0> : tensor<16x16xf32>}
  %lr = samba.constant {value = dense<0.0625> : tensor<f32>}
  %z = samba.contiguous %zeros {samba.region = "w__grad", samba.phase = "ZEROGRAD"} : tensor<16x16xf32>
  %y = samba.matmul %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %t = samba.permute %x {dims = [1, 0], samba.phase = "BCKWD"} : tensor<8x16xf32>
  %d = samba.matmul %t, %y {samba.phase = "BCKWD"} : tensor<16x8xf32>, tensor<8x16xf32>
  %sum = samba.add %z, %d {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  %s = samba.mul %sum, %lr {samba.phase = "OPT"} : tensor<16x16xf32>, tensor<f32>
  %new = samba.sub %w, %s {samba.phase = "OPT"} : tensor<16x16xf32>, tensor<16x16xf32>
  %a = samba.matmul %x, %w {samba.phase = "OPT"} : tensor<8x16xf32>, tensor<16x16xf32>
  %late = samba.matmul %a, %new {samba.phase = "OPT"} : tensor<8x16xf32>, tensor<16x16xf32>
  return %y, %sum, %new, %late : tensor<8x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
}
