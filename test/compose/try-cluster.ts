import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';

import { createLaneId, nameLane } from '@tollgate/journal';
import type { AgentJobView, Hex } from '@tollgate/protocol';

import { deriveAgentWallet, derivePayer } from '../../tools/devnet/chain/chain.js';
import type { TransferChain } from '../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { createAgentClient, type AgentClient } from '../harness/agents/agent-client.js';
import { payLocked } from '../harness/payments/pay.js';
import { assert, step, type ComposeStack } from './compose-stack.js';

const NODES = ['redis', 'redis-2', 'redis-3', 'redis-4', 'redis-5', 'redis-6'];
/** Some of so many are on the shards that go on, and most likely one on the shard whose primary is killed. */
const PAYMENTS = 8;
const WITHIN_MS = 180_000;
const { CHAIN_ID, ASSET_ADDRESS, PAY_TO } = parseEnv(readFileSync('deploy/devnet.env', 'utf8'));
const wallet = createLaneId(Number(CHAIN_ID), deriveAgentWallet(0).address);
const WALLET_KEY = `tollgate:{${nameLane(wallet)}}:lane`;

/**
 * Sells and does jobs on six servers while a primary is dead: first one without the job's wallet, then the one with it.
 * The shard of a dead primary answers 503 until its server is back, because its new primary has no replica meanwhile.
 */
export async function tryCluster(stack: ComposeStack): Promise<void> {
  step('build and start: six Valkey servers, devnet, gateway, two verifiers, two agent workers');
  await stack.up('--build', '--scale', 'verifier=2');
  step('wait until the gateway is ready, with verifiers');
  await until('the gateway is ready', async () => {
    const response = await fetch(`${stack.gateway}/health/ready`).catch(() => null);
    return response?.status === 200 ? true : null;
  });
  const client = createAgentClient(stack.gateway, stack.createApiKey('devnet'));

  const countSent = async () =>
    Number(await callRpc(stack.rpcUrl, 'eth_getTransactionCount', [wallet.address, 'latest']));
  const sentBefore = await countSent();

  step('a payment buys the answer, and a job is done');
  const first = await pay(stack);
  await untilServed(stack, first);
  await client.waitFor(await acceptJob(client, randomBytes(12).toString('hex')), 'FINAL');

  const proofs = [first];
  const away = primaryOf(stack, { holdsWallet: false });
  step(`docker kill of ${away}, a primary without the wallet: payments are served and a job is done while it is dead`);
  proofs.push(
    ...(await sellWithout(stack, away, async () => {
      // An idempotency key may be in the dead shard: another one is another job.
      const job = await until('a job is accepted', () => submitJob(client, randomBytes(12).toString('hex')));
      await client.waitFor(job, 'FINAL');
    })),
  );

  const home = primaryOf(stack, { holdsWallet: true });
  step(`docker kill of ${home}, the primary with the wallet: payments are served, and the job is done once it is back`);
  const key = randomBytes(12).toString('hex');
  proofs.push(
    ...(await sellWithout(stack, home, async () => {
      assert((await submitJob(client, key)) === null, 'a job was accepted although no replica had it');
    })),
  );
  await client.waitFor(await acceptJob(client, key), 'FINAL');

  step('each payment has its one answer, and each job its one transaction');
  const bodies = new Set<string>();
  for (const proof of proofs) {
    const { body, isReplay } = await untilServed(stack, proof);
    assert(isReplay, 'a payment bought a second answer');
    bodies.add(body);
  }
  const sent = (await countSent()) - sentBefore;
  assert(sent === 3, `three jobs sent ${sent} transactions`);
  console.log(`    ${proofs.length} payments, ${bodies.size} answers, 3 jobs, ${sent} transactions`);
}

