import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

import type { FastifyReply } from 'fastify';

export interface EventStreamLimits {
  readonly heartbeatMs: number;
  /** The connection of a client that reads nothing for this long is closed; nothing is buffered for it meanwhile. */
  readonly stallMs: number;
}

const RETRY_MS = 1_000;
const RETRY_SPREAD_MS = 2_000;
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Prevents proxies from buffering the events.
  'X-Accel-Buffering': 'no',
  // A stream that ends because its server stops is reopened on a new connection, which reaches another one.
  Connection: 'close',
};

/** Writes the head of an event stream; what was set before, such as CORS and the request id, stays. */
export function openEventStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
  const set = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value : String(value)] as const],
  );
  return reply.raw.writeHead(200, { ...Object.fromEntries(set), ...HEADERS });
}

/** Server-sent events to one client. What writes waits until the client has received the previous ones. */
export class EventStreamResponse {
  readonly #closing = new AbortController();
  #response: ServerResponse | null = null;
  #wake: () => void = () => undefined;
  #hasNews = false;

  constructor(private readonly limits: EventStreamLimits) {}

  get isEnded(): boolean {
    return this.#closing.signal.aborted;
  }

  /** There is something to send. */
  wake(): void {
    this.#hasNews = true;
    this.#wake();
  }

  /** Ends the stream. The client may reconnect and continue from its position. */
  end(): void {
    this.#closing.abort();
    this.#wake();
    this.#response?.end();
  }

  /**
   * Sends until one side ends the stream: `pass` at the start and whenever there is news, and the position while there
   * is none, so that a client that filters for rare events need not read all others again after it reconnects.
   * @param position the `id` to continue after
   */
  async run(response: ServerResponse, position: () => string, pass: () => Promise<void>): Promise<void> {
    this.#response = response;
    response.once('close', () => this.end());
    // The gateway keeps a connection whose client has closed its side; an event stream ends there.
    response.socket?.once('end', () => this.end());
    // A client that left before the head was written has closed it already.
    if (response.destroyed) this.end();
    // The retry delay is random, so that the clients of a restarted server do not all reconnect at once.
    await this.write(`retry: ${RETRY_MS + Math.floor(Math.random() * RETRY_SPREAD_MS)}\nid: ${position()}\n\n`);
    while (!this.isEnded) {
      this.#hasNews = false;
      await pass();
      if (await this.#isQuiet()) await this.write(`: nothing new\nid: ${position()}\n\n`);
    }
    response.end();
  }

  async write(text: string): Promise<void> {
    const response = this.#response;
    if (response === null || this.isEnded || response.write(text)) return;
    const stalled = AbortSignal.timeout(this.limits.stallMs);
    try {
      await once(response, 'drain', { signal: AbortSignal.any([stalled, this.#closing.signal]) });
    } catch {
      // The buffered data would never be delivered.
      if (stalled.aborted) response.destroy();
    }
  }

  /** Waits for news; true after a heartbeat without any. */
  async #isQuiet(): Promise<boolean> {
    if (this.#hasNews || this.isEnded) return false;
    let timer: NodeJS.Timeout | undefined;
    const isQuiet = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(false);
      timer = setTimeout(() => resolve(true), this.limits.heartbeatMs);
    });
    clearTimeout(timer);
    return isQuiet;
  }
}
