/** Directives of `Cache-Control`, split at commas outside of quoted strings. */
const DIRECTIVE = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;
/** Permissions for shared caches, and `private`, which may name single headers only. */
const OF_SHARED_CACHES = /^(?:public|private|s-maxage)\s*(?:=|$)/i;
/** Some shared caches obey these instead of `Cache-Control`. `CDN-Cache-Control` and its relatives are of RFC 9213. */
const TARGETED = /^(?:surrogate-control|edge-control|x-accel-expires|.+-cache-control)$/i;

/**
 * The `Cache-Control` of a paid response: shared caches may not store it. What the seller tells the buyer's own cache,
 * such as `no-cache` or `max-age=0`, is kept.
 */
export function keepPrivate(cacheControl: string | null | undefined): string {
  const directives = (cacheControl ?? '').match(DIRECTIVE) ?? [];
  const kept = directives
    .map((directive) => directive.trim())
    .filter((one) => one !== '' && !OF_SHARED_CACHES.test(one));
  return ['private', ...kept].join(', ');
}

/** Whether a response header, other than `Cache-Control`, lets shared caches store the response. */
export function instructsSharedCaches(name: string): boolean {
  return TARGETED.test(name);
}
