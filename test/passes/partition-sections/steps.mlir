// Up to 12 operators a section grows one by one, then by half of what it has: 18, 27, 40. A plan for
// each step makes 15; the other two are of what joins, alone, where it costs more than nothing.
// RUN: samba-opt %s --samba-partition-sections="target=sn40l opt=o1" --mlir-pass-statistics -o %t.mlir 2>&1 | FileCheck %s
// RUN: grep -c 'samba.section @' %t.mlir | FileCheck %s --check-prefix=ONE
// CHECK: (S) 17 plans-made
// ONE: {{^}}1{{$}}

func.func @chain(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = samba.sin %x : tensor<64x64xf32>
  %1 = samba.tanh %0 : tensor<64x64xf32>
  %2 = samba.sin %1 : tensor<64x64xf32>
  %3 = samba.tanh %2 : tensor<64x64xf32>
  %4 = samba.sin %3 : tensor<64x64xf32>
  %5 = samba.tanh %4 : tensor<64x64xf32>
  %6 = samba.sin %5 : tensor<64x64xf32>
  %7 = samba.tanh %6 : tensor<64x64xf32>
  %8 = samba.sin %7 : tensor<64x64xf32>
  %9 = samba.tanh %8 : tensor<64x64xf32>
  %10 = samba.sin %9 : tensor<64x64xf32>
  %11 = samba.tanh %10 : tensor<64x64xf32>
  %12 = samba.sin %11 : tensor<64x64xf32>
  %13 = samba.tanh %12 : tensor<64x64xf32>
  %14 = samba.sin %13 : tensor<64x64xf32>
  %15 = samba.tanh %14 : tensor<64x64xf32>
  %16 = samba.sin %15 : tensor<64x64xf32>
  %17 = samba.tanh %16 : tensor<64x64xf32>
  %18 = samba.sin %17 : tensor<64x64xf32>
  %19 = samba.tanh %18 : tensor<64x64xf32>
  %20 = samba.sin %19 : tensor<64x64xf32>
  %21 = samba.tanh %20 : tensor<64x64xf32>
  %22 = samba.sin %21 : tensor<64x64xf32>
  %23 = samba.tanh %22 : tensor<64x64xf32>
  %24 = samba.sin %23 : tensor<64x64xf32>
  %25 = samba.tanh %24 : tensor<64x64xf32>
  %26 = samba.sin %25 : tensor<64x64xf32>
  %27 = samba.tanh %26 : tensor<64x64xf32>
  %28 = samba.sin %27 : tensor<64x64xf32>
  %29 = samba.tanh %28 : tensor<64x64xf32>
  %30 = samba.sin %29 : tensor<64x64xf32>
  %31 = samba.tanh %30 : tensor<64x64xf32>
  %32 = samba.sin %31 : tensor<64x64xf32>
  %33 = samba.tanh %32 : tensor<64x64xf32>
  %34 = samba.sin %33 : tensor<64x64xf32>
  %35 = samba.tanh %34 : tensor<64x64xf32>
  %36 = samba.sin %35 : tensor<64x64xf32>
  %37 = samba.tanh %36 : tensor<64x64xf32>
  %38 = samba.sin %37 : tensor<64x64xf32>
  %39 = samba.tanh %38 : tensor<64x64xf32>
  return %39 : tensor<64x64xf32>
}
