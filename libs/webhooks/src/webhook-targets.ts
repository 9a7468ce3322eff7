import { randomBytes } from 'node:crypto';

import { type TargetRules, assertPublicTarget, TargetRefusedError } from '@tollgate/http';
import { LuaScript, type RedisClient } from '@tollgate/redis';
import { z } from 'zod';

import addTarget from './scripts/add-target.lua';
import changeTarget from './scripts/change-target.lua';
import removeTarget from './scripts/remove-target.lua';
import { keyOf, type WebhookSubject } from './subject.js';

/**
 * Why a target receives no events. `gone`: it answered 410. `key_revoked`: the API key that registered it was revoked.
 */
export const DISABLED_REASONS = ['by_owner', 'gone', 'key_revoked'] as const;
type DisabledReason = (typeof DISABLED_REASONS)[number];

/** An address to which events are posted. Its secret is derived from its id, and stored nowhere. */
const webhookTarget = z.object({
  /** `wh_` and 24 hexadecimal digits; not secret. */
  id: z.string(),
  /** The API key that registered it, and whose events it receives. */
  keyId: z.string(),
  url: z.string(),
  /** Empty: all. Any words: one that only a later release knows must remain readable, and matches nothing. */
  events: z.array(z.string()).readonly(),
  /** Empty: all. */
  operations: z.array(z.string()).readonly(),
  /** It receives the events of all keys. */
  hearsAll: z.boolean(),
  /** On Redis's clock. */
  createdAtMs: z.int(),
  /** The least order of an event that it receives: events from before its registration are not posted. */
  from: z.int(),
  disabled: z.enum(DISABLED_REASONS).nullable(),
});
export type WebhookTarget = z.output<typeof webhookTarget>;

/** Null when the entry is damaged or foreign. */
function parseWebhookTarget({ keyId, id }: TargetName, text: string): WebhookTarget | null {
  try {
    const target = webhookTarget.parse(JSON.parse(text));
    return target.keyId === keyId && target.id === id ? target : null;
  } catch {
    return null;
  }
}

/** Redis has this target, but its entry is damaged or foreign. It can be removed. */
export class UnreadableTargetError extends Error {
  override readonly name = 'UnreadableTargetError';

  constructor(id: string) {
    super(`The webhook target ${id} cannot be read. Remove it, and register it again.`);
  }
}

const ADD_TARGET = new LuaScript(addTarget);
const CHANGE_TARGET = new LuaScript(changeTarget);
const REMOVE_TARGET = new LuaScript(removeTarget);

export interface NewWebhookTarget {
  /** The API key that registers it. */
  keyId: string;
  url: string;
  hearsAll: boolean;
  /** Omitted or empty: all. */
  events?: readonly string[];
  operations?: readonly string[];
  /** Omitted: the time of the registration. */
  from?: number;
}

export type RegisterResult =
  | { outcome: 'registered'; target: WebhookTarget }
  /** `reason`: a sentence for the registrant. */
  | { outcome: 'refused'; reason: string }
  | { outcome: 'full'; limit: number };

export interface WebhookTargetsOptions {
  /** Which addresses may be registered; if omitted, public ones over https. */
  rules?: TargetRules;
  /** The limit of targets per API key. Default 10. */
  limit?: number;
}

/** A target together with its owner's key: the targets of other keys are out of reach. */
export type TargetName = Pick<WebhookTarget, 'keyId' | 'id'>;

export interface FoundTargets {
  targets: WebhookTarget[];
  /** Those whose entries are damaged or foreign, in any order: they receive no events, and can be removed. */
  unreadable: TargetName[];
}

/** What is posted, as JSON, with what the filters of a target look at. */
export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly operation?: string;
  /** ISO 8601. */
  readonly at: string;
}

/** An event with what decides who receives it. */
export interface Announced {
  /** The API key that it belongs to; null: only those who hear all receive it. */
  readonly keyId: string | null;
  /** Grows from event to event, such as their time; the oldest are dropped first. */
  readonly order: number;
  readonly event: WebhookEvent;
}

/** The webhook targets of one subject, stored in the journal's Redis. */
export class WebhookTargets {
  constructor(
    private readonly redis: RedisClient,
    readonly subject: WebhookSubject,
    private readonly options: WebhookTargetsOptions = {},
  ) {}

  /** The address is resolved and checked now, and again at every delivery. */
  async register(wanted: NewWebhookTarget): Promise<RegisterResult> {
    const { keyId, url, hearsAll, events = [], operations = [] } = wanted;
    const { rules = { allowPrivateTargets: false }, limit = 10 } = this.options;
    const reason = await findUrlFault(url, rules);
    if (reason !== null) return { outcome: 'refused', reason };
    const [seconds, microseconds] = await this.redis.time();
    const createdAtMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
    const target: WebhookTarget = {
      id: `wh_${randomBytes(12).toString('hex')}`,
      keyId,
      url,
      events: [...new Set(events)],
      operations: [...new Set(operations)],
      hearsAll,
      createdAtMs,
      from: wanted.from ?? createdAtMs,
      disabled: null,
    };
    const added = await this.#run(ADD_TARGET, [target.id, JSON.stringify(target), limit, keyId, hearsAll ? 1 : 0]);
    return added === 1 ? { outcome: 'registered', target } : { outcome: 'full', limit };
  }

