const BEARER = /^Bearer +([\w-]{1,128})$/i;
const BASIC = /^Basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i;

/** The API key of an `Authorization` header with a bearer token; null where there is none. */
export function readBearerToken(header: string | undefined): string | null {
  return BEARER.exec(header ?? '')?.[1] ?? null;
}

/** For pages in a browser: the API key is the password; any user name is accepted. */
export function readBasicToken(header: string | undefined): string | null {
  const encoded = BASIC.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString();
  const colonAt = text.indexOf(':');
  return colonAt === -1 ? null : text.slice(colonAt + 1);
}
