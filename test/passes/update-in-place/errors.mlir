// RUN: samba-opt %s --split-input-file --verify-diagnostics --samba-update-in-place

samba.section @neg(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.neg %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
func.func @f(%w: tensor<4xf32> {samba.name = "w"}, %v: tensor<8xf32> {samba.name = "v", samba.region = "w"}) -> tensor<4xf32> {
  // expected-error @+1 {{writes tensor<4xf32> into region 'w', which holds tensor<8xf32>; all values of a region that is written have one type}}
  %0 = samba.call @neg(%w) {id = 0, type = "FWD", rdu.regions = ["w"]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

samba.section @neg(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.neg %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+1 {{result 0 is not the last value that the graph writes into region 'w'; leave its samba.region out or return the last value}}
func.func @f(%w: tensor<4xf32> {samba.name = "w"}) -> (tensor<4xf32> {samba.region = "w"}, tensor<4xf32> {samba.region = "w"}) {
  %0 = samba.call @neg(%w) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = samba.call @neg(%0) {id = 1, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
