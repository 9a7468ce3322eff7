import ipaddr from 'ipaddr.js';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** NAT64 (RFC 6052): a router translates these addresses to the IPv4 address in their last four bytes. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];
/** The part of IPv6 assigned so far; everything outside is for special uses, known or future. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * True for an address of the public internet, in the form that DNS and URL parsers give it. False for loopback,
 * private, link-local, shared (CGNAT), multicast, reserved and documentation ranges, for IPv6 addresses that stand for
 * one of these in IPv4, and for all tunnels (6to4, Teredo).
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

/** Whether the name or address means this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || (ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback');
}
