import {
  IDEMPOTENCY_KEY,
  IDEMPOTENT_REPLAYED,
  PAYMENT_AUTHORIZATION,
  PAYMENT_RECEIPT,
  PAYMENT_REQUIRED,
  PAYMENT_RESPONSE,
  PAYMENT_SIGNATURE,
  SIGN_IN_WITH_X,
  X_PAYMENT,
  X_PAYMENT_FAILURE,
  X_PAYMENT_RELEASED,
  X_PAYMENT_RESPONSE,
  X_SIGN_IN_FAILURE,
} from '@tollgate/protocol';

const EXPOSED = [
  PAYMENT_REQUIRED,
  'WWW-Authenticate',
  X_PAYMENT_RESPONSE,
  PAYMENT_RESPONSE,
  PAYMENT_RECEIPT,
  X_PAYMENT_FAILURE,
  X_PAYMENT_RELEASED,
  X_SIGN_IN_FAILURE,
  IDEMPOTENT_REPLAYED,
  'Location',
  'Retry-After',
  'X-Request-Id',
].join(', ');
const ACCEPTED = [
  X_PAYMENT,
  PAYMENT_SIGNATURE,
  PAYMENT_AUTHORIZATION,
  SIGN_IN_WITH_X,
  IDEMPOTENCY_KEY,
  // A response header, but published clients send it with their requests.
  'Access-Control-Expose-Headers',
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'X-Request-Id',
];
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const PREFLIGHT_SECONDS = '600';

/** Alternating names and values, as `ServerResponse.writeHead` takes them. */
export type FlatHeaders = readonly string[];

const VARY: FlatHeaders = ['Vary', 'Origin'];

export const EXPOSE_HEADERS = 'access-control-expose-headers';

/** The names in an `Access-Control-Expose-Headers`; by one that is no name, browsers would ignore them all. */
export function parseExposed(value: string): string[] {
  const names = value.split(',').map((name) => name.trim());
  return names.filter((name) => HEADER_NAME.test(name));
}

/**
 * Decides which browser pages may call the gateway and read its payment headers. Only pages of the listed origins may do so
 * with the cookies of their user.
 */
export class Cors {
  readonly #everyOrigin: FlatHeaders | null;
  readonly #vary: FlatHeaders;
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    const listed = origins.filter((origin) => origin !== '*');
    this.#vary = listed.length === 0 && origins.length > 0 ? [] : VARY;
    this.#everyOrigin = origins.includes('*') ? [...allow('*'), ...this.#vary] : null;
    this.#origins = new Set(listed);
  }

  /** Headers of any response to a page of this origin. */
  headersFor(origin: string, hasCookies: boolean): FlatHeaders {
    if (this.#origins.has(origin)) return [...allow(origin), 'Access-Control-Allow-Credentials', 'true', ...this.#vary];
    return this.#everyOrigin === null || hasCookies ? this.#vary : this.#everyOrigin;
  }

  /** Additional headers of the response to a preflight; empty if the origin may not call. */
  preflightHeadersFor(origin: string, methods: string, requestedHeaders: string | undefined): FlatHeaders {
    if (this.#everyOrigin === null && !this.#origins.has(origin)) return [];
    const requested = (requestedHeaders ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => HEADER_NAME.test(name))
      .slice(0, 32);
    const known = new Set(ACCEPTED.map((name) => name.toLowerCase()));
    const accepted = [...ACCEPTED, ...requested.filter((name) => !known.has(name.toLowerCase()))];
    return [
      ...['Access-Control-Allow-Methods', methods],
      ...['Access-Control-Allow-Headers', accepted.join(', ')],
      ...['Access-Control-Max-Age', PREFLIGHT_SECONDS],
    ];
  }
}

function allow(origin: string): FlatHeaders {
  return ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED];
}
