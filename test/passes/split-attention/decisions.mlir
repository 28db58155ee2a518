// Parts of attention have mappings, their whole has none: read back, decisions make the same PEF.
// RUN: rm -rf %t && mkdir %t
// RUN: samba-compile %s --target=sn40l -O3 -o %t/a.pef --dump-decisions=%t/decisions.json
// RUN: FileCheck %s --input-file=%t/decisions.json
// RUN: samba-compile %s --target=sn40l -O3 -o %t/b.pef --decisions=%t/decisions.json 2>&1 | count 0
// RUN: cmp %t/a.pef %t/b.pef
// RUN: samba-objdump %t/a.pef | FileCheck --check-prefix=PARTS %s

// CHECK: scaled_dot_product_attention#0":
// CHECK-NEXT: "section": 0
// CHECK-NOT: "section"
// CHECK-NOT: "mapping"

// PARTS: image section s0_0
// PARTS: image section s0_1
func.func @forward(%q: tensor<8x2048x128xbf16> {samba.name = "q"}, %k: tensor<8x2048x128xbf16> {samba.name = "k"}, %v: tensor<8x2048x128xbf16> {samba.name = "v"}) -> (tensor<8x2048x128xbf16> {samba.name = "y"}) {
  %y = samba.scaled_dot_product_attention %q, %k, %v {is_causal = true} : tensor<8x2048x128xbf16>, tensor<8x2048x128xbf16>, tensor<8x2048x128xbf16>
  return %y : tensor<8x2048x128xbf16>
}
