import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ClientProxy, type ReadPacket, type WritePacket } from '@nestjs/microservices';
import { REDIS_LOGGER as logger } from '@tollgate/common';
import { currentRequestId } from '@tollgate/http';
import { connectRedis, explainRedisRefusals, LuaScript, RedisClock, type RedisClient } from '@tollgate/redis';

import {
  createQueueKeys,
  MAX_ENVELOPE_LENGTH,
  MAX_PUSH,
  parseReply,
  routeRequests,
  type QueueKeys,
  type ReplyEnvelope,
  type RequestEnvelope,
} from './envelope.js';
import { PendingRequests, type PendingRequest } from './pending-requests.js';
import { PopLoop } from './pop-loop.js';
import pushRequests from './push-requests.lua';
import { NoReplyError, QueueFullError, RequestFailedError } from './request-reply-error.js';
import { TurnBatch } from './turn-batch.js';

export interface RequestReplyClientOptions {
  redisUrl: string;
  queue: string;
  /** The most requests in the list, over all clients; also the most waiting in this process while Redis is down. */
  queueLimit?: number;
  /** For send(), which takes no options. */
  timeoutMs?: number;
}

export interface AskOptions {
  timeoutMs: number;
  /**
   * Repeats the request, with the same data and id, after this time without a reply; never if omitted. Once the reply
   * has come, copies still in the list are removed.
   */
  retryAfterMs?: number;
  /**
   * Removes the request from the queue at its deadline; `NoReplyError.isUntaken` then says that no server had taken it.
   */
  isTakenBack?: boolean;
  /** Only servers with this routing key take the request. Every list has the queue's limit. */
  routingKey?: string;
  /** Added to the server's log lines; by default the request id of the log context. */
  requestId?: string;
}

type Outcome = ReplyEnvelope | Error;

interface Pushed {
  text: string;
  list: string;
}

interface Outgoing extends Pushed {
  id: string;
  again: boolean;
}

const PUSH_REQUESTS = new LuaScript(pushRequests);
const REPEAT_FAILED_PUSH_MS = 250;
const TAKE_BACK_WITHIN_MS = 500;

/**
 * Sends requests to the servers of a queue. Each is handled by exactly one server, unless it is repeated. `ask()` is
 * the direct way; `send()` and `emit()` are Nest's.
 */
@Injectable()
export class RequestReplyClient extends ClientProxy implements OnApplicationShutdown {
  /**
   * Counts since the start, for metrics. `strayReplies`: replies to requests that had been answered or had timed out.
   */
  readonly counts = { asked: 0, askedAgain: 0, queueFull: 0, noReply: 0, strayReplies: 0 };
  readonly #logger = new Logger(RequestReplyClient.name);
  readonly #options: Required<RequestReplyClientOptions>;
  readonly #keys: QueueKeys;
  readonly #clientId = randomBytes(12).toString('base64url');
  readonly #pending: PendingRequests;
  readonly #outgoing = new TurnBatch<Outgoing>((batch) => this.#push(batch));
  /** Repeated requests that have their reply. */
  readonly #answered = new TurnBatch<Pushed>((pushed) => this.#removeCopies(pushed));
  #count = 0;
  #unpushed = 0;
  #connecting: Promise<void> | null = null;
  #ready = false;
  #closed = false;
  #failing = false;
  #commands: RedisClient | null = null;
  #blocking: RedisClient | null = null;
  #clock: RedisClock | null = null;
  #loop: PopLoop | null = null;

  constructor(options: RequestReplyClientOptions) {
    super();
    this.#options = { queueLimit: 1000, timeoutMs: 10_000, ...options };
    this.#keys = createQueueKeys(options.queue);
    this.#pending = new PendingRequests(
      (id, { text, list }) => {
        this.counts.askedAgain++;
        this.#outgoing.add({ id, text, list, again: true });
      },
      async (request) => {
        this.counts.noReply++;
        return new NoReplyError(options.queue, 'the deadline passed', await this.#takeBack(request));
      },
    );
  }

