import { isIPv6 } from 'node:net';

import ipaddr from 'ipaddr.js';

const WINDOW_MS = 60_000;
const MAX_CLIENTS = 100_000;
/** All clients beyond those counted individually share one budget, so that memory stays bounded. */
const OTHERS = '';

/**
 * Counts requests per client in windows of one minute, on a clock that is never set back. An IPv6 /64 network counts as
 * one client.
 */
export class RateLimit {
  #counts = new Map<string, number>();
  #windowEndsAtMs = 0;

  constructor(
    private readonly requestsPerMinute: number,
    private readonly maxClients = MAX_CLIENTS,
  ) {}

  /** Counts a request. Returns 0 if it may pass, otherwise the milliseconds until the client's next window. */
  take(address: string, nowMs = performance.now()): number {
    if (this.requestsPerMinute === 0) return 0;
    this.#turnWindow(nowMs);
    const client = this.#clientOf(address);
    const waitMs = this.#waitMs(client, nowMs);
    if (waitMs === 0) this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1);
    return waitMs;
  }

  /** As `take`, without counting. */
  look(address: string, nowMs = performance.now()): number {
    if (this.requestsPerMinute === 0) return 0;
    this.#turnWindow(nowMs);
    return this.#waitMs(this.#clientOf(address), nowMs);
  }

  #turnWindow(nowMs: number): void {
    if (nowMs < this.#windowEndsAtMs) return;
    this.#counts = new Map();
    this.#windowEndsAtMs = nowMs + WINDOW_MS;
  }

  #waitMs(client: string, nowMs: number): number {
    return (this.#counts.get(client) ?? 0) < this.requestsPerMinute ? 0 : this.#windowEndsAtMs - nowMs;
  }

  #clientOf(address: string): string {
    const client = clientNetwork(address);
    return this.#counts.size < this.maxClients || this.#counts.has(client) ? client : OTHERS;
  }
}

/** Some proxies append the client's port to its address, and the port changes with each connection. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;

/**
 * The unit that counts as one client: an IPv4 address, or an IPv6 /64 network, since its owner can use any address in
 * it.
 */
export function clientNetwork(said: string): string {
  const [, v6, v4] = WITH_PORT.exec(said) ?? [];
  const address = v6 ?? v4 ?? said;
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}::/64` : parsed.toString();
}
