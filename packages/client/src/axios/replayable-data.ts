export type Body = NonNullable<RequestInit['body']>;

/** The body of a request, which can be sent any number of times: what names it in the store, and what axios sends. */
export interface ReplayableData {
  body: Body | null;
  data: unknown;
  /** For a form, whose boundary must be the same each time. */
  contentType: string | null;
}

/** A form as the package `form-data` makes it. */
interface FormPackage {
  getBuffer: () => Uint8Array<ArrayBuffer>;
  getHeaders: () => Record<string, string>;
}

const isFormPackage = (data: unknown): data is FormPackage =>
  typeof data === 'object' && data !== null && 'getBuffer' in data && 'getHeaders' in data;

/**
 * The body of a request after its transformers; null for one that can be sent only once, such as a stream. A form is
 * encoded here, once.
 */
export async function takeData(data: unknown): Promise<ReplayableData | null> {
  if (data === undefined || data === null) return { body: null, data, contentType: null };
  if (data instanceof FormData) {
    const encoded = new Response(data);
    const bytes = await encoded.arrayBuffer();
    return { body: bytes, data: bytes, contentType: encoded.headers.get('content-type') };
  }
  if (isFormPackage(data)) return takePackage(data);
  const isReplayable =
    typeof data === 'string' ||
    data instanceof URLSearchParams ||
    data instanceof Blob ||
    data instanceof ArrayBuffer ||
    ArrayBuffer.isView(data);
  return isReplayable ? { body: data as Body, data, contentType: null } : null;
}

/** Its buffer cannot be made where a part is a stream. */
function takePackage(form: FormPackage): ReplayableData | null {
  try {
    const bytes = form.getBuffer();
    return { body: bytes, data: bytes, contentType: form.getHeaders()['content-type'] ?? null };
  } catch {
    return null;
  }
}
