import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Logger } from '@nestjs/common';
import type { CustomTransportStrategy, MessageHandler } from '@nestjs/microservices';
import { REDIS_LOGGER as logger } from '@tollgate/common';
import { withRequestId } from '@tollgate/http';
import {
  connectRedis,
  explainRedisRefusals,
  LuaScript,
  RedisClock,
  StoreError,
  type RedisClient,
} from '@tollgate/redis';
import { isObservable, lastValueFrom } from 'rxjs';

import { BoundServer } from './bound-server.js';
import {
  createQueueKeys,
  MAX_ENVELOPE_LENGTH,
  MAX_PUSH,
  parseRequest,
  routeRequests,
  type QueueKeys,
  type ReplyEnvelope,
  type RequestEnvelope,
} from './envelope.js';
import { PopLoop } from './pop-loop.js';
import pushReplies from './push-replies.lua';
import { RequestReplyContext } from './request-reply-context.js';
import { TurnBatch } from './turn-batch.js';

export interface RequestReplyServerOptions {
  redisUrl: string;
  queue: string;
  /** The messages that must have a handler before this server listens. */
  patterns?: readonly string[];
  /** Routing keys whose requests this server takes besides those without a key. */
  routingKeys?: readonly string[];
  /** Requests handled at once; further ones stay in the list, for other replicas. */
  maxInFlight?: number;
  /** Requests taken at once; limited, so that one idle replica does not empty the list. */
  popCount?: number;
  /** How long close() waits for running handlers. */
  closeTimeoutMs?: number;
  /**
   * Whether handlers run in the log context of their request (the default). Up to Node 22 that hooks every promise of
   * the process, so busy servers do without: their handlers write the request id into each line.
   */
  hasLogContext?: boolean;
}

const PUSH_REPLIES = new LuaScript(pushReplies);
const REPLY_LIFE_MS = 60_000;
const RETRY_MS = 1_000;

/**
 * Nest transport over Redis lists: takes requests in batches, each by exactly one replica, and pushes replies to the
 * asking client's list. When a server dies its requests are lost; the clients repeat them.
 */
export class RequestReplyServer extends BoundServer implements CustomTransportStrategy {
  override readonly transportId = Symbol('request-reply');
  /** Counts since the start, for metrics. */
  readonly counts = { taken: 0, answered: 0, malformed: 0, pastDeadline: 0, lostReplies: 0 };
  protected override readonly logger = new Logger(RequestReplyServer.name);
  readonly #options: Required<RequestReplyServerOptions>;
  readonly #keys: QueueKeys;
  readonly #replies = new TurnBatch<{ replyTo: string; text: string }>((batch) => this.#pushReplies(batch));
  #commands: RedisClient | null = null;
  #blocking: RedisClient | null = null;
  #clock: RedisClock | null = null;
  #loop: PopLoop | null = null;
  #closing: Promise<void> | null = null;
  #inFlight = 0;
  #pushing = 0;
  #onProgress: (() => void)[] = [];

  constructor(options: RequestReplyServerOptions) {
    super();
    const defaults = { patterns: [], routingKeys: [], maxInFlight: 512, popCount: 64 };
    this.#options = { ...defaults, closeTimeoutMs: 20_000, hasLogContext: true, ...options };
    this.#keys = createQueueKeys(options.queue);
  }

