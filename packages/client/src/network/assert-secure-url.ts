import { PaymentError } from '@tollgate/protocol';

/** Identifies a tool whose connection the caller has opened; fetch is not used for it. */
export const TOOL_PROTOCOL = 'mcp:';

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.[0-9]{1,3}){3}$/.test(host);

/**
 * Requires HTTPS, or plain HTTP to this machine (specification, "Authentication").
 * @throws PaymentError `insecure_url`: over plain HTTP, anyone on the network can change the price or steal the proof.
 */
export function assertSecureUrl(url: string, allowInsecureHttp: boolean): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || protocol === TOOL_PROTOCOL) return;
  if (protocol === 'http:' && (allowInsecureHttp || isLoopback(hostname))) return;
  throw new PaymentError('insecure_url', `A payment over ${protocol}//${hostname} is not safe.`, {
    hint: 'Use https, or set allowInsecureHttp on a network you trust.',
    details: { url },
  });
}
