"""The version of the package: that of the tree (project in CMakeLists.txt)."""

__version__ = "0.1.0"
