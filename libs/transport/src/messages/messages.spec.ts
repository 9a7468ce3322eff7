import { Controller, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';

import { RequestReplyServer } from '../request-reply/request-reply-server.js';
import { Answers, PATTERNS } from './messages.js';
import { PLAN_JOB, type PlanJobReply } from './plan-job.js';
import { PLAN_QUEUE } from './queues.js';
import { READ_MINED_NONCE, type ReadMinedNonceReply } from './read-mined-nonce.js';

@Controller()
class Planner {
  @Answers(PLAN_JOB)
  plan(@Payload() message: unknown): PlanJobReply {
    return { outcome: 'unavailable', reason: String(message) };
  }
}

@Controller()
class SecondPlanner {
  @Answers(PLAN_JOB)
  plan(): Promise<PlanJobReply> {
    return Promise.resolve({ outcome: 'unavailable', reason: 'second' });
  }
}

@Controller()
class NonceReader {
  @Answers(READ_MINED_NONCE)
  read(): ReadMinedNonceReply {
    return { outcome: 'unavailable', reason: 'none' };
  }
}

async function start(...controllers: Type[]): Promise<void> {
  @Module({ controllers })
  class Handlers {}
  // Nothing listens there: the check comes before the connection.
  const options = { redisUrl: 'redis://127.0.0.1:9', queue: PLAN_QUEUE, patterns: PATTERNS[PLAN_QUEUE] };
  const strategy = new RequestReplyServer(options);
  const app = await NestFactory.createMicroservice(Handlers, { strategy, logger: false, abortOnError: false });
  await app.listen();
}

describe('the handlers of a queue', () => {
  it('stop the start when one is missing', async () => {
    await expect(start(Planner)).rejects.toThrow(
      'No handler answers read-mined-nonce.v1 of the queue plan: add the controller that does.',
    );
  });

  it('stop the start when one is doubled', async () => {
    await expect(start(Planner, NonceReader, SecondPlanner)).rejects.toThrow(
      'Two handlers answer the message plan-job.v1: remove one of them.',
    );
  });
});
