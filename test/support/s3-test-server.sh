#!/usr/bin/env bash
# Starts a real S3 server for the tests: Ceph's radosgw with one monitor and one storage daemon that keeps everything in
# memory. Returns when it is ready; its daemons leave their process ids in DIR/*.pid.
# Usage: s3-test-server.sh DIR S3_PORT MON_PORT OLD_MON_PORT ACCESS_KEY SECRET_KEY
# Packages (Debian): radosgw ceph-mon ceph-osd ceph-common, without their recommendations.
set -euo pipefail

dir=$1 s3_port=$2 mon_port=$3 old_mon_port=$4 access_key=$5 secret_key=$6
monitors="v2:127.0.0.1:$mon_port/0,v1:127.0.0.1:$old_mon_port/0"
cluster=$(cat /proc/sys/kernel/random/uuid)
export CEPH_CONF=$dir/ceph.conf
cd "$dir"
mkdir mon osd rgw log

# One copy of everything, few placement groups: nothing here has to last.
cat > ceph.conf <<CONF
[global]
fsid = $cluster
mon host = $monitors
mon initial members = a
keyring = $dir/keyring
log file = $dir/log/\$name.log
run dir = $dir
admin socket = $dir/\$name.asok
pid file = $dir/\$name.pid
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
mon pg warn min per osd = 0
[mon]
mon data = $dir/mon
mon data avail crit = 1
[osd]
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 8G
public addr = 127.0.0.1
cluster addr = 127.0.0.1
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$s3_port
rgw dns name = 127.0.0.1
rgw thread pool size = 32
rgw num rados handles = 1
rgw enable usage log = false
rgw data = $dir/rgw
CONF

ceph-authtool --create-keyring keyring --gen-key -n mon. --cap mon 'allow *'
ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
ceph-authtool keyring --gen-key -n client.rgw --cap mon 'allow rw' --cap osd 'allow rwx'
ceph-authtool keyring --gen-key -n osd.0 --cap mon 'allow profile osd' --cap osd 'allow *'

monmaptool --create --addv a "[$monitors]" --fsid "$cluster" monmap
ceph-mon --mkfs -i a --monmap monmap --keyring keyring
ceph-mon -i a --public-addr 127.0.0.1

disk=$(cat /proc/sys/kernel/random/uuid)
ceph osd new "$disk"
ceph-osd -i 0 --mkfs --osd-uuid "$disk"
ceph auth import -i keyring
ceph-osd -i 0
ceph osd crush add osd.0 1.0 root=default host=localhost

radosgw -n client.rgw --id rgw
is_ready() { (exec 3<>"/dev/tcp/127.0.0.1/$s3_port") 2>/dev/null; }
for _ in $(seq 120); do is_ready && break; sleep 0.5; done
is_ready
radosgw-admin user create --uid=test --display-name=test --access-key="$access_key" --secret-key="$secret_key" > /dev/null
