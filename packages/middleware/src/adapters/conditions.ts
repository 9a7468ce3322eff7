/** These could cause a 304, a response without the body that the client pays for. */
const CONDITIONS = ['if-none-match', 'if-modified-since'];
const ACCEPT_ENCODING = 'accept-encoding';
/** By these, a part or a coding is stored, and replayed to a client that asks for the whole, or does not read the coding. */
const FORMS = ['range', 'if-range', ACCEPT_ENCODING];

function namesToDrop(method: string): readonly string[] {
  return method === 'GET' ? [...CONDITIONS, ...FORMS] : FORMS;
}

/**
 * Whether a handler's response may be sold: no error, and no 304, which a handler may send without having been asked
 * for it.
 */
export function isForSale(status: number): boolean {
  return status < 400 && status !== 304;
}

/**
 * Removes what could make less than the whole answer from Node's headers, before a handler reads them.
 * @returns puts `Accept-Encoding` back once the answer is made, for a compression outside of the gate
 */
export function dropConditions(method: string, headers: Record<string, unknown>): () => void {
  const accepted = headers[ACCEPT_ENCODING];
  for (const name of namesToDrop(method)) Reflect.deleteProperty(headers, name);
  return () => void (accepted !== undefined && (headers[ACCEPT_ENCODING] = accepted));
}

/**
 * The same for a `Request`: the same one if its headers can be changed, which those of some servers cannot.
 */
export function withoutConditions(request: Request): { readonly request: Request; readonly restore: () => void } {
  const names = namesToDrop(request.method).filter((name) => request.headers.has(name));
  const accepted = request.headers.get(ACCEPT_ENCODING);
  if (names.length === 0) return { request, restore: () => undefined };
  try {
    for (const name of names) request.headers.delete(name);
    return { request, restore: () => void (accepted !== null && request.headers.set(ACCEPT_ENCODING, accepted)) };
  } catch {
    const headers = new Headers(request.headers);
    for (const name of names) headers.delete(name);
    return { request: new Request(request, { headers }), restore: () => undefined };
  }
}
