#!/bin/sh
# form-cluster.sh HOST…: makes one cluster of six empty Valkey servers, three primaries with a replica each, and waits
# until it serves. Run at each start: containers may have new addresses, so servers of a cluster are introduced again.
set -eu

address_of() { getent ahostsv4 "$1" | awk 'NR == 1 { print $1 }'; }
info_of() { valkey-cli -h "$1" "$2" "$3" | tr -d '\r'; }

# wait_until CONDITION HOST
wait_until() {
  tries=0
  until "$1" "$2"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 120 ]; then
      echo "$2 is not there ($1) after two minutes: see its log." >&2
      exit 1
    fi
    sleep 1
  done
}
answers() { [ "$(valkey-cli -h "$1" ping 2> /dev/null)" = PONG ]; }
serves() {
  info_of "$1" cluster info | grep -qx 'cluster_state:ok' || return 1
  case $(info_of "$1" info replication) in *role:slave*master_link_status:down*) return 1 ;; esac
}

for host in "$@"; do wait_until answers "$host"; done

addresses=''
for host in "$@"; do addresses="$addresses $(address_of "$host")"; done

if info_of "$1" cluster info | grep -qx 'cluster_known_nodes:1'; then
  servers=''
  for address in $addresses; do servers="$servers $address:6379"; done
  # shellcheck disable=SC2086 -- a list of words
  valkey-cli --cluster create $servers --cluster-replicas 1 --cluster-yes
else
  for host in "$@"; do
    for address in $addresses; do valkey-cli -h "$host" cluster meet "$address" 6379 > /dev/null; done
  done
fi

for host in "$@"; do wait_until serves "$host"; done
echo 'The cluster serves: three primaries, three replicas.'
