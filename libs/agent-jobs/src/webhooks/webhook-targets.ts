import { randomBytes } from 'node:crypto';

import { ApiKeyStore, findUrlFault, type TargetRules } from '@tollgate/common';
import { AGENT_OPERATIONS, EVENT_TYPES, type AgentOperation, type JobEventType } from '@tollgate/protocol';
import { LuaScript, type RedisClient } from '@tollgate/redis';

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
  /** Empty: all. */
  events: readonly JobEventType[];
  /** Empty: all. */
  operations: readonly AgentOperation[];
  /** An operator registered it: it receives events for the jobs of all keys. */
  hearsAll: boolean;
  /** On Redis's clock; earlier events are not posted. */
  createdAtMs: number;
  disabled: DisabledReason | null;
}

function createTargetId(): string {
  return `wh_${randomBytes(12).toString('hex')}`;
}

/** @throws TypeError for text that this class did not write */
function parseWebhookTarget(text: string): WebhookTarget {
  const value = JSON.parse(text) as Partial<Record<keyof WebhookTarget, unknown>>;
  const { id, keyId, url, events, operations, hearsAll, createdAtMs, disabled } = value;
  if (
    typeof id !== 'string' ||
    typeof keyId !== 'string' ||
    typeof url !== 'string' ||
    !isListOf(EVENT_TYPES, events) ||
    !isListOf(AGENT_OPERATIONS, operations) ||
    typeof hearsAll !== 'boolean' ||
    typeof createdAtMs !== 'number' ||
    !(disabled === null || DISABLED_REASONS.some((reason) => reason === disabled))
  ) {
    throw new TypeError('A webhook target in Redis cannot be read.');
  }
  return { id, keyId, url, events, operations, hearsAll, createdAtMs, disabled: disabled as DisabledReason | null };
}

function isListOf<T extends string>(known: readonly T[], value: unknown): value is T[] {
  return Array.isArray(value) && value.every((one) => known.some((name) => name === one));
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
  async list(keyId?: string): Promise<WebhookTarget[]> {
    const keyIds = keyId === undefined ? await this.redis.smembers(KEYS) : [keyId];
    const targets = await this.#readAll(keyIds);
    return targets.sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1));
  }

  async find({ keyId, id }: TargetName): Promise<WebhookTarget | null> {
    const text = await this.redis.hget(targetsOf(keyId), id);
    return text === null ? null : parseWebhookTarget(text);
  }

  /** Waiting deliveries for it are dropped. False: it did not exist. */
  async remove({ keyId, id }: TargetName): Promise<boolean> {
    return (await REMOVE_TARGET.run(this.redis, targetsOf(keyId), [id, keyId])) === 1;
  }

  /** The target receives events from now on. Null: it does not exist. */
  enable(name: TargetName): Promise<WebhookTarget | null> {
    return this.#change(name, null);
  }

  /** Waiting deliveries for it are dropped. Null: it does not exist. */
  disable(name: TargetName, reason: DisabledReason): Promise<WebhookTarget | null> {
    return this.#change(name, reason);
  }

  /** The targets that receive events for an API key's jobs: its own and the operators'; enabled ones only. */
  async findListeners(keyId: string): Promise<WebhookTarget[]> {
    const operators = await this.redis.smembers(OPERATORS);
    const targets = await this.#readAll([...new Set([keyId, ...operators])]);
    return targets.filter((target) => target.disabled === null && (target.hearsAll || target.keyId === keyId));
  }

  async #readAll(keyIds: readonly string[]): Promise<WebhookTarget[]> {
    const texts = await Promise.all(keyIds.map((keyId) => this.redis.hvals(targetsOf(keyId))));
    return texts.flat().map(parseWebhookTarget);
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
