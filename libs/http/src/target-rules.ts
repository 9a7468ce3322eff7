import { isIP } from 'node:net';

import { isPublicAddress } from './public-address.js';

/** Which URLs from untrusted sources may be requested. */
export interface TargetRules {
  /** Allows private addresses and plain HTTP, for development. */
  allowPrivateTargets: boolean;
  /** Name servers to use instead of the system's, each an IP address with or without a port. */
  nameServers?: readonly string[];
}

/**
 * Parses a URL as it will be requested: https, without a password, and not a name or number of this machine or its
 * network. The addresses of its host name are checked when the connection is made.
 * @throws TargetRefusedError
 */
export function parseTarget(text: string | URL, { allowPrivateTargets }: TargetRules): URL {
  if (!URL.canParse(String(text))) throw new TargetRefusedError('malformed_url', 'This is not a URL.');
  // The parser normalises every spelling of a numeric address (decimal, octal, hexadecimal, short).
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TargetRefusedError('malformed_url', 'The URL must begin with https:// or http://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefusedError('malformed_url', 'The URL must not hold a user name or a password.');
  }
  if (allowPrivateTargets) return url;
  if (url.protocol !== 'https:') throw new TargetRefusedError('insecure_url', 'The URL must begin with https://.');
  assertPublicHost(url.hostname);
  return url;
}

/** @throws TargetRefusedError for a numeric address or a host name that is private without a look-up */
export function assertPublicHost(hostname: string): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLocalName = /(?:^|\.)localhost\.?$/i.test(host);
  if (isLocalName || (isIP(host) !== 0 && !isPublicAddress(host))) throw refusePrivate(hostname);
}

/** The message omits the address, to reveal nothing about names inside a network. */
export function refusePrivate(hostname: string): TargetRefusedError {
  return new TargetRefusedError('private_target', `${hostname} is not on the public internet.`);
}

export type TargetRefusal =
  | 'malformed_url'
  | 'insecure_url'
  /** The address, or an address of the host name, is not on the public internet. */
  | 'private_target'
  | 'unknown_host'
  | 'too_many_redirects'
  /** The answer is compressed although the request refused that: a few bytes of it may expand without limit. */
  | 'encoded_answer';

/** A URL from an untrusted source that is not requested. The message is one sentence without an address. */
export class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError';

  constructor(
    readonly code: TargetRefusal,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
