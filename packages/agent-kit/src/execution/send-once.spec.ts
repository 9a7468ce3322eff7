import { parseEther, type Hex } from 'viem';

import { refusal, type Interception, type RpcReply } from '../../../../test/harness/network/rpc-proxy.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useProxy } from '../../../client/test/set-up.js';
import { AgentKit } from '../agent-kit.js';
import { NETWORK_RETRY_DELAY_MS } from '../chain/explain-failure.js';

const RECEIVER = '0x00000000000000000000000000000000000a11ce';
const AMOUNT = parseEther('1');

/** The chain gets the transaction, the client another answer. */
const lose =
  (reply: RpcReply): Interception =>
  async (_, forward) => {
    await forward();
    return reply;
  };

describe('after signing, the same bytes are sent again when in doubt:', () => {
  const chain = useChain({ protocols: true });
  const proxy = useProxy(chain);
  let kit: AgentKit;
  let failures: unknown[];
  let index = 0;

  beforeEach(async () => {
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [RECEIVER, '0x0']);
    // An account of its own, so that the tests do not affect each other.
    kit = createKit(chain.accounts[index++ % chain.accounts.length]!.privateKey);
    failures = [];
    kit.on('transactionFailed', (error) => failures.push(error));
  });

  const createKit = (privateKey: Hex) =>
    new AgentKit(privateKey, 'offline', {
      rpcUrl: proxy.rpcUrl,
      networkRetryDelayMs: 10,
      rpcTimeoutMs: 5_000,
      monitor: { attempts: 100, intervalMs: 20 },
      explorerUrl: 'https://explorer.example/',
    });

  const send = () => kit.run('transfer', { amount: '1', to: RECEIVER });
  const sentBytes = () =>
    proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction').map(({ params }) => params[0]);
  const nonce = (blockTag: 'latest' | 'pending') => chain.nonceOf(kit.address, blockTag);

  let passed = 0;
  const losses: [string, Interception][] = [
    ['breaks the connection after sending', lose('broken')],
    ['never answers', lose('silence')],
    ['never ends its answer', lose('unfinished')],
    ['answers 429', lose({ status: 429, body: 'slow down' })],
    ['answers 502', lose({ status: 502, body: '<html>Bad Gateway</html>' })],
    ['answers HTML', lose({ body: '<html>' })],
    ['answers JSON of another kind', lose({ body: '{"ok":true}' })],
    ['answers null', lose({ body: 'null' })],
    ['answers that it is known', lose(refusal(-32000, 'already known'))],
    ['answers with an unknown message', lose(refusal(-32010, 'ALREADY_EXISTS: tx'))],
    ['answers that its limit is exceeded', lose(refusal(-32005, 'daily limit'))],
    ['answers that it timed out', lose(refusal(-32000, 'request timed out'))],
    [
      'accepts only every fourth request',
      async (_, forward) => (++passed % 4 === 0 ? { body: await forward() } : { status: 503, body: '' }),
    ],
  ];

  it.each(losses)('when the node %s, one transaction is mined, and the result is success', async (_, interception) => {
    const before = await nonce('latest');
    proxy.intercept('eth_sendRawTransaction', interception);
    const result = await send();
    expect(result).toMatchObject({ status: 'success', result: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect(await chain.balanceOf(RECEIVER)).toBe(AMOUNT);
    expect(await nonce('pending')).toBe(before + 1);
    expect(new Set(sentBytes()).size).toBe(1);
    expect(failures).toEqual([]);
  });

  it('finds a transaction that the node reports as known and then does not return', async () => {
    proxy.intercept('eth_sendRawTransaction', lose(refusal(-32000, 'already known')));
    proxy.intercept('eth_getTransactionByHash', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":null}' }));
    expect(await send()).toMatchObject({ status: 'success' });
    expect(await chain.balanceOf(RECEIVER)).toBe(AMOUNT);
  });

  it.each([
    ['transaction underpriced', 'NETWORK_ERROR', 'network'],
    ['insufficient funds for gas * price + value', 'INSUFFICIENT_FUNDS', 'insufficient funds'],
    ['intrinsic gas too low', 'GAS_ESTIMATION_FAILED', 'gas'],
  ])('throws when the node refuses with "%s": nothing was sent', async (message, code, keyword) => {
    const before = await nonce('latest');
    proxy.intercept('eth_sendRawTransaction', () => refusal(-32000, message));
    await expectFailure(send(), code, expect.stringContaining(keyword));
    expect(sentBytes()).toHaveLength(1);
    expect(failures).toEqual([]);
    expect(await nonce('pending')).toBe(before);
    proxy.reset();
    expect(await send()).toMatchObject({ status: 'success' });
    expect(await nonce('latest')).toBe(before + 1);
  });

  it('tries once more after a network error before signing', async () => {
    expect(NETWORK_RETRY_DELAY_MS).toBe(5_000);
    let estimates = 0;
    proxy.intercept('eth_estimateGas', async (_, forward) =>
      ++estimates === 1 ? 'broken' : { body: await forward() },
    );
    expect(await send()).toMatchObject({ status: 'success' });
    expect(estimates).toBe(2);
    expect(await chain.balanceOf(RECEIVER)).toBe(AMOUNT);
  });

  it('throws when the network stays down before signing', async () => {
    await kit.read('getERC20Balance', {});
    proxy.intercept('*', () => 'broken');
    await expect(send()).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
      message: expect.stringContaining('network'),
      suggestion: expect.stringContaining('RPC_URL'),
    });
    expect(sentBytes()).toEqual([]);
    expect(failures).toEqual([]);
  });

  it('times out with the link when the network goes down after signing, and continues afterwards', async () => {
    const before = await nonce('latest');
    const isDown: Interception = () => 'broken';
    proxy.intercept('eth_sendRawTransaction', isDown);
    proxy.intercept('eth_getTransactionReceipt', isDown);
    const lost = await send();
    expect(lost).toMatchObject({
      status: 'timeout',
      code: 'TIMEOUT',
      error: expect.stringContaining(`https://explorer.example/tx/${lost.result}`),
      transactions: [{ hash: lost.result, explorerUrl: `https://explorer.example/tx/${lost.result}` }],
    });
    expect(lost.error).toContain('manually');
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ code: 'TIMEOUT', details: { txHash: lost.result, operation: 'transfer' } });
    expect(new Set(sentBytes()).size).toBe(1);
    const [bytes] = sentBytes();

    // It never arrived: the next transaction takes the nonce, so the lost one can never be mined in addition.
    proxy.reset();
    expect(await send()).toMatchObject({ status: 'success' });
    expect(await send()).toMatchObject({ status: 'success' });
    expect(await nonce('pending')).toBe(before + 2);
    await expect(callRpc(chain.rpcUrl, 'eth_sendRawTransaction', [bytes])).rejects.toThrow(/nonce/);
    expect(await chain.balanceOf(RECEIVER)).toBe(2n * AMOUNT);
  });

  it('continues behind a transaction that timed out and is mined later', async () => {
    const before = await nonce('latest');
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    const late = await send();
    expect(late).toMatchObject({ status: 'timeout' });
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
    const next = send();
    expect(await next).toMatchObject({ status: 'success' });
    expect(await nonce('latest')).toBe(before + 2);
    expect(await chain.balanceOf(RECEIVER)).toBe(2n * AMOUNT);
    expect(await kit.monitorTransaction(late.result!)).toMatchObject({
      status: 'success',
      transactionHash: late.result,
    });
  });
});
