import { isIP } from 'node:net';

import { isPublicAddress } from './public-address.js';
import { TargetRefusedError } from './target-refused-error.js';

/** Which URLs may be asked that somebody else chose. */
export interface TargetRules {
  /** Asks private addresses, and over plain HTTP too: for development. */
  allowPrivateTargets: boolean;
  /** Name servers instead of the system's, each an IP address with or without a port. */
  nameServers?: readonly string[];
}

/**
 * The URL as it will be asked: https, no password in it, no name or number of this machine or its network. What its name
 * stands for is looked up, and checked, when the connection is made.
 * @throws TargetRefusedError
 */
export function parseTarget(text: string | URL, { allowPrivateTargets }: TargetRules): URL {
  if (!URL.canParse(String(text))) throw new TargetRefusedError('malformed_url', 'This is no URL.');
  // The parser turns every spelling of a number (decimal, octal, hexadecimal, short) into the usual one.
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefusedError('malformed_url', 'The URL is neither of https nor of http.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefusedError('malformed_url', 'The URL holds a user name or a password.');
  }
  if (allowPrivateTargets) return url;
  if (url.protocol !== 'https:') throw new TargetRefusedError('insecure_url', 'The URL is not of https.');
  assertPublicHost(url.hostname);
  return url;
}

/** @throws TargetRefusedError for a number or a name that leads into a private network without being looked up */
export function assertPublicHost(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLocalName = /(?:^|\.)localhost\.?$/i.test(host);
  if (isLocalName || (isIP(host) !== 0 && !isPublicAddress(host))) throw refusePrivate(hostname);
}

/** Without the address: which names stand for what inside a network is nobody's business. */
export function refusePrivate(hostname: string): TargetRefusedError {
  return new TargetRefusedError('private_target', `${hostname} is not on the public internet.`);
}
