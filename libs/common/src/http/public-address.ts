import ipaddr from 'ipaddr.js';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** Translated to an IPv4 address by whoever routes it (RFC 6052); the address stands in the last four bytes. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];
/** All that is given out of IPv6 so far; what lies outside is for special uses, known today or not. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * True for an address of the public internet, in the form that DNS and URL parsers give it. Not for loopback, private,
 * link-local, shared (CGNAT), multicast, reserved and documentation ranges, nor for IPv6 addresses that stand for one of
 * these in IPv4, nor for tunnels (6to4, Teredo), whatever they lead to.
 */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && isPublic(ipaddr.parse(address));
}

function isPublic(ip: Ip): boolean {
  if (isIPv4(ip)) return ip.range() === 'unicast';
  if (ip.isIPv4MappedAddress()) return isPublic(ip.toIPv4Address());
  if (ip.match(NAT64)) return isPublic(new ipaddr.IPv4(ip.toByteArray().slice(12)));
  return ip.match(GLOBAL_UNICAST) && ip.range() === 'unicast';
}

function isIPv4(ip: Ip): ip is ipaddr.IPv4 {
  return ip.kind() === 'ipv4';
}
