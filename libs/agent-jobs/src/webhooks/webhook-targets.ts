import { randomBytes } from 'node:crypto';

import { ApiKeyStore, findUrlFault, type TargetRules } from '@tollgate/common';
import type { AgentOperation, JobEventType } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';
import { z } from 'zod';

import addTarget from './scripts/add-target.lua';
import changeTarget from './scripts/change-target.lua';
import removeTarget from './scripts/remove-target.lua';

/**
 * Why a target receives no events. `gone`: it answered 410. `key_revoked`: the API key that registered it was revoked.
 */
export const DISABLED_REASONS = ['by_owner', 'gone', 'key_revoked'] as const;
type DisabledReason = (typeof DISABLED_REASONS)[number];

/** An address to which events are posted. Its secret is derived from its id, and stored nowhere. */
export interface WebhookTarget {
  /** `wh_` and 24 hexadecimal digits; not secret. */
  id: string;
  /** The API key that registered it, and whose jobs it receives events for. */
  keyId: string;
  url: string;
  /** Empty: all. A word that only a later release knows matches nothing. */
  events: readonly string[];
  /** Empty: all. */
  operations: readonly string[];
  /** An operator registered it: it receives events for the jobs of all keys. */
  hearsAll: boolean;
  /** On Redis's clock; earlier events are not posted. */
  createdAtMs: number;
  disabled: DisabledReason | null;
}

function createTargetId(): string {
  return `wh_${randomBytes(12).toString('hex')}`;
}

const storedTarget = z.object({
  id: z.string(),
  keyId: z.string(),
  url: z.string(),
  // Not only the known words: what a later release has stored must remain readable.
  events: z.array(z.string()),
  operations: z.array(z.string()),
  hearsAll: z.boolean(),
  createdAtMs: z.int(),
  disabled: z.enum(DISABLED_REASONS).nullable(),
});

/** Null when the entry is damaged or foreign. */
function parseWebhookTarget({ keyId, id }: TargetName, text: string): WebhookTarget | null {
  try {
    const target = storedTarget.parse(JSON.parse(text));
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

const KEYS = 'tollgate:{webhooks}:keys';
const OPERATORS = 'tollgate:{webhooks}:operators';

export interface NewWebhookTarget {
  /** The API key that registers it. */
  keyId: string;
  url: string;
  /** Omitted or empty: all. */
  events?: readonly JobEventType[];
  operations?: readonly AgentOperation[];
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

/** The webhook targets, stored in the journal's Redis. */
export class WebhookTargets {
  readonly #apiKeys: ApiKeyStore;

  constructor(
    private readonly redis: RedisClient,
    private readonly options: WebhookTargetsOptions = {},
  ) {
    this.#apiKeys = new ApiKeyStore(redis);
  }

  /** The address is resolved and checked now, and again at every delivery. */
  async register({ keyId, url, events = [], operations = [] }: NewWebhookTarget): Promise<RegisterResult> {
    const { rules = { allowPrivateTargets: false }, limit = 10 } = this.options;
    const reason = await findUrlFault(url, rules);
    if (reason !== null) return { outcome: 'refused', reason };
    const [key, [seconds, microseconds]] = await Promise.all([this.#apiKeys.read(keyId), this.redis.time()]);
    const target: WebhookTarget = {
      id: createTargetId(),
      keyId,
      url,
      events: [...new Set(events)],
      operations: [...new Set(operations)],
      hearsAll: key?.scopes.includes('operator') ?? false,
      createdAtMs: Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000),
      disabled: null,
    };
    const args = [target.id, JSON.stringify(target), limit, keyId, target.hearsAll ? 1 : 0];
    const added = await ADD_TARGET.run(this.redis, targetsOf(keyId), args);
    return added === 1 ? { outcome: 'registered', target } : { outcome: 'full', limit };
  }

  /** The targets of one API key, or all; oldest first. */
  async list(keyId?: string): Promise<FoundTargets> {
    const keyIds = keyId === undefined ? await this.redis.smembers(KEYS) : [keyId];
    const { targets, unreadable } = await this.#readAll(keyIds);
    targets.sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1));
    return { targets, unreadable };
  }

  /** @throws UnreadableTargetError */
  async find(name: TargetName): Promise<WebhookTarget | null> {
    const text = await this.redis.hget(targetsOf(name.keyId), name.id);
    if (text === null) return null;
    const target = parseWebhookTarget(name, text);
    if (target === null) throw new UnreadableTargetError(name.id);
    return target;
  }

  /** Waiting deliveries for it are dropped. False: it did not exist. */
  async remove({ keyId, id }: TargetName): Promise<boolean> {
    return (await REMOVE_TARGET.run(this.redis, targetsOf(keyId), [id, keyId])) === 1;
  }

  /**
   * The target receives events from now on. Null: it does not exist.
   * @throws UnreadableTargetError
   */
  enable(name: TargetName): Promise<WebhookTarget | null> {
    return this.#change(name, null);
  }

  /** Waiting deliveries for it are dropped. Null: it does not exist. */
  disable(name: TargetName, reason: DisabledReason): Promise<WebhookTarget | null> {
    return this.#change(name, reason);
  }

  /** The targets that receive events for an API key's jobs: its own and the operators'; enabled ones only. */
  async findListeners(keyId: string): Promise<FoundTargets> {
    const operators = await this.redis.smembers(OPERATORS);
    const { targets, unreadable } = await this.#readAll([...new Set([keyId, ...operators])]);
    const isListening = (target: WebhookTarget) =>
      target.disabled === null && (target.hearsAll || target.keyId === keyId);
    return { targets: targets.filter(isListening), unreadable };
  }

  async #readAll(keyIds: readonly string[]): Promise<FoundTargets> {
    const found: FoundTargets = { targets: [], unreadable: [] };
    const readOf = async (keyId: string) =>
      Object.entries(await this.redis.hgetall(targetsOf(keyId))).map(([id, text]) => ({ keyId, id, text }));
    for (const { text, ...name } of (await Promise.all(keyIds.map(readOf))).flat()) {
      const target = parseWebhookTarget(name, text);
      if (target === null) found.unreadable.push(name);
      else found.targets.push(target);
    }
    return found;
  }

  async #change(name: TargetName, disabled: DisabledReason | null): Promise<WebhookTarget | null> {
    const target = await this.find(name);
    if (!target) return null;
    const changed: WebhookTarget = { ...target, disabled };
    const args = [name.id, JSON.stringify(changed)];
    return (await CHANGE_TARGET.run(this.redis, targetsOf(name.keyId), args)) === 1 ? changed : null;
  }
}

function targetsOf(keyId: string): string {
  return `tollgate:{webhooks}:of:${keyId}`;
}
