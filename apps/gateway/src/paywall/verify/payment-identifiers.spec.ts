import type { PaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../../../test/harness/stack/borrow-redis.js';
import { createHash } from '../../../test/start-relay.js';
import { PaymentIdentifiers } from './payment-identifiers.js';

const PAYER: Hex = '0x1111111111111111111111111111111111111111';

describe('payment identifiers', () => {
  let server: BorrowedRedis;
  let redis: Redis;
  let identifiers: PaymentIdentifiers;

  beforeAll(async () => {
    server = await borrowRedis();
    redis = new Redis(server.url);
    identifiers = new PaymentIdentifiers(redis);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const createId = (): PaymentId => ({
    kind: 'authorization',
    chainId: 1,
    asset: PAYER,
    from: PAYER,
    nonce: createHash(),
  });
  const name = (identifier: string, id: PaymentId, generation = 1, payer = PAYER) => ({
    payer,
    identifier,
    lease: { id, generation },
  });

  it('name one payment of a payer, whichever lease holds it', async () => {
    const [id, other] = [createId(), createId()];
    expect(await identifiers.take(name('one', id))).toBe('anew');
    expect(await identifiers.take(name('one', id, 2))).toBe('before');
    expect(await identifiers.take(name('one', other))).toBe('another');
    expect(await identifiers.take(name('one', other, 1, '0x2222222222222222222222222222222222222222'))).toBe('anew');
  });

  it('can be used again once their holder forgets them', async () => {
    const id = createId();
    await identifiers.take(name('free', id));
    await identifiers.forget(name('free', id));
    expect(await identifiers.take(name('free', createId()))).toBe('anew');
  });

  // Prevents: a holder that releases a payment forgets its identifier after the next holder has taken it and settles the
  // payment.
  it('are not forgotten by a holder that lost the payment to another', async () => {
    const id = createId();
    await identifiers.take(name('held', id));
    await identifiers.take(name('held', id, 2));
    await identifiers.forget(name('held', id));
    expect(await identifiers.take(name('held', createId()))).toBe('another');
  });

  it('expire', async () => {
    await identifiers.take(name('last', createId()));
    const [key] = await redis.keys('tollgate:payment-identifier:*');
    expect(await redis.pttl(key!)).toBeGreaterThan(0);
  });
});
