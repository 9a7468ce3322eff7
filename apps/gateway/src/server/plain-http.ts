import ipaddr from 'ipaddr.js';

/** Whether an address is this machine: nobody in between can read what it sends. */
export function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (address === '127.0.0.1' || address === '::1') return true;
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
