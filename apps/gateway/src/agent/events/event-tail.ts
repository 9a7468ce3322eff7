import { setTimeout as sleep } from 'node:timers/promises';

import {
  codeOfLane,
  Wakeable,
  type JobEvent,
  type Journal,
  type LaneId,
  type LaneStatus,
  type OutboxFollower,
} from '@tollgate/journal';

import { findRecent, type EventPosition } from './event-request.js';

/** Events that follow each other are read together. */
const GATHER_MS = 20;
const REFRESH_MS = 2_000;
const AFTER_TROUBLE_MS = 1_000;
const READ_AT_ONCE = 200;
const KEPT_PER_LANE = 1_000;

export interface TailListener {
  /** There are new events. */
  onAdvance(): void;
  /** The journal lost events that were already sent. `recent`: the position before those to be sent again, by lane. */
  onLoss(recent: ReadonlyMap<string, number>): void;
}

interface TailedLane {
  readonly lane: LaneId;
  /** The server's run that the positions were compared with. */
  run: string | null;
  position: number;
  /** The latest events up to `position`, without those that cannot be read. */
  recent: readonly JobEvent[];
  readonly leave: () => void;
}

/**
 * Follows the events of all lanes. One loop reads for all listeners of this process, and stops while there are none. A
 * listener that lags behind reads older events from the journal.
 */
export class EventTail {
  readonly #lanes = new Map<string, TailedLane>();
  readonly #listeners = new Set<TailListener>();
  readonly #wakeable = new Wakeable();
  #ready: Promise<void> | null = null;
  #refreshedAtMs = 0;
  #connections = 0;

  constructor(
    private readonly journal: Journal,
    private readonly follower: OutboxFollower,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  /** The codes of the known lanes. */
  get codes(): IterableIterator<string> {
    return this.#lanes.keys();
  }

  /** The current position. */
  get position(): EventPosition {
    const times = [...this.#lanes.values()].map(({ recent }) => recent.at(-1)?.atMs ?? 0);
    const cursor = new Map([...this.#lanes].map(([code, { position }]) => [code, position]));
    const latestMs = Math.max(0, ...times);
    return { cursor, latestMs, untilMs: latestMs };
  }

  /** Resolves when the lanes are known. */
  async join(listener: TailListener): Promise<void> {
    this.#listeners.add(listener);
    const ready = (this.#ready ??= this.#start());
    try {
      await ready;
    } catch (error) {
      this.leave(listener);
      if (this.#ready === ready) this.#ready = null;
      throw error;
    }
  }

  leave(listener: TailListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#wakeable.wake();
  }

  /** The events of a lane after a sequence, in order; empty if there are none yet. */
  async read(code: string, after: number): Promise<readonly JobEvent[]> {
    const tailed = this.#lanes.get(code);
    if (tailed === undefined || after >= tailed.position) return [];
    const [oldest] = tailed.recent;
    if (oldest !== undefined && oldest.sequence <= after + 1) {
      return tailed.recent.filter(({ sequence }) => sequence > after);
    }
    return this.journal.outbox.read(tailed.lane, { after, count: READ_AT_ONCE });
  }

  async #start(): Promise<void> {
    this.#stopFollowing();
    this.#lanes.clear();
    await this.#refresh({ isFirst: true });
    void this.#run();
  }

  async #run(): Promise<void> {
    while (this.#listeners.size > 0) {
      try {
        if (this.#isRefreshDue()) await this.#refresh({ isFirst: false });
        const counts = await Promise.all([...this.#lanes.values()].map((tailed) => this.#advance(tailed)));
        if (counts.some((count) => count > 0)) for (const listener of this.#listeners) listener.onAdvance();
        if (counts.includes(READ_AT_ONCE)) continue;
        await this.#wakeable.sleep(REFRESH_MS);
        await sleep(GATHER_MS);
      } catch (error) {
        this.onTrouble(error);
        await sleep(AFTER_TROUBLE_MS);
        // Redis may have come back with older data, which must be noticed before new events reuse the sequences of lost
        // ones; so too after another connection.
        this.#refreshedAtMs = Number.NEGATIVE_INFINITY;
      }
    }
    this.#stopFollowing();
    this.#ready = null;
  }

  #isRefreshDue(): boolean {
    return performance.now() - this.#refreshedAtMs > REFRESH_MS || this.#connections !== this.follower.connections;
  }

  async #advance(tailed: TailedLane): Promise<number> {
    const events = await this.journal.outbox.read(tailed.lane, { after: tailed.position, count: READ_AT_ONCE });
    const [first, last] = [events.at(0), events.at(-1)];
    if (first === undefined || last === undefined) return 0;
    const isContinued = first.sequence === tailed.position + 1;
    tailed.recent = [...(isContinued ? tailed.recent : []), ...events].slice(-KEPT_PER_LANE);
    tailed.position = last.sequence;
    return events.length;
  }

  /** Finds new lanes, of which all events are new, and lanes whose Redis went back to an older state. */
  async #refresh({ isFirst }: { isFirst: boolean }): Promise<void> {
    this.#connections = this.follower.connections;
    const lanes = await this.journal.readLanes();
    const statuses = await Promise.all(lanes.map((lane) => this.journal.readLane(lane)));
    const recent = new Map<string, number>();
    for (const status of statuses) {
      const { lane, lastSequence, run } = status;
      const code = codeOfLane(lane);
      const known = this.#lanes.get(code);
      if (known === undefined) await this.#follow(status, isFirst ? lastSequence : 0);
      else if (lastSequence < known.position || (run !== known.run && (await this.#hasLost(known)))) {
        recent.set(code, await findRecent(this.journal, lane, lastSequence));
        known.leave();
        await this.#follow(status, lastSequence);
      } else known.run = run;
    }
    this.#refreshedAtMs = performance.now();
    if (recent.size > 0) for (const listener of this.#listeners) listener.onLoss(recent);
  }

  /** After a restart: other events may have the sequences of lost ones by now. */
  async #hasLost({ lane, recent }: TailedLane): Promise<boolean> {
    const after = (recent[0]?.sequence ?? 1) - 1;
    const stored = await this.journal.outbox.read(lane, { after, count: recent.length });
    const ids = new Set(stored.map(({ id }) => id));
    return recent.some(({ id }) => !ids.has(id));
  }

  async #follow({ lane, run }: LaneStatus, position: number): Promise<void> {
    // The last one shows after a restart whether it is still there.
    const recent = position === 0 ? [] : await this.journal.outbox.read(lane, { after: position - 1, count: 1 });
    const leave = this.follower.join(lane, position, () => this.#wakeable.wake());
    this.#lanes.set(codeOfLane(lane), { lane, run, position, recent, leave });
  }

  #stopFollowing(): void {
    for (const { leave } of this.#lanes.values()) leave();
  }
}
