# What mdl holds the pages to: lines of 100 columns (code and tables apart), and its usual rules.
all
rule "MD013", line_length: 100, ignore_code_blocks: true, tables: false
rule "MD029", style: :ordered
exclude_rule "MD036" # a line in bold may stand where a heading would be too much
exclude_rule "MD037" # formulas have a * between spaces
