import { LuaScript, type RedisClient } from '@tollgate/redis';

import addDeliveries from './scripts/add-deliveries.lua';
import claimDeliveries from './scripts/claim-deliveries.lua';
import endDelivery from './scripts/end-delivery.lua';
import listDue from './scripts/list-due.lua';
import resendLetters from './scripts/resend-letters.lua';
import { keyOf, type WebhookSubject } from './subject.js';
import type { Announced, TargetName, WebhookEvent } from './webhook-targets.js';

/** An event for one target, as a process has claimed it. */
export interface Delivery {
  readonly event: WebhookEvent;
  /** Attempts that failed. */
  readonly attempts: number;
  /** When the claim ends, in milliseconds of Redis's clock. */
  readonly until: number;
}

/** A delivery that was given up. */
export interface FailedDelivery {
  readonly target: TargetName;
  readonly event: WebhookEvent;
  readonly attempts: number;
  /** The time of the last attempt. */
  readonly failedAtMs: number;
  /** The error of the last attempt. */
  readonly reason: string;
}

const ADD_DELIVERIES = new LuaScript(addDeliveries);
const LIST_DUE = new LuaScript(listDue);
const CLAIM_DELIVERIES = new LuaScript(claimDeliveries);
const END_DELIVERY = new LuaScript(endDelivery);
const RESEND_LETTERS = new LuaScript(resendLetters);

const LETTERS_KEPT_MS = 30 * 86_400_000;
const LETTERS_OF_TARGET = 10_000;
const PAGE = 100;

/**
 * What waits for the targets of one subject, and what was given up, beside the targets in the journal's Redis. A delivery
 * waits until it is delivered, given up or dropped, or its target is disabled or removed.
 */
export class WebhookDeliveries {
  constructor(
    private readonly redis: RedisClient,
    private readonly subject: WebhookSubject,
  ) {}

