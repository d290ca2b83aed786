#!/bin/sh
# Locks the Python stacks and the tools that check them: versions and hashes, no addresses.
# A stack is locked under the constraints.txt that all stacks share, unless its folder has a constraints.txt.
#   python/lock.sh                 all stacks, after a change of dependencies; versions that still fit stay
#   python/lock.sh quart           one stack, and the tools
#   python/lock.sh --upgrade       the newest versions that the constraints allow
set -eu
cd "$(dirname "$0")"

find_uv() {
  for candidate in uv "$PWD"/../.cache/tools/uv-*/bin/uv; do
    if "$candidate" --version >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  echo "lock.sh: uv is neither on PATH nor in .cache/tools. Install uv, or fetch it with: pnpm build uvicorn" >&2
  exit 3
}

compile() { # <folder> <oldest Python> <lock file> <uv option>...
  (
    cd "$1" && oldest=$2 output=$3 && shift 3
    "$uv" pip compile --quiet --universal --python-version "$oldest" --no-header --no-annotate --no-emit-index-url \
      --no-emit-find-links --no-emit-package bench-contract --output-file "$output" "$@"
  )
}

# On two versions of a package, a comparison of two interpreters would compare the package too.
refuse_forks() { # <folder> <constraints>
  forked=$(sed -n 's/^\([A-Za-z0-9._-]*\)==.*/\1/p' "$1/$whole" | sort | uniq -d)
  [ -n "$forked" ] || return 0
  case $2 in
    ../*) pins=python/constraints.txt ;;
    *) pins=python/$1/constraints.txt ;;
  esac
  {
    for name in $forked; do
      echo "lock.sh: $1 would run on more than one version of $name, depending on the interpreter:"
      sed -n "s/^$name==.*/  &/p" "$1/$whole"
    done
    echo "Pin one version that suits every interpreter in $pins, or raise requires-python in" \
      "python/$1/pyproject.toml and name the interpreters in \"runtimes\" of python/$1/stack.json."
  } >&2
  rm "$1/$whole"
  exit 1
}

groups() { # <folder>: the dependency groups of its variants
  sed -n '/^\[dependency-groups\]/,/^$/s/^\([a-z0-9-]*\) = .*/\1/p' "$1/pyproject.toml"
}

# All groups are resolved together first, so that no two locks of a stack disagree about a version.
lock() { # <folder> <constraints>
  folder=$1 && constraints=$2
  all=$(groups "$folder" | sed 's/^/--group /')
  sed 's/ *\\$//; /^ *--hash/d' "$folder"/requirements*.txt >"$folder/$whole" 2>/dev/null || true
  python=$(sed -n 's/^requires-python = "[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p' "$folder/pyproject.toml")
  # shellcheck disable=SC2086 # lists of options
  compile "$folder" "$python" "$whole" --constraints "$constraints" $options $all pyproject.toml
  refuse_forks "$folder" "$constraints"
  compile "$folder" "$python" requirements.txt --generate-hashes --constraints "$whole" pyproject.toml
  for group in $(groups "$folder"); do
    compile "$folder" "$python" "requirements-$group.txt" --generate-hashes --constraints "$whole" --group "$group"
  done
  rm "$folder/$whole"
}

whole=.whole.txt
options=
wanted=
for word in "$@"; do
  case $word in
    -*) options="$options $word" ;;
    *)
      [ -f "$word/pyproject.toml" ] || { echo "lock.sh: there is no python/$word/pyproject.toml" >&2; exit 2; }
      wanted="$wanted $word"
      ;;
  esac
done
uv=$(find_uv)

sharing="contract/pyproject.toml"
# The clients and the cluster are no stacks, but locked as such.
for manifest in */stack.json clients/pyproject.toml cluster/pyproject.toml; do
  stack=${manifest%/*}
  [ -f "$stack/pyproject.toml" ] || continue
  if [ -f "$stack/constraints.txt" ]; then
    constraints=constraints.txt
  elif [ "$stack" = cluster ]; then
    # Ray is large, and only a cluster needs it: the tools check its code without it.
    constraints=../constraints.txt
  else
    constraints=../constraints.txt
    sharing="$sharing $stack/pyproject.toml $(groups "$stack" | sed "s|^|--group $stack/pyproject.toml:|")"
  fi
  case "$wanted " in
    " " | *" $stack "*) lock "$stack" "$constraints" ;;
  esac
done
# The tools run on one Python.
# shellcheck disable=SC2086 # lists of options
compile . 3.13 dev-requirements.txt --generate-hashes --constraints constraints.txt $options dev-requirements.in $sharing
