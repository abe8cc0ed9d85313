#!/usr/bin/env bash
# Builds the image of the Dockerfile without a container registry, with Debian's mmdebstrap and buildah, and mounts it.
# The base images are built from Debian's packages; node:* gets the Node of npm's package node-linux-*, in the version that
# its tag names, and the npm of this machine.
# Run as root: test/package/build-image.sh FOLDER. Afterwards FOLDER/root is the image's root file system, and
# FOLDER/config.json its configuration. test/package/build-image.sh --remove FOLDER removes everything.
# ARCH=arm64 (or amd64) builds for another processor, if binfmt_misc runs its programs (qemu-user-static).
set -euo pipefail
cd "$(dirname "$0")/../.."

remove=
if [ "${1:-}" = --remove ]; then
  remove=1
  shift
fi
arch=${ARCH:-$(dpkg --print-architecture)}
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
  buildah config --arch "$arch" "$container"
  [ -z "${3:-}" ] || buildah config --env "$3" "$container"
  buildah add --quiet "$container" "$1" / >/dev/null
  buildah commit --quiet --rm "$container" "docker.io/library/$2" >/dev/null
}

# Debian as in the slim images: essential packages without documentation and translations, and an apt that keeps no files.
export DOCKER_CLEAN='Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache ""; APT::Keep-Downloaded-Packages "false";'
debian() {
  [ -f "$folder/$1.tar" ] ||
    mmdebstrap --quiet --variant=minbase --architectures="$arch" \
      --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
      --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' \
      --customize-hook='echo "$DOCKER_CLEAN" >"$1/etc/apt/apt.conf.d/docker-clean"; rm -f "$1"/var/cache/apt/*.bin' \
      "$1" "$folder/$1.tar"
}

bases=$(sed -nE 's/^FROM ([a-z]+:[^ ]+).*/\1/p' Dockerfile | sort -u)
for base in $bases; do
  suite=$(sed -E 's/^.*[:-]([a-z]+)-slim$/\1/' <<<"$base")
  debian "$suite"
  case $base in
  debian:*)
    commit_base "$folder/$suite.tar" "$base"
    ;;
  node:*)
    tree=$folder/node
    mkdir -p "$tree"
    tar -xf "$folder/$suite.tar" -C "$tree" --exclude=./dev
    version=$(sed -E 's/^node:([0-9]+).*/\1/' <<<"$base")
    package=node-linux-${arch/amd64/x64}
    npm install --silent --prefix "$folder/npm" --force --ignore-scripts "$package@$version"
    install -D "$folder/npm/node_modules/$package/bin/node" "$tree/usr/local/bin/node"
    mkdir -p "$tree/usr/local/lib/node_modules"
    cp -a "$(npm root --global 2>/dev/null)/npm" "$tree/usr/local/lib/node_modules/"
    ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$tree/usr/local/bin/npm"
    ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$tree/usr/local/bin/npx"
    # The authorities that this machine trusts, such as a proxy's.
    cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/"
    commit_base "$tree" "$base" NODE_EXTRA_CA_CERTS=/etc/ca-certificates.crt
    rm -rf "$tree" "$folder/npm"
    ;;
  esac
done

buildah bud --quiet --arch "$arch" --layers --pull-never --format docker --tag parley . >&2
container=$(buildah from --pull-never --arch "$arch" parley)
ln -sfn "$(buildah mount "$container")" "$folder/root"
buildah inspect --type image parley >"$folder/inspect.json"
node -e '
  const { Docker } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
  require("node:fs").writeFileSync(process.argv[2], JSON.stringify(Docker.config, null, 2) + "\n");
' "$folder/inspect.json" "$folder/config.json"
