#!/bin/sh
# How fast the daemon answers `check`, beside a bare libmicrohttpd on the same machine in the same minutes, and how much
# slower while packages of 200 MB are opened one after another.
#
#   Benchmarks/daemon/rate.sh [ROUNDS [SECONDS]]     5 rounds of 3 seconds unless said otherwise
#
# Needs gcc and libmicrohttpd-dev, the load generator of the shared test data (NSH_SHARED, default ../shared), the release
# builds (NSH_TRUSTD, NSH_PKGTOOL), and 3 GB in /dev/shm or TMPDIR. Quote the ratios: the numbers are this machine's.
# Ends with `N passed, N failed`; NSH_RATIO (0.6) and NSH_SLOWER (2.0) are what is asked for.
set -eu
cd "$(dirname "$0")/../.."
shared=${NSH_SHARED:-../shared}
load=$shared/bench/c/udsload.c
if [ ! -e "$load" ] || ! command -v gcc >/dev/null; then
    echo "no gcc, or no load generator at $load"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
mkdir -p .build/bench
gcc -O2 -Wall -Wextra -std=gnu11 -o .build/bench/udsload "$load"
gcc -O2 -Wall -Wextra -std=gnu11 -o .build/bench/bare Benchmarks/daemon/bare.c -lmicrohttpd
exec python3 Benchmarks/daemon/rate.py .build/bench "$@"
