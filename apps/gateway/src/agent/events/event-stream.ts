import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

import { toAgentJobEvent } from '@tollgate/agent-jobs';
import type { JobEvent } from '@tollgate/transactions';

import { writeCursor } from './event-cursor.js';
import type { EventStart } from './event-request.js';
import type { EventTail, TailListener } from './event-tail.js';
import type { WalletNames } from './wallet-names.js';

export interface EventStreamParts {
  readonly tail: EventTail;
  readonly names: WalletNames;
  readonly wants: (event: JobEvent) => boolean;
  readonly heartbeatMs: number;
  /** After so long without taking anything the client is cut; nothing is kept for it meanwhile. */
  readonly stallMs: number;
}

const RETRY_MS = 1_000;
const RETRY_SPREAD_MS = 2_000;

/** Events to one client. It asks the tail for more when the client has taken what there was, so memory stays bounded. */
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

  /** The client may come back and go on where it was. */
  end(): void {
    this.#closing.abort();
    this.#wake();
    this.#response?.end();
  }

  /** Sends events until one side ends it; `response` has its head already. */
  async run(response: ServerResponse, { cursor, notBeforeMs }: EventStart): Promise<void> {
    this.#response = response;
    this.#cursor = cursor;
    this.#notBeforeMs = notBeforeMs;
    response.once('close', () => this.end());
    // Spread, so that the clients of a gateway that restarts do not all come back at once.
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

  /** Sends what there is of every lane; true when there may be more. */
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
    // Every event of a lane has the next number: what lies between is no longer kept.
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
    // With its place: a client that waits for something rare need not read all else again when it comes back.
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
      // What waits in the socket would never get there.
      if (stalled.aborted) response.destroy();
    }
  }
}
