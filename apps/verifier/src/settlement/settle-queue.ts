import type { CustomTransportStrategy } from '@nestjs/microservices';
import {
  BoundServer,
  PATTERNS,
  RequestReplyContext,
  RequestReplyServer,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
} from '@tollgate/common';
import type { Relayer, SettleServer, SettleServers } from '@tollgate/settlement';

/** Binds a handler to the settle queue alone. */
export const SETTLE_TRANSPORT = Symbol('settle-queue');

/** The context of a question that was taken for a relayer. */
export class SettleContext extends RequestReplyContext {
  constructor(
    context: RequestReplyContext,
    readonly relayer: Relayer,
    /** Aborted when this process releases the relayer. */
    readonly released: AbortSignal,
  ) {
    super(context.getArgs());
  }
}

/** Nest transport of the settle queue: a server for each relayer of this process, open while that can settle. */
export class SettleQueue extends BoundServer implements CustomTransportStrategy, SettleServers {
  override readonly transportId = SETTLE_TRANSPORT;

  constructor(private readonly options: { redisUrl: string; maxInFlight: number; closeTimeoutMs: number }) {
    super();
  }

  /** Nothing is taken before `open`. */
  listen(callback: (error?: unknown) => void): void {
    callback(this.findUnhandled(SETTLE_QUEUE, PATTERNS[SETTLE_QUEUE]));
  }

  async open(relayer: Relayer, signal: AbortSignal): Promise<SettleServer> {
    const handle = this.messageHandlers.get(SETTLE_SIGNED_PAYMENT);
    if (!handle) throw new Error(`No handler for "${SETTLE_SIGNED_PAYMENT}".`);
    const server = new RequestReplyServer({ ...this.options, queue: SETTLE_QUEUE, hasLogContext: false });
    server.addHandler(SETTLE_SIGNED_PAYMENT, (message, context: RequestReplyContext) =>
      handle(message, new SettleContext(context, relayer, signal)),
    );
    let failure: unknown = null;
    await server.listen((error) => (failure = error ?? null));
    if (failure === null) return server;
    await server.close();
    throw new Error(`The queue ${SETTLE_QUEUE} cannot be served: its Redis does not answer.`, { cause: failure });
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