/** Kills the server, sells and works while it is dead, starts it again, and waits for what its shard held up. */
async function sellWithout(stack: ComposeStack, service: string, work: () => Promise<void>): Promise<string[]> {
  const [victim = ''] = stack.containersOf(service);
  stack.docker('kill', '--signal', 'KILL', victim);
  const proofs: string[] = [];
  while (proofs.length < PAYMENTS) proofs.push(await pay(stack));
  const open = new Set(proofs);
  await until('a payment is served', async () => ((await redeemEach(stack, open)) > 0 ? true : null));
  await work();
  await redeemEach(stack, open);
  assert(stack.docker('inspect', '-f', '{{.State.Running}}', victim).trim() === 'false', `${service} was started`);
  console.log(`    while ${service} is dead: ${PAYMENTS - open.size} of ${PAYMENTS} payments served`);

  stack.docker('start', victim);
  await until('each primary has its replica', () => (haveReplicas(stack) ? true : null));
  for (const proof of open) await untilServed(stack, proof);
  console.log(`    once ${service} is back: the other ${open.size} served`);
  return proofs;
}

/** Asks for each answer once and removes the payments that got theirs; returns how many did. */
async function redeemEach(stack: ComposeStack, open: Set<string>): Promise<number> {
  const before = open.size;
  await Promise.all(
    [...open].map(async (proof) => {
      if ((await redeem(stack, proof)) !== null) open.delete(proof);
    }),
  );
  return before - open.size;
}

async function pay(stack: ComposeStack): Promise<string> {
  const chain: TransferChain = {
    rpcUrl: stack.rpcUrl,
    asset: ASSET_ADDRESS as Hex,
    payTo: PAY_TO as Hex,
    accounts: [derivePayer(0)],
    blockTimeSeconds: null,
  };
  return (await payLocked(chain, `${stack.gateway}/api/weather`)).proof;
}

/** The answer, or null where the same request may be sent again. */
async function redeem(stack: ComposeStack, proof: string): Promise<{ body: string; isReplay: boolean } | null> {
  const response = await fetch(`${stack.gateway}/api/weather`, { headers: { 'X-PAYMENT': proof } });
  const body = await response.text();
  assert([200, 409, 503].includes(response.status), `a payment got ${response.status}: ${body}`);
  return response.status === 200 ? { body, isReplay: response.headers.has('Idempotent-Replayed') } : null;
}

function untilServed(stack: ComposeStack, proof: string): Promise<{ body: string; isReplay: boolean }> {
  return until('the payment is served', () => redeem(stack, proof));
}

/** The job's id, or null for a 503. */
async function submitJob(client: AgentClient, idempotencyKey: string): Promise<string | null> {
  const request = { operation: 'transfer', wallet: 'devnet', input: { amount: '1', to: deriveAgentWallet(2).address } };
  const response = await client.send('POST', '/agent/jobs', request, { 'idempotency-key': idempotencyKey });
  const text = await response.text();
  assert(response.status === 202 || response.status === 503, `a job got ${response.status}: ${text}`);
  return response.status === 202 ? (JSON.parse(text) as AgentJobView).id : null;
}

function acceptJob(client: AgentClient, idempotencyKey: string): Promise<string> {
  return until('the job is accepted', () => submitJob(client, idempotencyKey));
}

function primaryOf(stack: ComposeStack, { holdsWallet }: { holdsWallet: boolean }): string {
  const found = NODES.find((service) => {
    if (!valkey(stack, service, 'role').startsWith('master')) return false;
    // A server that does not have the key only says where it is.
    return valkey(stack, service, 'exists', WALLET_KEY).startsWith('1') === holdsWallet;
  });
  assert(found !== undefined, 'no primary is to be found');
  return found;
}

function haveReplicas(stack: ComposeStack): boolean {
  return NODES.every((service) => {
    const state = valkey(stack, service, 'info', 'replication');
    return state.includes('role:slave')
      ? state.includes('master_link_status:up')
      : state.includes('connected_slaves:1');
  });
}

function valkey(stack: ComposeStack, service: string, ...command: string[]): string {
  const [id = ''] = stack.containersOf(service);
  return stack.docker('exec', id, 'valkey-cli', ...command);
}

/** Repeats until there is a result. */
async function until<T>(what: string, attempt: () => T | null | Promise<T | null>): Promise<T> {
  for (const endsAtMs = Date.now() + WITHIN_MS; ; await sleep(500)) {
    const result = await attempt();
    if (result !== null) return result;
    assert(Date.now() < endsAtMs, `timed out waiting until ${what}`);
  }
}
