import {
  type ComparedQuestion,
  createQueueKeys,
  queueOfChain,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  type SettlementResult,
  type SettleSignedPaymentRequest,
} from '@tollgate/transport';
import { Redis } from 'ioredis';

/** A question as stored in the queue: the same text again is another copy of it. */
export interface Question {
  id: string;
  text: string;
}

const KEYS = createQueueKeys(queueOfChain(SETTLE_QUEUE, 1328));
const REPLIES = `${KEYS.repliesPrefix}spec`;

/** Asks for settlements like a gateway, but lets a spec decide how often and when a question is sent. */
export class SettleQuestions {
  readonly #redis: Redis;
  readonly #answers = new Map<string, SettlementResult>();
  #count = 0;

  constructor(redisUrl: string) {
    this.#redis = new Redis(redisUrl);
  }

  create(data: ComparedQuestion<SettleSignedPaymentRequest>): Question {
    const id = `spec.${String(++this.#count)}`;
    const { deadlineMs } = data;
    const envelope = {
      v: 1,
      id,
      pattern: SETTLE_SIGNED_PAYMENT,
      data,
      replyTo: REPLIES,
      deadlineMs,
      requestId: 'spec',
    };
    return { id, text: JSON.stringify(envelope) };
  }

  async put(...questions: Question[]): Promise<void> {
    await this.#redis.rpush(KEYS.requests, ...questions.map(({ text }) => text));
  }

  /** The next answer to the question. */
  async answerTo({ id }: Question): Promise<SettlementResult> {
    for (;;) {
      const answer = this.#answers.get(id);
      this.#answers.delete(id);
      if (answer) return answer;
      const popped = await this.#redis.blpop(REPLIES, 0);
      const reply = JSON.parse(popped?.[1] ?? '{}') as { id: string; data: SettlementResult };
      this.#answers.set(reply.id, reply.data);
    }
  }

  /** Sends questions at once; returns the answers in their order. */
  async ask(...questions: Question[]): Promise<SettlementResult[]> {
    await this.put(...questions);
    const answers: SettlementResult[] = [];
    for (const question of questions) answers.push(await this.answerTo(question));
    return answers;
  }

  close(): void {
    this.#redis.disconnect();
  }
}
