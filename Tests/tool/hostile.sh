#!/bin/sh
# Hostile files and names: a code and a sentence each, nothing a terminal acts on, nothing left behind.
. "$(dirname "$0")/lib.sh"
make_keys
PYTHONPATH=$project/Tests/tool python3 "$project/Tests/tool/lib_hostile.py" "$project/testvectors"
