import type { FastifyRequest } from 'fastify';

/** Where clients reach the gateway: what the URLs of its resources begin with, and the realm of its challenges. */
export interface PublicOrigin {
  /** Without a slash at the end: `https://api.example`, and `PUBLIC_URL`'s path where it has one. */
  readonly url: string;
  /** With its port where that is not the scheme's own. */
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
 * `PUBLIC_URL` where it is set. Otherwise what the request says of itself: its Host, or what a trusted proxy says in its
 * place; a Host that is none reads `localhost`, for it goes into headers.
 */
export function createPublicOrigin(publicUrl: string | undefined): ReadPublicOrigin {
  if (publicUrl !== undefined) {
    const fixed = publicOriginOf(publicUrl);
    return () => fixed;
  }
  let last: PublicOrigin = { url: '', host: '' };
  return ({ host, protocol }) => {
    const name = HOST.test(host) ? host : 'localhost';
    // Nearly all requests name the same host: their strings are made once.
    if (last.host !== name || !last.url.startsWith(`${protocol}:`)) last = { url: `${protocol}://${name}`, host: name };
    return last;
  };
}
