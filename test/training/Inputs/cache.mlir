// Two graphs over one cache: @put writes the row where the mask is set, @get reads all of it. The caches have other names there.
module attributes {samba.graphs = [@put, @get]} {
  func.func @get(%q: tensor<1x16xf32> {samba.name = "q"},
                 %c: tensor<8x16xf32> {samba.name = "cache", samba.kind = "buffer"})
      -> (tensor<1x8xf32> {samba.name = "scores"}) {
    %t = samba.permute %c {dims = [1, 0]} : tensor<8x16xf32>
    %0 = samba.matmul %q, %t : tensor<1x16xf32>, tensor<16x8xf32>
    return %0 : tensor<1x8xf32>
  }
  func.func @put(%k: tensor<1x16xf32> {samba.name = "k"}, %m: tensor<8x1xi1> {samba.name = "mask"},
                 %c: tensor<8x16xf32> {samba.name = "cache", samba.kind = "buffer",
                                       samba.value = dense<0.0> : tensor<8x16xf32>},
                 %o: tensor<8x16xf32> {samba.name = "other", samba.kind = "buffer", samba.region = "cache"})
      -> (tensor<8x16xf32> {samba.name = "cache__new", samba.kind = "update", samba.region = "cache"},
          tensor<8xf32> {samba.name = "before"}) {
    %n = samba.where %m, %k, %c : tensor<8x1xi1>, tensor<1x16xf32>, tensor<8x16xf32>
    %b = samba.sum %o {dim = [1], keepdim = false} : tensor<8x16xf32>
    return %n, %b : tensor<8x16xf32>, tensor<8xf32>
  }
}
