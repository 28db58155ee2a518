// Element-wise operators between a value with several readers and the one value that comes of it
// are one section without buffers: only x and g are loaded, and only the result is stored.
// RUN: samba-compile %s -o %t.pef && FileCheck %s < %t.pef.log
// CHECK: sections: 1,
// CHECK: 0 FWD {{ *}}1 {{ *[0-9]+ +[0-9.]+%}} {{ *}}0 {{ *}}0.0%

func.func @slope(%x: tensor<1024x3072xbf16>, %g: tensor<1024x3072xbf16>)
    -> tensor<1024x3072xbf16> {
  %d = samba.constant {value = dense<4.470e-02> : tensor<bf16>}
  %one = samba.constant {value = dense<1.0> : tensor<bf16>}
  %0 = samba.mul %x, %x : tensor<1024x3072xbf16>, tensor<1024x3072xbf16>
  %1 = samba.mul %0, %d : tensor<1024x3072xbf16>, tensor<bf16>
  %2 = samba.add %1, %one : tensor<1024x3072xbf16>, tensor<bf16>
  %3 = samba.mul %x, %2 : tensor<1024x3072xbf16>, tensor<1024x3072xbf16>
  %4 = samba.tanh %3 : tensor<1024x3072xbf16>
  %5 = samba.sub %one, %4 : tensor<bf16>, tensor<1024x3072xbf16>
  %6 = samba.add %4, %one : tensor<1024x3072xbf16>, tensor<bf16>
  %7 = samba.mul %5, %6 : tensor<1024x3072xbf16>, tensor<1024x3072xbf16>
  %8 = samba.mul %7, %0 : tensor<1024x3072xbf16>, tensor<1024x3072xbf16>
  %9 = samba.add %8, %6 : tensor<1024x3072xbf16>, tensor<1024x3072xbf16>
  %10 = samba.mul %g, %9 : tensor<1024x3072xbf16>, tensor<1024x3072xbf16>
  return %10 : tensor<1024x3072xbf16>
}
