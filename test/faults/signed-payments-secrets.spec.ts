import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createLaneId, Journal } from '@tollgate/journal';

import { startStack, type StackOptions } from '../../tools/devnet/stack/stack.js';
import type { RpcReply } from '../harness/network/rpc-proxy.js';
import { retryUntilPaid, waitFor } from '../harness/retry.js';
import { useSignedSales } from '../harness/stack/use-signed-sales.js';

const RPC_KEY = `canary-of-the-rpc-${randomBytes(8).toString('hex')}`;

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

describe("a relayer's key", () => {
  const sales = useSignedSales({
    rpcPath: `/v2/${RPC_KEY}?apikey=${RPC_KEY}`,
    env: { LOG_LEVEL: 'trace', SETTLE_DEADLINE_MS: '1500', RPC_TIMEOUT_MS: '1500' },
  });
  const relayer = () => sales().chain.relayers[0]!;

  /** The output of a process that cannot start beside the stack. */
  const refusalOf = ({ env, ...options }: StackOptions): Promise<string> => {
    const { redis, chain } = sales().stack;
    return startStack({ redis, chain, gateways: 0, verifiers: 0, ...options, env: { ...env } }).then(
      async (stack) => {
        await stack.stop();
        return 'it started';
      },
      (error: unknown) => String(error),
    );
  };

  it('appears in no log, answer, metric or store, in success or failure', async () => {
    const { stack, proxy, rpc } = sales();
    const seen: string[] = [];
    const look = async (response: Response) => {
      seen.push([...response.headers].join('\n'), await response.clone().text());
      return response;
    };
    const buy = async () => {
      const purchase = await sales().order();
      return { ...purchase, send: async () => look(await purchase.send()) };
    };
    // Settled; refused; the RPC server fails in every way; the relayer is empty; Redis goes down; the verifier dies.
    await retryUntilPaid((await buy()).send);
    const poor = await sales().present(await sales().sign({ value: '999' }));
    await retryUntilPaid(async () => look(await poor.send()), [503], 402);
    const failures: RpcReply[] = ['broken', 'silence', { status: 401, body: `bad key ${RPC_KEY}` }];
    for (const reply of failures) {
      const purchase = await buy();
      proxy.intercept('*', async (call, forward) =>
        JSON.stringify(call).includes('eth_sendRawTransaction') ? reply : { body: await forward() },
      );
      expect((await purchase.send()).status).toBe(503);
      proxy.intercept('*', () => reply);
      // On a busy machine the first request may still hold the payment.
      expect([409, 503]).toContain((await purchase.send()).status);
      proxy.reset();
      await retryUntilPaid(purchase.send);
    }
    const full = await rpc('eth_getBalance', [relayer().address, 'latest']);
    await rpc('anvil_setBalance', [relayer().address, '0x0']);
    const unpaid = await buy();
    expect((await unpaid.send()).status).toBe(503);
    await rpc('anvil_setBalance', [relayer().address, full]);
    await stack.redis.kill();
    expect((await unpaid.send()).status).toBe(503);
    await stack.redis.start();
    await retryUntilPaid(unpaid.send);
    await stack.verifiers[0]!.kill();
    const logs = [stack.verifiers[0]!.logs()];
    await stack.verifiers[0]!.restart();
    await retryUntilPaid((await buy()).send);

    for (const service of [...stack.gateways, ...stack.verifiers]) {
      for (const path of ['/metrics', '/health/ready']) await look(await fetch(service.url + path));
      logs.push(service.logs());
    }
    const files = readdirSync(stack.redis.dir, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const stored = files.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
    // Make sure that the store that is searched is the one that holds the settlements.
    expect(stored.join('')).toContain('settlement-');
    const digits = relayer().privateKey.slice(2);
    const bytes = Buffer.from(digits, 'hex');
    const canaries = [
      digits,
      digits.toUpperCase(),
      bytes.toString('base64').slice(0, 40),
      BigInt(`0x${digits}`),
      RPC_KEY,
    ];
    for (const canary of canaries.map(String)) {
      expect(seen.filter((text) => text.includes(canary))).toEqual([]);
      expect(logs.flatMap((text) => text.split('\n')).filter((line) => line.includes(canary))).toEqual([]);
      expect(stored.filter((text) => text.includes(canary)).length).toBe(0);
    }
    for (const text of stored) expect(text.includes(bytes.toString('latin1'))).toBe(false);
  });

  it('that is invalid or listed twice is refused without being printed', async () => {
    const { privateKey } = relayer();
    const env = { RELAYER_PRIVATE_KEYS: `${privateKey},0x${RPC_KEY},${privateKey.toUpperCase().slice(2)}` };
    const refusal = await refusalOf({ verifiers: 1, env });
    expect(refusal).toContain('entry 2 is not a private key');
    expect(refusal).toContain('entry 3 is the same account as entry 1');
    expect(refusal.toLowerCase()).not.toContain(privateKey.slice(2));
    expect(refusal).not.toContain(RPC_KEY);
  });

  it("is refused where it is an agent wallet's, and a wallet's where it is a relayer's", async () => {
    const { chain, redis } = sales();
    const [wallet] = chain.agentWallets;
    const journal = new Journal({ redis });
    await journal.adopt(createLaneId(chain.chainId, wallet!.address), { pendingNonce: 7 });
    expect(await refusalOf({ verifiers: 1, env: { RELAYER_PRIVATE_KEYS: wallet!.privateKey } })).toContain(
      `${wallet!.address.toLowerCase()} is a wallet of agent jobs`,
    );
    expect(await refusalOf({ agentWorkers: 1, env: { WALLET_PRIVATE_KEY: relayer().privateKey } })).toContain(
      `The wallet main, ${relayer().address.toLowerCase()}, is a relayer`,
    );
    const own = journal.adopt(createLaneId(chain.chainId, relayer().address), { pendingNonce: 7 });
    await expect(own).rejects.toThrow('already sends for relayers');
    // None of this has disturbed the relayer.
    const purchase = await sales().order();
    await waitFor('an answer', async () => (await purchase.send()).status === 200);
  });
});
