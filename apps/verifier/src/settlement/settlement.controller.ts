import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload, type CustomTransportStrategy } from '@nestjs/microservices';
import {
  settle,
  type Relayer,
  type SettlementParts,
  type SettleServer,
  type SettleServers,
} from '@tollgate/settlement';
import {
  Answers,
  BoundServer,
  PATTERNS,
  queueOfChain,
  RequestReplyContext,
  RequestReplyServer,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  type QuestionOf,
  type SettlementResult,
} from '@tollgate/transport';

import { codeOf, optionLabelOf, SettlementMetrics } from '../metrics/verifier-metrics.js';
import { AskedOptions } from '../settings/asked-options.js';

/** Injection token of the `SettlementParts` of this process. */
export const SETTLEMENT_PARTS = Symbol('settlement-parts');

/** Binds a handler to the settle queue alone. */
const SETTLE_TRANSPORT = Symbol('settle-queue');

/** The context of a question that was taken for a relayer. */
class SettleContext extends RequestReplyContext {
  constructor(
    context: RequestReplyContext,
    readonly relayer: Relayer,
    /** Aborted when this process releases the relayer. */
    readonly released: AbortSignal,
  ) {
    super(context.getArgs());
  }
}

interface SettleQueueOptions {
  redisUrl: string;
  chainId: number;
  maxInFlight: number;
  closeTimeoutMs: number;
}

/** Nest transport of the settle queue: a server for each relayer of this process, open while that can settle. */
export class SettleQueue extends BoundServer implements CustomTransportStrategy, SettleServers {
  override readonly transportId = SETTLE_TRANSPORT;
  readonly #queue: string;

  constructor(private readonly options: SettleQueueOptions) {
    super();
    this.#queue = queueOfChain(SETTLE_QUEUE, options.chainId);
  }

  /** Nothing is taken before `open`. */
  listen(callback: (error?: unknown) => void): void {
    callback(this.findUnhandled(this.#queue, PATTERNS[SETTLE_QUEUE]));
  }

  async open(relayer: Relayer, released: AbortSignal, over: AbortSignal): Promise<SettleServer | null> {
    if (over.aborted) return null;
    const handle = this.messageHandlers.get(SETTLE_SIGNED_PAYMENT);
    if (!handle) throw new Error(`No handler for "${SETTLE_SIGNED_PAYMENT}".`);
    const server = new RequestReplyServer({ ...this.options, queue: this.#queue, hasLogContext: false });
    server.addHandler(SETTLE_SIGNED_PAYMENT, (message, context: RequestReplyContext) =>
      handle(message, new SettleContext(context, relayer, released)),
    );
    let failure: unknown = null;
    // Ends the wait for a Redis that is down.
    const stop = (): void => void server.close();
    over.addEventListener('abort', stop);
    await server.listen((error) => (failure = error ?? null));
    over.removeEventListener('abort', stop);
    if (failure === null && !over.aborted) return server;
    await server.close();
    if (over.aborted) return null;
    throw new Error(`The queue ${this.#queue} cannot be served: its Redis does not answer.`, { cause: failure });
  }

  /** Each relayer closes its own server. */
  close(): void {}

  on(): never {
    throw new Error('The settle queue has no events; see the log for changes of its connections.');
  }

  unwrap<T>(): T {
    return null as T;
  }
}

/** Takes the questions of the settle queue. */
@Controller()
export class SettlementController {
  constructor(
    @Inject(SETTLEMENT_PARTS) private readonly parts: SettlementParts,
    @Inject(AskedOptions) private readonly asked: AskedOptions,
    @Inject(SettlementMetrics) private readonly metrics: SettlementMetrics,
  ) {}

  @Answers(SETTLE_SIGNED_PAYMENT, SETTLE_TRANSPORT)
  async settle(
    @Payload() question: QuestionOf<typeof SETTLE_SIGNED_PAYMENT>,
    @Ctx() { questionId, relayer, released }: SettleContext,
  ): Promise<SettlementResult> {
    const { option, fault } = this.asked.find(question, question.terms.asset);
    if (fault !== null) return fault;
    const result = await settle(this.parts, relayer, { ...question, questionId }, released);
    this.metrics.answers.inc({ option: optionLabelOf(option), outcome: result.outcome, failure: codeOf(result) });
    return result;
  }
}