  /** The number of requests being handled. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Waits for a Redis that is down until it is closed; calls back with an error for one that refuses this process. */
  async listen(callback: (error?: unknown) => void): Promise<void> {
    const { redisUrl, queue, patterns, routingKeys } = this.#options;
    const unhandled = this.findUnhandled(queue, patterns);
    if (unhandled) return callback(unhandled);
    const name = `${queue}-${randomBytes(6).toString('hex')}`;
    const commands = connectRedis({ url: redisUrl, role: `${name}-replies`, logger });
    const blocking = connectRedis({ url: redisUrl, role: `${name}-requests`, use: 'blocking', logger });
    this.#commands = commands;
    this.#blocking = blocking;
    try {
      await this.#startClock(commands);
      if (this.#closing !== null) throw new Error(`The server of the queue ${queue} was closed before it listened.`);
    } catch (error) {
      this.#disconnect();
      return callback(error);
    }
    const room = () => this.#room();
    const take = (entry: string) => this.#take(entry);
    const keys = [undefined, ...routingKeys].map((routingKey) => routeRequests(this.#keys, routingKey));
    this.#loop = new PopLoop({ blocking, commands, keys, room, take, logger: this.logger });
    this.#loop.start();
    callback();
  }

  /** Stops taking requests, finishes those taken, pushes the replies, then disconnects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  on(): never {
    throw new Error('The request-reply transport has no events; see the log for changes of its connections.');
  }

  unwrap<T>(): T {
    return [this.#commands, this.#blocking] as T;
  }

  async #close(): Promise<void> {
    const stopped = this.#loop?.stop();
    this.#progress();
    await stopped;
    const deadlineMs = performance.now() + this.#options.closeTimeoutMs;
    while (this.#inFlight > 0 && performance.now() < deadlineMs) await this.#nextProgress(deadlineMs);
    this.#replies.flushNow();
    while (this.#pushing > 0 && performance.now() < deadlineMs) await this.#nextProgress(deadlineMs);
    this.#disconnect();
  }

  #disconnect(): void {
    this.#clock?.stop();
    this.#commands?.disconnect();
    this.#blocking?.disconnect();
  }

  async #startClock(commands: RedisClient): Promise<void> {
    const clock = new RedisClock(commands);
    this.#clock = clock;
    const open = async () => {
      await commands.llen(this.#keys.requests);
      await clock.start();
    };
    for (let attempt = 1; ; attempt++) {
      try {
        return await explainRedisRefusals(commands, open());
      } catch (error) {
        if (this.#closing !== null || error instanceof StoreError) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        if (attempt === 1) this.logger.warn(`waits for the Redis of the queue ${this.#options.queue}: ${reason}`);
        await sleep(RETRY_MS);
      }
    }
  }

  #room(): number | Promise<number> {
    const free = this.#options.maxInFlight - this.#inFlight;
    if (free > 0) return Math.min(free, this.#options.popCount);
    return this.#nextProgress().then(() => this.#room());
  }

  #take(text: string): void {
    this.counts.taken++;
    const request = text.length > MAX_ENVELOPE_LENGTH ? null : parseRequest(text, this.#keys);
    if (request === null) {
      this.counts.malformed++;
      this.logger.warn(`skipped a malformed request of ${text.length} characters in ${this.#keys.requests}`);
      return;
    }
    if (this.#clock !== null && this.#clock.nowMs() > request.deadlineMs) {
      this.counts.pastDeadline++;
      return;
    }
    const handler = this.messageHandlers.get(request.pattern);
    if (handler === undefined) {
      const error = { code: 'no_handler', message: `No handler for "${request.pattern.slice(0, 100)}".` } as const;
      this.#reply(request, { v: 1, id: request.id, error });
      return;
    }
    this.#inFlight++;
    if (this.#options.hasLogContext) withRequestId(request.requestId, () => void this.#handle(request, handler));
    else void this.#handle(request, handler);
  }

  async #handle(request: RequestEnvelope, handler: MessageHandler): Promise<void> {
    const { id, data, requestId, deadlineMs } = request;
    const context = new RequestReplyContext([requestId, deadlineMs, id]);
    try {
      if (handler.isEventHandler === true) {
        await this.handleEvent(request.pattern, { pattern: request.pattern, data }, context);
      } else {
        const result: unknown = await handler(data, context);
        const answer: unknown = isObservable(result) ? await lastValueFrom(result, { defaultValue: null }) : result;
        this.#reply(request, { v: 1, id, data: answer ?? null });
      }
    } catch (thrown) {
      const message = describeFailure(thrown);
      this.logger.error({ msg: `the handler of ${request.pattern} failed: ${message}`, requestId });
      this.#reply(request, { v: 1, id, error: { code: 'handler_failed', message } });
    } finally {
      this.#inFlight--;
      if (this.#onProgress.length > 0) setImmediate(() => this.#progress());
    }
  }

  #reply(request: RequestEnvelope, reply: ReplyEnvelope): void {
    if (request.replyTo !== null) this.#replies.add({ replyTo: request.replyTo, text: JSON.stringify(reply) });
  }

  #pushReplies(batch: { replyTo: string; text: string }[]): void {
    const byList = new Map<string, string[]>();
    for (const { replyTo, text } of batch) {
      const list = byList.get(replyTo);
      if (list === undefined) byList.set(replyTo, [text]);
      else list.push(text);
    }
    for (const [replyTo, texts] of byList) {
      for (let start = 0; start < texts.length; start += MAX_PUSH) {
        void this.#pushTo(replyTo, texts.slice(start, start + MAX_PUSH));
      }
    }
  }

  async #pushTo(replyTo: string, texts: string[]): Promise<void> {
    this.#pushing++;
    try {
      if (this.#commands !== null) await PUSH_REPLIES.run(this.#commands, replyTo, [REPLY_LIFE_MS, ...texts]);
      this.counts.answered += texts.length;
    } catch (error) {
      // The clients repeat their requests.
      this.counts.lostReplies += texts.length;
      this.logger.error(`lost ${texts.length} replies: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.#pushing--;
      this.#progress();
    }
  }

  #progress(): void {
    const waiting = this.#onProgress;
    this.#onProgress = [];
    for (const resolve of waiting) resolve();
  }

  #nextProgress(deadlineMs?: number): Promise<void> {
    return new Promise((resolve) => {
      if (deadlineMs === undefined) {
        this.#onProgress.push(resolve);
        return;
      }
      const timer = setTimeout(resolve, Math.max(0, deadlineMs - performance.now()));
      this.#onProgress.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Nest's exception layer throws an Error or its `{status, message}` object. */
function describeFailure(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  const message = (thrown as { message?: unknown } | null)?.message;
  return typeof message === 'string' ? message : 'unknown error';
}
