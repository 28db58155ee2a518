"""einsum and det."""
import torch

from writer import case

torch.manual_seed(13)
for equation, shapes in [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("ij->ji", [(3, 4)]),
    ("ba", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ij->j", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("ii", [(4, 4)]),
    ("ii->", [(4, 4)]),
    ("...ii->...i", [(2, 3, 3)]),
    ("iji->j", [(3, 4, 3)]),
    ("iii->i", [(3, 3, 3)]),
    ("i,j->ij", [(3,), (4,)]),
    ("i,i->", [(5,), (5,)]),
    ("i,i->i", [(5,), (5,)]),
    ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
    ("...ij,...jk", [(2, 1, 3, 4), (3, 4, 5)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("a,b,c->abc", [(2,), (3,), (4,)]),
    ("ab,ab,ab->a", [(2, 3), (2, 3), (2, 3)]),
    ("bn,anm,bm->ba", [(2, 3), (4, 3, 5), (2, 5)]),
    ("ijk,ilm,njm,nlk,abc->", [(2, 2, 2), (2, 2, 2), (2, 2, 2), (2, 2, 2), (2, 2, 2)]),
    ("ij,k->k", [(2, 3), (4,)]),
    ("ij,ik->", [(2, 3), (2, 4)]),
    ("ij,jk->ki", [(3, 1), (4, 5)]),
    (",ij->ji", [(), (3, 4)]),
    (",", [(), ()]),
    ("...,...", [(2, 3), (3,)]),
    ("i...->...", [(2, 3, 4)]),
    ("iIaA,A->Ia", [(2, 3, 4, 5), (5,)]),
    ("Ab", [(2, 3)]),
    ("bA", [(2, 3)]),
    ("abc,cd,abd->ab", [(2, 3, 4), (4, 5), (2, 3, 5)]),
]:
    operands = [torch.randn(s) for s in shapes]
    case(
        "einsum",
        operands,
        torch.einsum(equation.strip(), *operands).contiguous(),
        equation=equation,
    )
a, b = torch.randint(-9, 9, (3, 4)), torch.randint(-9, 9, (4, 5))
case("einsum", [a, b], torch.einsum("ij,jk->ki", a, b).contiguous(), equation="ij,jk->ki")
case(
    "einsum",
    [a.to(torch.int8), b.to(torch.int8)],
    torch.einsum("ij,jk->", a, b).to(torch.int8),
    equation="ij,jk->",
)
a, b = torch.randn(3, 40).bfloat16(), torch.randn(40, 5).bfloat16()
case(
    "einsum",
    [a, b],
    torch.einsum("ij,jk->ik", a.float(), b.float()).bfloat16(),
    equation="ij,jk->ik",
)

for shape in [(1, 1), (2, 2), (2, 3, 3), (2, 2, 5, 5)]:
    x = torch.randn(shape)
    case("det", [x], torch.linalg.det(x.double()).float())
case("det", [torch.tensor([[0.0, 2.0], [3.0, 0.0]])], torch.tensor(-6.0))
case("det", [torch.tensor([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [3.0, 4.0, 5.0]])], torch.tensor(0.0))
case("det", [torch.zeros(2, 2)], torch.tensor(0.0))
