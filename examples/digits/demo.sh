#!/bin/sh
# Runs the digits demo with the programs of BIN.
set -eu
bin=$1
folder=$(dirname "$0")
echo "handwritten digits: ONNX -> samba -> rdu -> PEF -> simulated RDU"
"$bin/digits-demo" "$folder" "$bin/../digits.pef"
echo "the PEF is build/digits.pef; try: $bin/samba-objdump $bin/../digits.pef | head -n 60"
