/** Of a name of 253 characters, with a port. */
const MAX_HOST_LENGTH = 259;

export interface OriginTerms {
  readonly publicUrl: string | undefined;
  /** Whether every request comes through a proxy that sets `X-Forwarded-Host` and `X-Forwarded-Proto`. */
  readonly trustProxy: boolean;
  readonly onTrouble: (error: Error) => void;
}

/** Where clients reach the resources of a gate. */
export class ResourceOrigin {
  readonly #publicUrl: string | undefined;
  #isWarned = false;

  constructor(private readonly terms: OriginTerms) {
    this.#publicUrl = terms.publicUrl?.replace(/\/+$/, '');
  }

  /**
   * `publicUrl`, or else the origin of the request; that which a proxy forwards, if it is trusted. If a proxy forwards
   * another one than is used, the owner is told once: challenges then name what clients cannot reach.
   * @param url of the request, as its framework reads it
   */
  of(url: URL, header: (name: string) => string | undefined): string {
    const forwarded = readForwarded(url, header);
    const used = this.#publicUrl ?? (this.terms.trustProxy ? forwarded : null) ?? url.origin;
    if (forwarded !== null && !this.#isWarned && new URL(used).origin !== forwarded) {
      this.#isWarned = true;
      const advice = 'Set publicUrl, or have your framework or trustProxy trust the proxy.';
      this.terms.onTrouble(
        new Error(`A proxy forwards requests to ${forwarded}, and their payments are for ${used}. ${advice}`),
      );
    }
    return used;
  }
}

/** The origin that a proxy says it was asked for; null without one. */
function readForwarded(url: URL, header: (name: string) => string | undefined): string | null {
  const [host, scheme] = ['X-Forwarded-Host', 'X-Forwarded-Proto'].map((name) => header(name)?.split(',')[0]?.trim());
  if (host === undefined && scheme === undefined) return null;
  const forwarded = `${scheme ?? url.protocol.slice(0, -1)}://${host ?? url.host}`;
  return /^https?:\/\/[^/?#@]+$/i.test(forwarded) && isShort(forwarded) ? new URL(forwarded).origin : null;
}

/** Whether a URL has a host that a name can have. */
function isShort(url: string): boolean {
  return URL.canParse(url) && new URL(url).host.length <= MAX_HOST_LENGTH;
}

/** Replaces an invalid Host by `localhost`: any client can send one, and it goes into the response. */
export function parseUrl(url: string): URL {
  if (isShort(url)) return new URL(url);
  const [, path = ''] = /^[a-z]+:\/\/[^/]*(\/[^?#]*)?/i.exec(url) ?? [];
  return new URL(`http://localhost${path}`);
}
