#!/usr/bin/env bash
# Builds the image of the Dockerfile without a container registry, with Debian's mmdebstrap and buildah, and mounts it.
# The base images are built from Debian's packages; node:* gets the Node and npm of this machine.
# Run as root: test/package/build-image.sh FOLDER. Afterwards FOLDER/root is the image's root file system, and
# FOLDER/config.json its configuration. test/package/build-image.sh --remove FOLDER removes everything.
set -euo pipefail
cd "$(dirname "$0")/../.."

remove=
if [ "${1:-}" = --remove ]; then
  remove=1
  shift
fi
folder=${1:?the folder to build in}
mkdir -p "$folder"
folder=$(realpath "$folder")
export BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$folder/storage" --runroot "$folder/run" "$@"; }

if [ -n "$remove" ]; then
  buildah umount --all >/dev/null || true
  buildah rm --all >/dev/null || true
  buildah rmi --all --force >/dev/null || true
  rm -rf "$folder"
  exit
fi

# Turns a root file system into the base image that a FROM names.
commit_base() {
  local container
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$1" / >/dev/null
  buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
  buildah commit --quiet --rm "$container" "docker.io/library/$2" >/dev/null
}

bases=$(sed -nE 's/^FROM ([a-z]+:[^ ]+).*/\1/p' Dockerfile | sort -u)
for base in $bases; do
  case $base in
  debian:*)
    suite=${base#debian:}
    suite=${suite%-slim}
    [ -f "$folder/$suite.tar" ] ||
      mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$folder/$suite.tar"
    commit_base "$folder/$suite.tar" "$base"
    ;;
  node:*)
    suite=${base#node:*-}
    suite=${suite%-slim}
    tree=$folder/node
    mkdir -p "$tree"
    [ -f "$folder/$suite.tar" ] ||
      mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$folder/$suite.tar"
    tar -xf "$folder/$suite.tar" -C "$tree" --exclude=./dev
    install -D "$(realpath "$(command -v node)")" "$tree/usr/local/bin/node"
    mkdir -p "$tree/usr/local/lib/node_modules"
    cp -a "$(npm root --global 2>/dev/null)/npm" "$tree/usr/local/lib/node_modules/"
    ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$tree/usr/local/bin/npm"
    ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$tree/usr/local/bin/npx"
    # The authorities that this machine trusts, such as a proxy's.
    cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
    commit_base "$tree" "$base"
    rm -rf "$tree"
    ;;
  esac
done

buildah bud --quiet --layers --pull-never --format docker --tag parley . >&2
container=$(buildah from --pull-never parley)
ln -sfn "$(buildah mount "$container")" "$folder/root"
buildah inspect --type image parley >"$folder/inspect.json"
node -e '
  const { Docker } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
  require("node:fs").writeFileSync(process.argv[2], JSON.stringify(Docker.config, null, 2) + "\n");
' "$folder/inspect.json" "$folder/config.json"
