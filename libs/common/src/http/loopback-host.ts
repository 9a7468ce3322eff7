import ipaddr from 'ipaddr.js';

/** Whether the name or address means this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || (ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback');
}
