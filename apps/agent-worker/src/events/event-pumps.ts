import { once } from 'node:events';

import { toAgentJobEvent } from '@tollgate/agent-jobs';
import { REDIS_LOGGER } from '@tollgate/common';
import {
  consumeOutbox,
  OutboxFollower,
  Wakeable,
  type EventPage,
  type JobEvent,
  type Journal,
  type LaneId,
} from '@tollgate/journal';
import { connectRedis } from '@tollgate/redis';
import { NestPublisher } from '@tollgate/transport';

/** One destination for the events of all wallets. Each lane stores its position under this name. */
export interface EventConsumer {
  /** Must never change: Redis stores the position of the last event under this name. */
  readonly name: string;
  /**
   * Receives a lane's next events, in order. They count as delivered once this resolves. After an error or a crash all
   * of them are delivered again, with the same ids.
   */
  take(events: readonly JobEvent[], wallet: string): Promise<void>;
}

/** Publishes the events of jobs to Nest services. */
export class NestEvents implements EventConsumer {
  readonly name = 'nest-events';
  readonly #publisher: NestPublisher;

  /** @param redisUrl the Redis of the queues */
  constructor(redisUrl: string) {
    this.#publisher = new NestPublisher(redisUrl);
  }

  /** Resolves when Redis has accepted all of them. */
  take(events: readonly JobEvent[], wallet: string): Promise<void> {
    return this.#publisher.publish(events.map((event) => toAgentJobEvent(event, wallet)));
  }

  close(): Promise<void> {
    return this.#publisher.close();
  }
}

/** Wakes the event pumps of this process. */
export class EventBell extends OutboxFollower {
  constructor(redisUrl: string, onTrouble: (error: unknown) => void) {
    super(connectRedis({ url: redisUrl, role: 'event-bell', use: 'blocking', logger: REDIS_LOGGER }), onTrouble);
  }
}

export interface EventPumpsOptions {
  journal: Journal;
  bell: EventBell;
  consumers: readonly EventConsumer[];
  /** Called once per run of identical failures of a consumer; the failed delivery is repeated. */
  onTrouble: (error: unknown) => void;
  onTaken?: (consumer: string, events: readonly JobEvent[]) => void;
}

/** The lane that this process holds; see `LaneRunnerOptions.whileHeld`. */
export interface ServedLane {
  lane: LaneId;
  signal: AbortSignal;
}

const BATCH = 100;
/** The bell may miss an event: without it, events are polled at this interval. */
const LOOK_EVERY_MS = 5_000;
/** A consumer that does not finish must not keep the lane from its next holder. */
const LEAVE_WITHIN_MS = 3_000;

/**
 * Delivers the events of each held lane to every consumer, in order and at least once. Each consumer has its own pace:
 * one that fails or hangs delays neither the others nor the lane's jobs.
 */
export class EventPumps {
  readonly #running = new Map<ServedLane, string>();

  constructor(private readonly options: EventPumpsOptions) {}

  /** The lanes whose events this process delivers, with their wallets. */
  get lanes(): { lane: LaneId; wallet: string }[] {
    return [...this.#running].map(([{ lane }, wallet]) => ({ lane, wallet }));
  }

  get consumers(): readonly EventConsumer[] {
    return this.options.consumers;
  }

  /** For `LaneRunnerOptions.whileHeld`; resolves soon after the signal is aborted. */
  async run(held: ServedLane, wallet: string): Promise<void> {
    const { journal, bell, consumers, onTrouble } = this.options;
    const served = consumers.map((consumer) => ({ consumer, wakeable: new Wakeable() }));
    this.#running.set(held, wallet);
    // Without the last sequence the bell would ring for all stored events.
    const lastSequence = await journal.readLane(held.lane).then(
      (status) => status.lastSequence,
      (error: unknown) => {
        onTrouble(error);
        return 0;
      },
    );
    const leave = bell.join(held.lane, lastSequence, () => {
      for (const { wakeable } of served) wakeable.wake();
    });
    try {
      const ended = Promise.all(served.map(({ consumer, wakeable }) => this.#serve(held, consumer, wallet, wakeable)));
      if (!held.signal.aborted) await once(held.signal, 'abort');
      const enough = new Wakeable();
      await Promise.race([ended, enough.sleep(LEAVE_WITHIN_MS)]);
      enough.wake();
    } finally {
      leave();
      this.#running.delete(held);
    }
  }

  #serve({ lane, signal }: ServedLane, consumer: EventConsumer, wallet: string, wakeable: Wakeable): Promise<void> {
    return consumeOutbox({
      pass: async () => (await this.#handOn(lane, consumer, wallet)).events.length === BATCH,
      onTrouble: (error) => this.options.onTrouble(describeTrouble(consumer, wallet, error)),
      wakeable,
      signal,
      lookEveryMs: LOOK_EVERY_MS,
    });
  }

  async #handOn(lane: LaneId, consumer: EventConsumer, wallet: string): Promise<EventPage> {
    const { outbox } = this.options.journal;
    // Read each time: Redis may have lost events since, whose sequences others have now.
    const { position: after, run } = await outbox.addConsumer(lane, consumer.name);
    const page = await outbox.readPage(lane, { after, count: BATCH });
    const { events, upTo, unread } = page;
    if (upTo === after) return page;
    if (events.length > 0) await consumer.take(events, wallet);
    if (!(await outbox.acknowledge(lane, consumer.name, upTo, run))) {
      throw new Error('Redis restarted meanwhile: what it has now is delivered again');
    }
    if (events.length > 0) this.options.onTaken?.(consumer.name, events);
    if (unread > 0) {
      const reason = `${unread} of those up to ${upTo} cannot be read, and are left out`;
      this.options.onTrouble(describeTrouble(consumer, wallet, new Error(reason)));
    }
    return page;
  }
}

function describeTrouble({ name }: EventConsumer, wallet: string, cause: Error): Error {
  return new Error(`events of wallet ${wallet} do not reach ${name}: ${cause.message}`, { cause });
}
