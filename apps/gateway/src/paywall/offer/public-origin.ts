import type { FastifyRequest } from 'fastify';

/** Where clients reach the gateway: the start of its resources' URLs, and the realm of its challenges. */
export interface PublicOrigin {
  /** Without a trailing slash: `https://api.example`, with the path of `PUBLIC_URL` if it has one. */
  readonly url: string;
  /** Includes the port unless it is the scheme's default. */
  readonly host: string;
}

export type ReadPublicOrigin = (request: FastifyRequest) => PublicOrigin;

const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** The origin that `PUBLIC_URL` names. */
export function publicOriginOf(publicUrl: string): PublicOrigin {
  const { origin, host, pathname } = new URL(publicUrl);
  return { url: `${origin}${pathname.replace(/\/+$/, '')}`, host };
}

/**
 * The origin of `PUBLIC_URL` if it is set. Otherwise the request's Host, or what a trusted proxy forwards in its place.
 * An invalid Host is replaced by `localhost`, since the value goes into headers.
 */
export function createPublicOrigin(publicUrl: string | undefined): ReadPublicOrigin {
  if (publicUrl !== undefined) {
    const fixed = publicOriginOf(publicUrl);
    return () => fixed;
  }
  let last: PublicOrigin = { url: '', host: '' };
  return ({ host, protocol }) => {
    const name = HOST.test(host) ? host : 'localhost';
    // Nearly all requests name the same host, so the last result is cached.
    if (last.host !== name || !last.url.startsWith(`${protocol}:`)) last = { url: `${protocol}://${name}`, host: name };
    return last;
  };
}
