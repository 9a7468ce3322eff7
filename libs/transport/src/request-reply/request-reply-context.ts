import { BaseRpcContext } from '@nestjs/microservices';

/** The context that a handler gets from `@Ctx()`. */
export class RequestReplyContext extends BaseRpcContext<[requestId: string, deadlineMs: number, questionId: string]> {
  get requestId(): string {
    return this.args[0];
  }

  /** On the clock of the queue's Redis; the asker stops waiting at this time. */
  get deadlineMs(): number {
    return this.args[1];
  }

  /** Equal in every copy of a question, different for every other question. */
  get questionId(): string {
    return this.args[2];
  }
}
