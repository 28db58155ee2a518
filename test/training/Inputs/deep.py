"""Writes a graph of twelve layers whose widths differ, with a loss: activations of many sizes,
which live until their layer's backward pass."""
widths = [96, 320, 64, 200, 512, 48, 48, 360, 128, 700, 80, 24]
batch = 40


def tensor(*dims):
    return "tensor<%sxf32>" % "x".join(map(str, dims))


arguments, body = ['%%x: %s {samba.name = "x"}' % tensor(batch, 72)], []
value, width = "%x", 72
for i, next_width in enumerate(widths):
    weight, bias = tensor(next_width, width), tensor(next_width)
    shape = tensor(batch, next_width)
    for name, kind in ("w", weight), ("b", bias):
        arguments.append(
            '%%%s%d: %s {samba.name = "%s%d", samba.kind = "weight", samba.requires_grad = true,'
            " samba.value = dense<0.01> : %s}" % (name, i, kind, name, i, kind)
        )
    body.append(
        "%%l%d = samba.linear %s, %%w%d, %%b%d : %s, %s, %s"
        % (i, value, i, i, tensor(batch, width), weight, bias)
    )
    body.append("%%a%d = samba.gelu %%l%d : %s" % (i, i, shape))
    body.append("%%s%d = samba.sigmoid %%a%d : %s" % (i, i, shape))
    body.append("%%p%d = samba.mul %%a%d, %%s%d : %s, %s" % (i, i, i, shape, shape))
    value, width = "%%p%d" % i, next_width
body.append("%%loss = samba.mean %s {dim = [0, 1], keepdim = false} : %s" % (value, shape))

print("func.func @deep(%s)" % ",\n    ".join(arguments))
print('    -> (tensor<f32> {samba.name = "loss", samba.kind = "loss"}) {')
print("  " + "\n  ".join(body))
print("  return %loss : tensor<f32>\n}")