  /**
   * Adds deliveries; those that wait already are not added again. Returns how many of a target's oldest were dropped.
   * @param most that wait for one target, and that are kept for all of the subject, dead letters included
   * @param moved the position of the source before and behind these events, which is moved in the same step
   * @throws Error if the stored position is another one by now: read again from there
   */
  async add(
    added: readonly { target: TargetName; announced: Announced }[],
    most: { perTarget: number; inAll: number },
    moved?: { from: number; to: number },
  ): Promise<{ target: string; dropped: number }[]> {
    const args = added.flatMap(({ target: { keyId, id }, announced: { event, order } }) => [
      ...[keyId, id, event.id, order, JSON.stringify({ attempts: 0, event })],
    ]);
    const position = moved === undefined ? ['', ''] : [moved.from, moved.to];
    const reply = (await this.#run(ADD_DELIVERIES, [most.perTarget, most.inAll, ...position, ...args])) as
      | (string | number)[]
      | null;
    if (reply === null) throw new Error('the position was moved meanwhile, by another process or a restart of Redis');
    return toPairs(reply).map(([name, dropped]) => ({ target: parseName(String(name)).id, dropped: Number(dropped) }));
  }

  /** The position that was given last; 0 without any. */
  async readPosition(): Promise<number> {
    return Number((await this.redis.get(keyOf(this.subject, 'position'))) ?? 0);
  }

  /** The targets for which something is due, the longest first, and how long until another one is. */
  async listDue(): Promise<{ due: TargetName[]; nextInMs: number }> {
    const [nextInMs, names] = (await this.#run(LIST_DUE, [])) as [number, string[]];
    return { due: names.map(parseName), nextInMs: nextInMs < 0 ? Number.POSITIVE_INFINITY : nextInMs };
  }

  /** Takes due deliveries for the time of a lease. Those that are not ended by then are due again. */
  async claim(target: TargetName, most: number, leaseMs: number): Promise<Delivery[]> {
    const claimed = (await this.#run(CLAIM_DELIVERIES, [nameOf(target), most, leaseMs])) as (string | number)[];
    return toPairs(claimed).map(([content, until]) => {
      return { ...(JSON.parse(String(content)) as Pick<Delivery, 'event' | 'attempts'>), until: Number(until) };
    });
  }

  async end(target: TargetName, { event }: Delivery): Promise<void> {
    await this.#run(END_DELIVERY, [nameOf(target), event.id]);
  }

  /** It is due again after the delay, unless another process has claimed it since. */
  async retry(target: TargetName, { event, attempts, until }: Delivery, delayMs: number): Promise<void> {
    const content = JSON.stringify({ attempts, event });
    await this.#run(END_DELIVERY, [nameOf(target), event.id, 'retry', until, content, delayMs]);
  }

  /** Keeps it as a dead letter, unless another process has claimed it since. */
  async giveUp(target: TargetName, { event, attempts, until }: Delivery, reason: string): Promise<void> {
    const letter = JSON.stringify({ event, attempts, reason });
    const limits = [LETTERS_KEPT_MS, LETTERS_OF_TARGET];
    await this.#run(END_DELIVERY, [nameOf(target), event.id, 'dead', until, letter, ...limits]);
  }

  /** How much waits for a target, was given up, and was dropped because too much waited. */
  async count(target: TargetName): Promise<{ waiting: number; dead: number; crowdedOut: number }> {
    const [waiting, dead, crowdedOut] = await Promise.all([
      this.redis.zcard(this.#keyOf('waiting', target)),
      this.redis.zcard(this.#keyOf('dead', target)),
      this.redis.hget(keyOf(this.subject, 'crowded-out'), nameOf(target)),
    ]);
    return { waiting, dead, crowdedOut: Number(crowdedOut ?? 0) };
  }

  /** The newest dead letters of these targets, newest first. */
  async listDead(targets: readonly TargetName[], limit: number): Promise<FailedDelivery[]> {
    const letters = await Promise.all(targets.map((target) => this.#readDead(target, limit)));
    return letters
      .flat()
      .sort((one, other) => other.failedAtMs - one.failedAtMs)
      .slice(0, limit);
  }

  /** Starts a dead letter again, with all attempts. False: the target has no such letter. */
  async resend(target: TargetName, eventId: string): Promise<boolean> {
    const text = await this.redis.hget(this.#keyOf('letters', target), eventId);
    return text !== null && (await this.#resend(target, [[eventId, text]])) === 1;
  }

  /** Starts all current dead letters of a target again; returns their number. */
  async resendAll(target: TargetName): Promise<number> {
    let newest: number | null = null;
    for (let resent = 0; ;) {
      // Those that are given up again meanwhile stay.
      const page = await this.#readPage(target, PAGE, newest ?? '+inf');
      const [first] = page;
      if (first === undefined) return resent;
      newest ??= first.failedAtMs;
      resent += await this.#resend(
        target,
        page.map(({ id, text }) => [id, text]),
      );
    }
  }

  /** Removes what is kept of events from before this time. */
  async removeBefore(targets: readonly TargetName[], beforeMs: number): Promise<void> {
    for (const target of targets) {
      for (const [id, text] of Object.entries(await this.redis.hgetall(this.#keyOf('events', target)))) {
        const delivery = JSON.parse(text) as Delivery;
        if (isBefore(delivery, beforeMs)) await this.#run(END_DELIVERY, [nameOf(target), id]);
      }
      for (const [id, text] of Object.entries(await this.redis.hgetall(this.#keyOf('letters', target)))) {
        if (!isBefore(JSON.parse(text) as Delivery, beforeMs)) continue;
        await this.redis.zrem(this.#keyOf('dead', target), id);
        await this.redis.hdel(this.#keyOf('letters', target), id);
      }
    }
  }

  async #readDead(target: TargetName, count: number): Promise<FailedDelivery[]> {
    const page = await this.#readPage(target, count);
    return page.flatMap(({ text, failedAtMs }) =>
      text === null ? [] : [{ ...(JSON.parse(text) as FailedDelivery), target, failedAtMs }],
    );
  }

  /** `text`: null where a copy has lost it. */
  async #readPage(target: TargetName, count: number, newest: number | '+inf' = '+inf') {
    const key = this.#keyOf('dead', target);
    const ids = await this.redis.zrevrangebyscore(key, newest, '-inf', 'WITHSCORES', 'LIMIT', 0, count);
    if (ids.length === 0) return [];
    const pairs = toPairs(ids);
    const texts = await this.redis.hmget(this.#keyOf('letters', target), ...pairs.map(([id = '']) => id));
    return pairs.map(([id = '', failedAt], index) => {
      return { id, text: texts[index] ?? null, failedAtMs: Number(failedAt) };
    });
  }

  async #resend(target: TargetName, letters: readonly (readonly [id: string, text: string | null])[]): Promise<number> {
    const restart = (text: string) =>
      JSON.stringify({ attempts: 0, event: (JSON.parse(text) as Pick<FailedDelivery, 'event'>).event });
    const args = letters.flatMap(([id, text]) => [id, text === null ? '' : restart(text)]);
    return (await this.#run(RESEND_LETTERS, [nameOf(target), ...args])) as number;
  }

  #run(script: LuaScript, args: readonly (string | number)[]): Promise<unknown> {
    return script.run(this.redis, keyOf(this.subject), args);
  }

  #keyOf(part: 'waiting' | 'events' | 'dead' | 'letters', target: TargetName): string {
    return keyOf(this.subject, `${part}:${nameOf(target)}`);
  }
}

/** As the scripts name a target. */
function nameOf({ keyId, id }: TargetName): string {
  return `${keyId}/${id}`;
}

function parseName(name: string): TargetName {
  const [keyId = '', id = ''] = name.split('/');
  return { keyId, id };
}

function toPairs<T>(flat: readonly T[]): T[][] {
  return flat.flatMap((_, index) => (index % 2 === 0 ? [flat.slice(index, index + 2)] : []));
}

function isBefore({ event }: Delivery, timeMs: number): boolean {
  return Date.parse(event.at) < timeMs;
}
