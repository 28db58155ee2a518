// RUN: %expect-error samba-opt %s --samba-split-attention=parts=17 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: %expect-error samba-opt %s --samba-split-attention=parts=few 2>&1 | FileCheck %s --check-prefix=WORD
// MANY: error: {{.*}}samba-split-attention: parts wants a number from 1 to 16, not '17'
// WORD: error: {{.*}}samba-split-attention: parts wants a number from 1 to 16, not 'few'
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