  /** The number of requests without a reply. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Resolves when the queue's Redis has answered once; later losses are repaired in the background.
   * @throws StoreError when Redis refuses this user or shows a certificate that is not accepted
   */
  async connect(): Promise<void> {
    if (this.#ready) return;
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = null));
    return this.#connecting;
  }

  /**
   * Sends a request and returns the handler's answer.
   *
   * @throws QueueFullError at once when the queue has no room; nothing was sent
   * @throws NoReplyError when no answer came within `timeoutMs`, also because Redis is down
   * @throws RequestFailedError when the handler threw, or no server has a handler for the pattern
   */
  ask<TAnswer, TData = unknown>(pattern: string, data: TData, options: AskOptions): Promise<TAnswer> {
    return new Promise((resolve, reject) => {
      this.#request(pattern, data, options, (outcome) => {
        if (outcome instanceof Error) reject(outcome);
        else if ('error' in outcome) reject(new RequestFailedError(outcome.error));
        else resolve(outcome.data as TAnswer);
      });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pending.settleAll(new NoReplyError(this.#options.queue, 'this process is stopping'));
    await this.#loop?.stop();
    this.#disconnect();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  override unwrap<T>(): T {
    return [this.#commands, this.#blocking] as T;
  }

  protected override publish(packet: ReadPacket, callback: (packet: WritePacket) => void): () => void {
    const options = { timeoutMs: this.#options.timeoutMs };
    const id = this.#request(this.normalizePattern(packet.pattern as string), packet.data, options, (outcome) => {
      if (outcome instanceof Error) callback({ err: outcome });
      else if ('error' in outcome) callback({ err: new RequestFailedError(outcome.error) });
      else callback({ response: outcome.data, isDisposed: true });
    });
    return () => this.#pending.forget(id);
  }

  protected override async dispatchEvent<T>(packet: ReadPacket): Promise<T> {
    const event = this.#createEnvelope(this.normalizePattern(packet.pattern as string), packet.data, null, {
      timeoutMs: this.#options.timeoutMs,
    });
    const accepted = await this.#pushNow(this.#keys.requests, [JSON.stringify(event)]);
    if (accepted === 0) throw new QueueFullError(this.#options.queue);
    return undefined as T;
  }

  #request(pattern: string, data: unknown, options: AskOptions, settle: (outcome: Outcome) => void): string {
    const { queue, queueLimit } = this.#options;
    this.counts.asked++;
    const envelope = this.#createEnvelope(pattern, data, this.#keys.repliesPrefix + this.#clientId, options);
    const text = JSON.stringify(envelope);
    const { id } = envelope;
    if (this.#closed) settle(new NoReplyError(queue, 'this process is stopping'));
    else if (text.length > MAX_ENVELOPE_LENGTH) settle(new RangeError(`The request has ${text.length} characters.`));
    else if (this.#unpushed >= queueLimit) {
      this.counts.queueFull++;
      settle(new QueueFullError(queue));
    } else {
      const nowMs = performance.now();
      const repeatEveryMs = options.retryAfterMs ?? Number.POSITIVE_INFINITY;
      const endsAtMs = nowMs + options.timeoutMs;
      const { isTakenBack = false, routingKey } = options;
      const list = routeRequests(this.#keys, routingKey);
      const times = { endsAtMs, repeatAtMs: nowMs + repeatEveryMs, repeatEveryMs };
      this.#pending.add(id, { text, list, ...times, isTakenBack, pushes: 1, settle });
      this.#outgoing.add({ id, text, list, again: false });
    }
    return id;
  }

  #createEnvelope(pattern: string, data: unknown, replyTo: string | null, options: AskOptions): RequestEnvelope {
    const id = `${this.#clientId}.${(++this.#count).toString(36)}`;
    return {
      v: 1,
      id,
      pattern,
      data,
      replyTo,
      deadlineMs: Math.ceil((this.#clock?.nowMs() ?? Date.now()) + options.timeoutMs),
      requestId: options.requestId ?? currentRequestId() ?? id,
    };
  }

  #push(batch: Outgoing[]): void {
    const waiting = batch.filter(({ id }) => this.#pending.has(id));
    for (const list of new Set(waiting.map((one) => one.list))) {
      const sameList = waiting.filter((one) => one.list === list);
      for (let start = 0; start < sameList.length; start += MAX_PUSH) {
        void this.#pushChunk(list, sameList.slice(start, start + MAX_PUSH));
      }
    }
  }

  async #pushChunk(list: string, chunk: Outgoing[]): Promise<void> {
    this.#unpushed += chunk.length;
    try {
      const texts = chunk.map(({ text }) => text);
      const accepted = await this.#pushNow(list, texts);
      this.#failing = false;
      // A repeated request may still get a reply from its first copy, so only a first copy is refused.
      for (const { id, again } of chunk.slice(accepted)) if (!again) this.#refuse(id);
    } catch (error) {
      // Unknown whether Redis took them. Repeatable requests are repeated, the others wait for their deadline.
      this.#pending.repeatWithin(
        REPEAT_FAILED_PUSH_MS,
        chunk.map(({ id }) => id),
      );
      if (!this.#failing) this.#logger.warn(`cannot push to the queue ${this.#options.queue}: ${describe(error)}`);
      this.#failing = true;
    } finally {
      this.#unpushed -= chunk.length;
    }
  }

  async #pushNow(list: string, texts: string[]): Promise<number> {
    await this.connect();
    if (this.#commands === null) throw new NoReplyError(this.#options.queue, 'this process is stopping');
    return Number(await PUSH_REQUESTS.run(this.#commands, list, [this.#options.queueLimit, ...texts]));
  }

  #refuse(id: string): void {
    if (this.#pending.settle(id, new QueueFullError(this.#options.queue)) !== null) this.counts.queueFull++;
  }

  /** Whether every copy of the request was still in the list, and was removed. */
  async #takeBack({ text, list, pushes, isTakenBack }: PendingRequest): Promise<boolean> {
    if (!isTakenBack || this.#commands === null) return false;
    const removed = this.#commands.lrem(list, 0, text).catch(() => 0);
    return (await Promise.race([removed, sleep(TAKE_BACK_WITHIN_MS, 0, { ref: false })])) === pushes;
  }

  #takeReply(text: string): void {
    const reply = parseReply(text);
    if (reply === null) {
      this.#logger.warn(`skipped a malformed reply of ${text.length} characters`);
      return;
    }
    const request = this.#pending.settle(reply.id, reply);
    if (request === null) this.counts.strayReplies++;
    else if (request.pushes > 1) this.#answered.add(request);
  }

  /** Best effort. A copy that is handled after a refusal could still claim the payment for a request that is over. */
  #removeCopies(pushed: Pushed[]): void {
    const pipeline = this.#commands?.pipeline();
    for (const { list, text } of pushed) pipeline?.lrem(list, 0, text);
    void pipeline?.exec().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { redisUrl, queue } = this.#options;
    const role = `${queue}-${this.#clientId}`;
    // Kept when the first attempt fails: they go on reconnecting.
    const commands = (this.#commands ??= connectRedis({ url: redisUrl, role: `${role}-asks`, logger }));
    const blocking = (this.#blocking ??= connectRedis({
      url: redisUrl,
      role: `${role}-replies`,
      use: 'blocking',
      logger,
    }));
    this.#clock ??= new RedisClock(commands);
    await explainRedisRefusals(commands, Promise.all([this.#clock.start(), commands.llen(this.#keys.requests)]));
    if (this.#closed) return this.#disconnect();
    this.#loop = new PopLoop({
      blocking,
      commands,
      keys: [this.#keys.repliesPrefix + this.#clientId],
      room: () => MAX_PUSH,
      take: (text) => this.#takeReply(text),
      logger: this.#logger,
    });
    this.#loop.start();
    this.#ready = true;
  }

  #disconnect(): void {
    this.#clock?.stop();
    this.#commands?.disconnect();
    this.#blocking?.disconnect();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
