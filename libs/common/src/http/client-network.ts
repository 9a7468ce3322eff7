import { isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Some proxies append the client's port to its address, and the port changes with each connection. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;

/**
 * The unit that counts as one client: an IPv4 address, or an IPv6 /64 network, since its owner can use any address in
 * it.
 */
export function clientNetwork(said: string): string {
  const [, v6, v4] = WITH_PORT.exec(said) ?? [];
  const address = v6 ?? v4 ?? said;
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}::/64` : parsed.toString();
}
