"""Notes for a compiler; see samba.mac.metadata."""
