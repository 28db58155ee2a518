// @step trains a weight of bf16 through its copy in f32, @halve writes the weight alone.
module attributes {samba.graphs = [@step, @halve]} {
  func.func @step(%g: tensor<64xbf16> {samba.name = "g", samba.kind = "input", samba.host_dtype = f32},
                  %w: tensor<64xbf16> {samba.name = "w", samba.kind = "weight", samba.master = "w__fp32",
                                    samba.value = dense<1.25> : tensor<64xbf16>},
                  %m: tensor<64xf32> {samba.name = "m", samba.kind = "optimizer_state", samba.value = dense<0.0> : tensor<64xf32>},
                  %v: tensor<64xf32> {samba.name = "v", samba.kind = "optimizer_state", samba.value = dense<0.0> : tensor<64xf32>},
                  %c: tensor<64xf32> {samba.name = "w__fp32", samba.kind = "optimizer_state", samba.value = dense<0.0> : tensor<64xf32>},
                  %t: tensor<i64> {samba.name = "t", samba.kind = "optimizer_state", samba.value = dense<0> : tensor<i64>})
      -> (tensor<64xbf16> {samba.name = "w", samba.kind = "update", samba.region = "w"},
          tensor<64xf32> {samba.name = "m", samba.kind = "update", samba.region = "m"},
          tensor<64xf32> {samba.name = "v", samba.kind = "update", samba.region = "v"},
          tensor<64xf32> {samba.name = "w__fp32", samba.kind = "update", samba.region = "w__fp32"},
          tensor<i64> {samba.name = "t", samba.kind = "update", samba.region = "t"})
      attributes {samba.graph = {mode = "training"}} {
    %one = samba.constant {samba.phase = "OPT", value = dense<1> : tensor<i64>}
    %lr = samba.constant {samba.phase = "OPT", value = dense<1.0e-3> : tensor<f32>}
    %decay = samba.constant {samba.phase = "OPT", value = dense<0.0> : tensor<f32>}
    %n = samba.add %t, %one {samba.phase = "OPT"} : tensor<i64>, tensor<i64>
    %w1, %m1, %v1, %c1 = samba.adamw_master_update %g, %m, %v, %c, %lr, %n, %decay {beta1 = 9.0e-01, beta2 = 9.97e-01, eps = 1.0e-08, samba.phase = "OPT"} : tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<i64>, tensor<f32>
    return %w1, %m1, %v1, %c1, %n : tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<i64>
  }
  func.func @halve(%w: tensor<64xbf16> {samba.name = "w", samba.kind = "weight"})
      -> (tensor<64xbf16> {samba.name = "halved", samba.kind = "update", samba.region = "w"}) {
    %half = samba.constant {value = dense<0.5> : tensor<bf16>}
    %0 = samba.mul %w, %half : tensor<64xbf16>, tensor<bf16>
    return %0 : tensor<64xbf16>
  }
}
