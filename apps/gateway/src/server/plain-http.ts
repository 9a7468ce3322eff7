import ipaddr from 'ipaddr.js';

/** Whether an address is this machine's own, so that no third party can read the traffic. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (address === '127.0.0.1' || address === '::1') return true;
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