  /** The targets of one API key, or all; oldest first. */
  async list(keyId?: string): Promise<FoundTargets> {
    const keyIds = keyId === undefined ? await this.redis.smembers(keyOf(this.subject, 'keys')) : [keyId];
    const { targets, unreadable } = await this.#readAll(keyIds);
    targets.sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1));
    return { targets, unreadable };
  }

  /** @throws UnreadableTargetError */
  async find(name: TargetName): Promise<WebhookTarget | null> {
    const text = await this.redis.hget(this.#targetsOf(name.keyId), name.id);
    if (text === null) return null;
    const target = parseWebhookTarget(name, text);
    if (target === null) throw new UnreadableTargetError(name.id);
    return target;
  }

  /** Nothing is kept of it: neither what waits nor its dead letters. False: it did not exist. */
  async remove({ keyId, id }: TargetName): Promise<boolean> {
    return (await this.#run(REMOVE_TARGET, [keyId, id])) === 1;
  }

  /**
   * The target receives events from now on. Null: it does not exist.
   * @throws UnreadableTargetError
   */
  async enable(name: TargetName): Promise<WebhookTarget | null> {
    const target = await this.find(name);
    if (!target) return null;
    const enabled: WebhookTarget = { ...target, disabled: null };
    return (await this.#change(enabled)) === null ? null : enabled;
  }

  /**
   * What waits for it is dropped; its dead letters stay.
   * @param target as it was read
   * @param eventId only while this event waits for it: one that was dropped meanwhile says nothing of the target now
   * @returns how many were dropped; null: it does not exist, or was enabled or disabled meanwhile
   */
  disable(target: WebhookTarget, disabled: DisabledReason, eventId = ''): Promise<number | null> {
    return this.#change({ ...target, disabled }, JSON.stringify(target), eventId);
  }

  /**
   * The targets that receive events of an API key: its own and those that hear all; enabled ones only.
   * @param keyId null: only those that hear all
   */
  async findListeners(keyId: string | null): Promise<FoundTargets> {
    const hearAll = await this.redis.smembers(keyOf(this.subject, 'hear-all'));
    const own = keyId === null ? [] : [keyId];
    const { targets, unreadable } = await this.#readAll([...new Set([...own, ...hearAll])]);
    const isListening = (target: WebhookTarget) =>
      target.disabled === null && (target.hearsAll || target.keyId === keyId);
    return { targets: targets.filter(isListening), unreadable };
  }

  async #readAll(keyIds: readonly string[]): Promise<FoundTargets> {
    const found: FoundTargets = { targets: [], unreadable: [] };
    const readOf = async (keyId: string) =>
      Object.entries(await this.redis.hgetall(this.#targetsOf(keyId))).map(([id, text]) => ({ keyId, id, text }));
    for (const { text, ...name } of (await Promise.all(keyIds.map(readOf))).flat()) {
      const target = parseWebhookTarget(name, text);
      if (target === null) found.unreadable.push(name);
      else found.targets.push(target);
    }
    return found;
  }

  async #change(target: WebhookTarget, ...disabling: string[]): Promise<number | null> {
    const args = [target.keyId, target.id, JSON.stringify(target), ...disabling];
    const dropped = (await this.#run(CHANGE_TARGET, args)) as number;
    return dropped < 0 ? null : dropped;
  }

  #run(script: LuaScript, args: readonly (string | number)[]): Promise<unknown> {
    return script.run(this.redis, keyOf(this.subject), args);
  }

  #targetsOf(keyId: string): string {
    return keyOf(this.subject, `of:${keyId}`);
  }
}

/** Whether an enabled target that may receive the event wants it. */
export function isWanted({ events, operations, from }: WebhookTarget, { order, event }: Announced): boolean {
  return (
    order >= from &&
    (events.length === 0 || events.includes(event.type)) &&
    (operations.length === 0 || (event.operation !== undefined && operations.includes(event.operation)))
  );
}

const URL_MAX = 2_048;

/** Why events cannot be posted to the URL, as a sentence for the registrant; null: they can. */
async function findUrlFault(url: string, rules: TargetRules): Promise<string | null> {
  if (url.length > URL_MAX) return `The URL is longer than ${URL_MAX} characters.`;
  try {
    await assertPublicTarget(url, rules);
    return null;
  } catch (error) {
    if (error instanceof TargetRefusedError) return error.message;
    throw error;
  }
}
