import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

import { toAgentJobEvent } from '@tollgate/agent-jobs';
import type { JobEvent } from '@tollgate/journal';

import { writeCursor } from './event-cursor.js';
import type { EventStart } from './event-request.js';
import type { EventTail, TailListener } from './event-tail.js';
import type { WalletNames } from './wallet-names.js';

export interface EventStreamParts {
  readonly tail: EventTail;
  readonly names: WalletNames;
  readonly wants: (event: JobEvent) => boolean;
  readonly heartbeatMs: number;
  /** The connection of a client that reads nothing for this long is closed; nothing is buffered for it meanwhile. */
  readonly stallMs: number;
}

const RETRY_MS = 1_000;
const RETRY_SPREAD_MS = 2_000;

/**
 * Sends events to one client. It reads more from the tail only when the client has received the previous ones, so
 * memory stays bounded.
 */
export class EventStream implements TailListener {
  readonly #closing = new AbortController();
  #response: ServerResponse | null = null;
  #cursor = new Map<string, number>();
  #notBeforeMs = 0;
  #wake: () => void = () => undefined;
  #hasNews = false;

  constructor(private readonly parts: EventStreamParts) {}

  onAdvance(): void {
    this.#hasNews = true;
    this.#wake();
  }

  onLoss(): void {
    this.end();
  }

  /** Ends the stream. The client may reconnect and continue from its position. */
  end(): void {
    this.#closing.abort();
    this.#wake();
    this.#response?.end();
  }

  /** Sends events until one side ends the stream. The head of `response` has already been written. */
  async run(response: ServerResponse, { cursor, notBeforeMs }: EventStart): Promise<void> {
    this.#response = response;
    this.#cursor = cursor;
    this.#notBeforeMs = notBeforeMs;
    response.once('close', () => this.end());
    // The retry delay is random, so that the clients of a restarted gateway do not all reconnect at once.
    await this.#write(`retry: ${RETRY_MS + Math.floor(Math.random() * RETRY_SPREAD_MS)}\n${this.#place()}\n`);
    while (!this.#isEnded) {
      this.#hasNews = false;
      while (await this.#pass());
      await this.#waitForNews();
    }
    response.end();
  }

  get #isEnded(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Sends the available events of every lane; true if there may be more. */
  async #pass(): Promise<boolean> {
    let count = 0;
    for (const code of this.parts.tail.codes) {
      const events = await this.parts.tail.read(code, this.#cursor.get(code) ?? 0);
      for (const event of events) {
        if (this.#isEnded) return false;
        await this.#take(code, event);
      }
      count += events.length;
    }
    return count > 0;
  }

  async #take(code: string, event: JobEvent): Promise<void> {
    const isKnown = this.#cursor.has(code);
    const before = this.#cursor.get(code) ?? 0;
    this.#cursor.set(code, event.sequence);
    // Sequences of a lane have no gaps, so the events in between are no longer stored.
    if (isKnown && event.sequence > before + 1) {
      const data = JSON.stringify({ atMost: event.sequence - before - 1 });
      await this.#write(`event: eventsMissed\ndata: ${data}\n\n`);
    }
    if (event.atMs < this.#notBeforeMs || !this.parts.wants(event)) return;
    const data = JSON.stringify(toAgentJobEvent(event, await this.parts.names.nameOf(event)));
    await this.#write(`${this.#place()}event: ${event.type}\ndata: ${data}\n\n`);
  }

  async #waitForNews(): Promise<void> {
    if (this.#hasNews || this.#isEnded) return;
    let timer: NodeJS.Timeout | undefined;
    const isQuiet = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(false);
      timer = setTimeout(() => resolve(true), this.parts.heartbeatMs);
    });
    clearTimeout(timer);
    // Sends the position: a client that filters for rare events need not read all others again after it reconnects.
    if (isQuiet) await this.#write(`: nothing new\n${this.#place()}\n`);
  }

  #place(): string {
    return `id: ${writeCursor(this.#cursor)}\n`;
  }

  async #write(text: string): Promise<void> {
    const response = this.#response;
    if (response === null || this.#isEnded || response.write(text)) return;
    const stalled = AbortSignal.timeout(this.parts.stallMs);
    try {
      await once(response, 'drain', { signal: AbortSignal.any([stalled, this.#closing.signal]) });
    } catch {
      // The buffered data would never be delivered.
      if (stalled.aborted) response.destroy();
    }
  }
}
