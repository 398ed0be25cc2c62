#!/usr/bin/env bash
# Gradescope runs this once, when it makes the image of an assignment: packages, and what depends on the compiler.

set -euo pipefail

base=${AUTOGRADER:-/autograder}
root=$base/source/shardlings
parts=$root/prebuilt/$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)

missing=()
command -v g++ > /dev/null || missing+=(g++)
ldconfig -p | grep -q libopenblas.so.0 || missing+=(libopenblas0)
if ((${#missing[@]} > 0)); then
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
fi

# A secret is the grader's alone. A submission's code runs as users that own nothing.
if [[ -f $base/source/secret ]]; then chmod 0600 "$base/source/secret"; fi
chmod +x "$parts"/bin/* "$parts"/graders/* "$parts"/brokers/*
SHARDLINGS_ROOT=$root SHARDLINGS_BUILD=$root/build "$parts/bin/shardlings" list
