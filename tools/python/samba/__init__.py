"""Samba for Python: PyTorch models on a simulated reconfigurable dataflow unit."""
