import { toInit, type RequestSnapshot } from '../network/request-snapshot.js';

/**
 * Sends one request with the proof in its headers. Redirects are not followed, so that the proof reaches only the
 * intended server. The time-out runs until `stopTimer`, so that it can cover the body as well.
 */
export async function sendProof(
  fetch: typeof globalThis.fetch,
  request: RequestSnapshot,
  { url, headers, timeoutMs }: { url: string; headers: Headers; timeoutMs: number },
): Promise<{ response: Response; stopTimer: () => void }> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new DOMException('The server took too long to answer.', 'TimeoutError'));
  }, timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, controller.signal]) : controller.signal;
  try {
    const response = await fetch(url, toInit(request, { headers, redirect: 'manual', signal }));
    return { response, stopTimer: () => clearTimeout(timer) };
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}
