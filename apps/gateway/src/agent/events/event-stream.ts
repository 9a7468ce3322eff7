import type { ServerResponse } from 'node:http';

import { toAgentJobEvent } from '@tollgate/agent-jobs';
import { EventStreamResponse, type EventStreamLimits } from '@tollgate/http';
import { type JobEvent, nameLane } from '@tollgate/journal';

import type { AgentConnections } from '../shared/agent-connections.js';
import { writePosition, type EventPosition } from './event-request.js';
import type { EventTail, TailListener } from './event-tail.js';

export interface EventStreamParts extends EventStreamLimits {
  readonly tail: EventTail;
  readonly names: WalletNames;
  readonly wants: (event: JobEvent) => boolean;
}

/**
 * Sends events to one client. It reads more from the tail only when the client has received the previous ones, so
 * memory stays bounded.
 */
export class EventStream implements TailListener {
  readonly #stream: EventStreamResponse;
  #cursor = new Map<string, number>();
  #latestMs = 0;
  #untilMs = 0;

  constructor(private readonly parts: EventStreamParts) {
    this.#stream = new EventStreamResponse(parts);
  }

  onAdvance(): void {
    this.#stream.wake();
  }

  /** The client reconnects, and continues from before what it may have missed. */
  onLoss(recent: ReadonlyMap<string, number>): void {
    for (const [code, sequence] of recent) this.#move(code, Math.min(this.#cursor.get(code) ?? 0, sequence));
    void this.#stream.write(`: events were lost\nid: ${this.#position}\n\n`);
    this.end();
  }

  /** Ends the stream. The client may reconnect and continue from its position. */
  end(): void {
    this.#stream.end();
  }

  /** Sends events until one side ends the stream. The head of `response` has already been written. */
  async run(response: ServerResponse, { cursor, latestMs, untilMs }: EventPosition): Promise<void> {
    this.#cursor = cursor;
    this.#latestMs = latestMs;
    this.#untilMs = untilMs;
    const position = (): string => this.#position;
    await this.#stream.run(response, position, async () => {
      while (await this.#pass());
    });
  }

  get #position(): string {
    return writePosition({ cursor: this.#cursor, latestMs: this.#latestMs, untilMs: this.#untilMs });
  }

  /** Sends the available events of every lane; true if there may be more. */
  async #pass(): Promise<boolean> {
    const { tail } = this.parts;
    const goal = tail.position;
    let count = 0;
    for (const code of tail.codes) {
      const events = await tail.read(code, this.#cursor.get(code) ?? 0);
      for (const event of events) {
        if (this.#stream.isEnded) return false;
        await this.#take(code, event);
      }
      count += events.length;
    }
    const hasReached = [...goal.cursor].every(([code, sequence]) => (this.#cursor.get(code) ?? 0) >= sequence);
    if (hasReached) this.#untilMs = goal.untilMs;
    return count > 0;
  }

  async #take(code: string, event: JobEvent): Promise<void> {
    const { sequence } = event;
    const before = this.#cursor.get(code);
    this.#move(code, sequence);
    this.#latestMs = Math.max(this.#latestMs, event.atMs);
    // Sequences of a lane have no gaps: the events in between are no longer stored, or cannot be read.
    if (before !== undefined && sequence > before + 1) {
      const data = JSON.stringify({ atMost: sequence - before - 1 });
      await this.#stream.write(`event: eventsMissed\ndata: ${data}\n\n`);
    }
    if (!this.parts.wants(event)) return;
    const data = JSON.stringify(toAgentJobEvent(event, await this.parts.names.nameOf(event)));
    await this.#stream.write(`id: ${this.#position}\nevent: ${event.type}\ndata: ${data}\n\n`);
  }

  /** Puts the lane last, among those of the latest events. */
  #move(code: string, sequence: number): void {
    this.#cursor.delete(code);
    this.#cursor.set(code, sequence);
  }
}

const KEPT_MS = 10_000;

/** Finds the wallet names for the accounts in the journal's events. */
export class WalletNames {
  #names: ReadonlyMap<string, string | null> = new Map();
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly connections: AgentConnections) {}

  /** The wallet's name as used by the job's submitter; the account if the job is no longer stored. */
  async nameOf({ lane, jobId }: JobEvent): Promise<string> {
    const account = nameLane(lane);
    await this.#refresh();
    const name = this.#names.get(account);
    if (typeof name === 'string') return name;
    const job = await this.connections.journal.readJob(jobId);
    return job?.wallet ?? account;
  }

  /** Null marks an account with several names. */
  async #refresh(): Promise<void> {
    if (performance.now() - this.#readAtMs < KEPT_MS) return;
    const wallets = await this.connections.within(this.connections.wallets.list());
    const names = new Map<string, string | null>();
    for (const { name, lane } of wallets) names.set(nameLane(lane), names.has(nameLane(lane)) ? null : name);
    this.#names = names;
    this.#readAtMs = performance.now();
  }
}
