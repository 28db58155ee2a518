"""Which functions of torch can be traced: one row each (table.py says what a row is)."""
from samba.functions import elementwise, shape  # noqa: F401
from samba.functions import index, loss, norm, product, recurrent, reduce, window  # noqa: F401
from samba.functions.table import (  # noqa: F401
    ANSWERS,
    NAMES,
    ROWS,
    is_question,
    name_of,
)
