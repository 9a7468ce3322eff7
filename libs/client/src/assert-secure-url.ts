import { PaymentError } from '@tollgate/protocol';

/** Names a tool of a connection that somebody else has made; no fetch goes there. */
export const TOOL_PROTOCOL = 'mcp:';

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.[0-9]{1,3}){3}$/.test(host);

/**
 * HTTPS, or plain HTTP to this very machine (specification, "Authentication": HTTPS is required).
 * @throws PaymentError `insecure_url`: over plain HTTP anyone on the way can change the price or take the proof.
 */
export function assertSecureUrl(url: string, allowInsecureHttp: boolean): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || protocol === TOOL_PROTOCOL) return;
  if (protocol === 'http:' && (allowInsecureHttp || isLoopback(hostname))) return;
  throw new PaymentError('insecure_url', `No payment is made over ${protocol}//${hostname}.`, {
    hint: 'Use https, or set allowInsecureHttp on a network you trust.',
    details: { url },
  });
}
