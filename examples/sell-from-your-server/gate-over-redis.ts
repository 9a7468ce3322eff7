import { PaymentGate } from '@tollgate/middleware';
import { RedisStore } from '@tollgate/middleware/redis';
import { Redis } from 'ioredis';

export const gate = new PaymentGate({
  facilitator: { url: process.env['FACILITATOR_URL'] ?? 'http://127.0.0.1:4020/facilitator' },
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  asset: { address: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED', name: 'USDC', version: '2', decimals: 6 },
  chainId: 1328,
  store: new RedisStore(new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')),
});
