"""Bounds of rounding errors."""

# A normal f32 that is cut to bf16 loses 16 of its bits: less than 2^-7 of it.
MAX_BF16_TRUNCATE_NORMAL_REL = 2.0**-7
