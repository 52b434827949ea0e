#!/bin/sh
# The passphrase prompt on a terminal: echo off, given back whatever happens.
. "$(dirname "$0")/lib.sh"
"$tool" keygen release --no-password --quiet && "$tool" keygen plain --no-password --quiet || exit 3
PYTHONPATH=$project/Tests/tool python3 "$project/Tests/tool/lib_prompt.py"
