import { createPublicClient, http, numberToHex, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

import { startChain, type Devnet } from '../../tools/devnet/chain/chain.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { LAGS, startLaggingNode, type Lag } from '../harness/network/lagging-node.js';
import { refusal, startRpcProxy } from '../harness/network/rpc-proxy.js';
import { createSender, type Sent, type Transfer } from './account/send-on-demand.js';
import { startSendingProcess, type SendingProcess } from './account/sending-processes.js';
import { readRound, reportFigures } from './read-round.js';

const { isQuick } = readRound();
/** Short rounds have the same lags and the contract's same polling, all divided by this. */
const PACE = isQuick ? 20 : 1;
const PATIENCE = { attempts: 30, intervalMs: 1_000 / PACE };
const BEHIND_MS = [3_000, 20_000, 60_000].map((ms) => ms / PACE);
const IN_ROW = 3;
const RACES = isQuick ? 5 : 200;
const AMOUNT = '0.001';

/** A transfer, to an address that nothing else sends to, and what its sender says of it. */
interface Claim extends Transfer {
  sent: Sent;
}

describe('an account', () => {
  let quick: Devnet;
  let slow: Devnet;

  beforeAll(async () => {
    [quick, slow] = await Promise.all([startChain(), startChain({ blockTimeSeconds: 1 })]);
  });
  afterAll(() => Promise.all([quick.stop(), slow.stop()]));

  const createKey = async (chain: Devnet) => {
    const privateKey = generatePrivateKey();
    const params = [privateKeyToAddress(privateKey), numberToHex(parseEther('1000'))];
    await callRpc(chain.rpcUrl, 'anvil_setBalance', params);
    // The state of a block has what was set before it.
    await callRpc(chain.rpcUrl, 'evm_mine');
    return privateKey;
  };
  const createTransfer = (): Transfer => ({ amount: AMOUNT, to: privateKeyToAddress(generatePrivateKey()) });
  const tally: Record<string, number> = {};

  /** What the chain has of a claim: each success once, by exactly its hash; of what was refused or failed, nothing. */
  const judge = async (chain: Devnet, claims: readonly Claim[]) => {
    const client = createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 });
    for (const { to, sent } of claims) {
      tally[sent.status] = (tally[sent.status] ?? 0) + 1;
      const arrived = await client.getBalance({ address: to });
      const isWhole = arrived === parseEther(AMOUNT);
      if (sent.status === 'success') {
        expect({ sent, isWhole }).toEqual({ sent, isWhole: true });
        const mined = await client.getTransaction({ hash: sent.result! });
        expect(mined.to?.toLowerCase()).toBe(to.toLowerCase());
      } else if (sent.status === 'timeout') {
        expect({ sent, isSound: isWhole || arrived === 0n }).toEqual({ sent, isSound: true });
      } else {
        expect({ sent, arrived }).toEqual({ sent, arrived: 0n });
      }
    }
    const hashes = claims.flatMap(({ sent }) => (sent.status === 'success' ? [sent.result] : []));
    expect(new Set(hashes).size).toBe(hashes.length);
  };

  afterAll(() => {
    reportFigures(tally);
    process.stderr.write(`account: ${JSON.stringify(tally)}\n`);
  });

  const sets: [string, readonly Lag[]][] = [...LAGS.map((lag): [string, Lag[]] => [lag, [lag]]), ['all', LAGS]];
  const rows = BEHIND_MS.flatMap((ms) => sets.map(([name, lags]) => [name, ms, lags] as const));
  it(`reports what the chain has, behind a node that is late in ${sets.map(([name]) => name).join(', ')}`, async () => {
    await Promise.all(
      rows.map(async ([, behindMs, lags]) => {
        const node = await startLaggingNode(quick.rpcUrl, lags, behindMs);
        const setup = { rpcUrl: node.rpcUrl, privateKey: await createKey(quick), patience: PATIENCE };
        const send = createSender(setup);
        await node.catchUp();
        const claims: Claim[] = [];
        for (let call = 0; call < IN_ROW; call += 1) {
          const transfer = createTransfer();
          claims.push({ ...transfer, sent: await send(transfer) });
        }
        await node.stop();
        await judge(quick, claims);
        // What is less late than the account waits for is no failure.
        if (behindMs < PATIENCE.attempts * PATIENCE.intervalMs) {
          expect(claims.map(({ sent }) => sent)).toEqual(claims.map(({ sent }) => ({ ...sent, status: 'success' })));
        }
      }),
    );
  }, 600_000);

  it('reports what the chain has, behind a pool that answers "already known"', async () => {
    const node = await startRpcProxy(slow.rpcUrl, '', false);
    node.intercept('eth_sendRawTransaction', async (_call, forward) => {
      await forward();
      return refusal(-32000, 'already known');
    });
    const send = createSender({ rpcUrl: node.rpcUrl, privateKey: await createKey(slow), patience: PATIENCE });
    const transfers = Array.from({ length: IN_ROW }, createTransfer);
    const claims = await Promise.all(transfers.map(async (transfer) => ({ ...transfer, sent: await send(transfer) })));
    await node.stop();
    await judge(slow, claims);
    expect(new Set(claims.map(({ sent }) => sent.status))).toEqual(new Set(['success']));
  }, 120_000);

  it.each([2, 8])(
    `reports what the chain has, in ${RACES} races of %s processes with one key`,
    async (count) => {
      const privateKey = await createKey(quick);
      const setup = { rpcUrl: quick.rpcUrl, privateKey, patience: PATIENCE };
      const processes: SendingProcess[] = await Promise.all(
        Array.from({ length: count }, () => startSendingProcess(setup)),
      );
      const claims: Claim[] = [];
      for (let race = 0; race < RACES; race += 1) {
        const racing = processes.map(async (process) => {
          const transfer = createTransfer();
          return { ...transfer, sent: await process.send(transfer) };
        });
        claims.push(...(await Promise.all(racing)));
      }
      for (const process of processes) process.stop();
      await judge(quick, claims);
      // In each race at least one of them is mined.
      expect(claims.filter(({ sent }) => sent.status === 'success').length).toBeGreaterThanOrEqual(RACES);
    },
    1_200_000,
  );
});
