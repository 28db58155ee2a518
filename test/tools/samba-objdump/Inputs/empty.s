# A PEF without a section.
machine "tiny" {}
