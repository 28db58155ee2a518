#!/bin/sh
# Runs the digits demo with the programs of BIN.
set -eu
bin=$1
folder=$(dirname "$0")
pef=$(dirname "$bin")/digits.pef
echo "handwritten digits: ONNX -> samba -> rdu -> PEF -> simulated RDU"
"$bin/digits-demo" "$folder" "$pef"
echo "the PEF is $pef; try: $bin/samba-objdump $pef | head -n 60"
