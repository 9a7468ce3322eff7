import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, enqueueAgentJob } from '@tollgate/client/jobs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

const [wallet = 'main', idempotencyKey = 'order-17'] = process.argv.slice(2);

// The Redis of the agent workers' queues.
const connection = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', { maxRetriesPerRequest: null });
const queue = new Queue(AGENT_JOBS_QUEUE, { connection, prefix: AGENT_QUEUE_PREFIX });

const job = {
  operation: 'transfer',
  wallet,
  input: { amount: '0.5', to: '0x00000000000000000000000000000000000a11ce' },
} as const;
const { queueJobId } = await enqueueAgentJob(queue, job, {
  // An API key with the scope `submit`, and its enqueue secret.
  keyId: process.env['KEY_ID'] ?? '',
  secret: process.env['ENQUEUE_SECRET'] ?? '',
  // After a failure, run this again with the same key: it is the same job.
  idempotencyKey,
});
console.log(queueJobId);

await queue.close();
connection.disconnect();
