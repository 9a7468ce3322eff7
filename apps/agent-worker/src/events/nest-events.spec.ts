import { Controller, Logger, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, Payload, Transport, type MicroserviceOptions } from '@nestjs/microservices';
import type { JobEvent } from '@tollgate/journal';

import { FAILURE, sampleHash, sampleLane } from '../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { startRedis, type RedisServer } from '../../../../tools/devnet/processes/redis.js';
import { NestEvents } from './event-pumps.js';

const received: [string, unknown][] = [];

/** A subscriber as another service would write it. */
@Controller()
class Subscriber {
  @EventPattern('transactionFailed')
  onFailed(@Payload() event: unknown): void {
    received.push(['failed', event]);
  }

  @EventPattern('jobCompleted')
  onCompleted(@Payload() event: unknown): void {
    received.push(['completed', event]);
  }
}

@Module({ controllers: [Subscriber] })
class SubscriberModule {}

const event = (type: JobEvent['type'], sequence: number): JobEvent => ({
  id: `j12345678-123456789012345678901234:REVERTED:${sequence}`,
  sequence,
  type,
  jobId: 'j12345678-123456789012345678901234',
  state: 'REVERTED',
  operation: 'swap',
  lane: sampleLane(),
  keyId: 'key-1',
  atMs: 1_700_000_000_000,
  txHash: sampleHash(),
  error: FAILURE,
});

describe("Nest's own events", () => {
  let server: RedisServer;
  let service: INestMicroservice;
  let nestEvents: NestEvents;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    server = await startRedis({ args: ['--requirepass', 'canary'] });
    const url = server.url.replace('//', '//:canary@');
    service = await NestFactory.createMicroservice<MicroserviceOptions>(SubscriberModule, {
      transport: Transport.REDIS,
      options: { host: '127.0.0.1', port: server.port, password: 'canary', retryAttempts: 1_000, retryDelay: 50 },
    });
    await service.listen();
    nestEvents = new NestEvents(url);
  });

  afterAll(async () => {
    await nestEvents.close();
    await service.close();
    await server.stop();
  });

  beforeEach(() => received.splice(0));

  it('reach another Nest service, in order and in the same form as for every other consumer', async () => {
    const [failed, completed, submitted] = [
      event('transactionFailed', 1),
      event('jobCompleted', 2),
      event('transactionSubmitted', 3),
    ];
    await nestEvents.take([failed, completed, submitted], 'treasury');
    await waitFor('the subscriber has both', () => received.length === 2);
    expect(received).toEqual([
      [
        'failed',
        {
          id: failed.id,
          type: 'transactionFailed',
          jobId: failed.jobId,
          operation: 'swap',
          wallet: 'treasury',
          at: '2023-11-14T22:13:20.000Z',
          txHash: failed.txHash,
          error: FAILURE,
        },
      ],
      ['completed', expect.objectContaining({ id: completed.id })],
    ]);
  });

  it('are refused while Redis is down, so that they are repeated, and are published afterwards', async () => {
    await server.kill();
    await expect(nestEvents.take([event('transactionFailed', 4)], 'treasury')).rejects.toBeDefined();
    await server.start();
    const again = async (): Promise<boolean> => {
      await nestEvents.take([event('transactionFailed', 4)], 'treasury').catch(() => undefined);
      return received.length > 0;
    };
    await waitFor('the subscriber has it', again);
    expect(received[0]).toEqual(['failed', expect.objectContaining({ type: 'transactionFailed' })]);
  });

  it('report why a Redis that was never up does not accept them, without its password', async () => {
    const absent = new NestEvents('redis://:canary@127.0.0.1:1');
    const error: unknown = await absent.take([event('transactionFailed', 5)], 'treasury').catch(String);
    await absent.close();
    expect(error).toBe('Error: Connection is closed.');
  });
});
