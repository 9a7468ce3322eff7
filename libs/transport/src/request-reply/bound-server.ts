import { Server, type MessageHandler } from '@nestjs/microservices';

/** A Nest transport that has exactly one handler for each message. */
export abstract class BoundServer extends Server {
  /** @throws Error for a second handler of a message, which Nest would put in the place of the first */
  override addHandler(pattern: string, handler: MessageHandler, isEventHandler = false, extras?: object): void {
    if (!isEventHandler && this.messageHandlers.has(pattern)) {
      throw new Error(`Two handlers answer the message ${pattern}: remove one of them.`);
    }
    super.addHandler(pattern, handler, isEventHandler, extras);
  }

  /** The reason not to start; undefined if every message has a handler. */
  protected findUnhandled(queue: string, patterns: readonly string[]): Error | undefined {
    const missing = patterns.filter((pattern) => !this.messageHandlers.has(pattern));
    if (missing.length === 0) return undefined;
    return new Error(`No handler answers ${missing.join(', ')} of the queue ${queue}: add the controller that does.`);
  }
}
