import { BaseRpcContext } from '@nestjs/microservices';

/** What a handler gets as `@Ctx()`. */
export class RequestReplyContext extends BaseRpcContext<[requestId: string, deadlineMs: number, questionId: string]> {
  get requestId(): string {
    return this.args[0];
  }

  /** On the clock of the queue's Redis: nobody waits for an answer after it. */
  get deadlineMs(): number {
    return this.args[1];
  }

  /** The same for every copy of one question, and for no other. */
  get questionId(): string {
    return this.args[2];
  }
}
