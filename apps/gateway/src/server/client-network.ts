import { isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

/** What counts as one client: an IPv4 address, or an IPv6 /64 network, since a network has as many addresses as it likes. */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}::/64` : parsed.toString();
}
