"""long_graph.py: a graph of 196 operations in a row, of which number 120 is the only samba.relu."""
KINDS = ["samba.neg", "samba.tanh", "samba.sin", "samba.sigmoid", "samba.exp"]


def operation(number):
    value = "%%%d" % (number - 1) if number else "%x"
    if number == 120:
        return "samba.relu %s : tensor<4x8xf32>" % value
    if number % 3 == 1 or number > 120:
        kind = "samba.sub" if number % 2 else "samba.add"
        return "%s %s, %%x : tensor<4x8xf32>, tensor<4x8xf32>" % (kind, value)
    return "%s %s : tensor<4x8xf32>" % (KINDS[number % 5], value)


print('func.func @forward(%x: tensor<4x8xf32> {samba.name = "x", samba.kind = "input"})')
print('    -> (tensor<4x8xf32> {samba.name = "y", samba.kind = "output"}) {')
for number in range(196):
    print("  %%%d = %s" % (number, operation(number)))
print("  return %195 : tensor<4x8xf32>\n}")
