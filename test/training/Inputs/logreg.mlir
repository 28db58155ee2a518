// Logistic regression with all of a step written out: mean cross entropy of 16 examples of 64 numbers
// in 10 classes, its gradients, and stochastic gradient descent in place.
func.func @step(
    %x: tensor<16x64xf32> {samba.name = "x", samba.kind = "input"},
    %y: tensor<16xi64> {samba.name = "y", samba.kind = "input"},
    %w: tensor<10x64xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true, samba.value = dense<0.0> : tensor<10x64xf32>},
    %b: tensor<10xf32> {samba.name = "b", samba.kind = "weight", samba.requires_grad = true, samba.value = dense<[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]> : tensor<10xf32>},
    %g: tensor<f32> {samba.name = "loss__grad", samba.kind = "gradient", samba.value = dense<1.0> : tensor<f32>},
    %lr: tensor<f32> {samba.name = "lr", samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 0.05, min = 0>},
    %decay: tensor<f32> {samba.name = "weight_decay", samba.kind = "argin", samba.argin = #samba.argin<kind = "weight_decay", default = 0.0, min = 0>})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "loss"},
        tensor<10x64xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"},
        tensor<10xf32> {samba.name = "b__grad", samba.kind = "gradient", samba.grad_of = "b"},
        tensor<10x64xf32> {samba.name = "w__new", samba.kind = "update", samba.region = "w"},
        tensor<10xf32> {samba.name = "b__new", samba.kind = "update", samba.region = "b"})
    attributes {samba.graph = {mode = "training"}} {
  %off_on = samba.constant {value = dense<[0.0, 1.0]> : tensor<2xf32>}
  %share = samba.constant {value = dense<0.0625> : tensor<f32>}

  %logits = samba.linear %x, %w, %b : tensor<16x64xf32>, tensor<10x64xf32>, tensor<10xf32> loc("head")
  %log_p = samba.log_softmax %logits {dim = 1} : tensor<16x10xf32> loc("loss")
  %hot = samba.one_hot %y, %off_on {num_classes = 10, dim = 1} : tensor<16xi64>, tensor<2xf32> loc("loss")
  %picked = samba.mul %log_p, %hot : tensor<16x10xf32>, tensor<16x10xf32> loc("loss")
  %sum = samba.sum %picked {dim = [0, 1]} : tensor<16x10xf32> loc("loss")
  %mean = samba.mul %sum, %share : tensor<f32>, tensor<f32> loc("loss")
  %loss = samba.neg %mean : tensor<f32> loc("loss")

  %scale = samba.mul %g, %share {samba.phase = "BCKWD"} : tensor<f32>, tensor<f32> loc("loss")
  %p = samba.exp %log_p {samba.phase = "BCKWD"} : tensor<16x10xf32> loc("loss")
  %off = samba.sub %p, %hot {samba.phase = "BCKWD"} : tensor<16x10xf32>, tensor<16x10xf32> loc("loss")
  %d = samba.mul %off, %scale {samba.phase = "BCKWD"} : tensor<16x10xf32>, tensor<f32> loc("loss")
  %dt = samba.permute %d {dims = [1, 0], samba.phase = "BCKWD"} : tensor<16x10xf32> loc("head")
  %dw = samba.matmul %dt, %x {samba.phase = "BCKWD"} : tensor<10x16xf32>, tensor<16x64xf32> loc("head")
  %db = samba.sum %d {dim = [0], samba.phase = "BCKWD"} : tensor<16x10xf32> loc("head")

  %w1 = samba.sgd_update %w, %dw, %lr, %decay {samba.phase = "OPT"} : tensor<10x64xf32>, tensor<10x64xf32>, tensor<f32>, tensor<f32> loc("head")
  %b1 = samba.sgd_update %b, %db, %lr, %decay {samba.phase = "OPT"} : tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32> loc("head")
  return %loss, %dw, %db, %w1, %b1 : tensor<f32>, tensor<10x64xf32>, tensor<10xf32>, tensor<10x64xf32>, tensor<10xf32>
}
