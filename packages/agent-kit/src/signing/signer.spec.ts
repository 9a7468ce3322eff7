import { inspect } from 'node:util';

import { refusal, type RpcReply } from '../../../../test/harness/network/rpc-proxy.js';
import { useChain, useProxy } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { AgentKit } from '../agent-kit.js';
import type { AgentKitOptions } from '../settings/agent-kit-options.js';
import type { AgentKitError } from '../types/agent-kit-error.js';
import { createSigner } from './signer.js';

const RECEIVER = '0x00000000000000000000000000000000000a11ce';
/** A secret in the path, as in URLs of RPC services. */
const API_KEY = 'c0ffee-api-key';

const show = (value: unknown): string =>
  [
    inspect(value, { showHidden: true, depth: 20, getters: true }),
    JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? field.toString() : field)),
    value instanceof Error ? `${value.message} ${value.stack} ${show(value.cause)}` : '',
  ].join('\n');

describe('the private key', () => {
  const key = '4c0883a69102937d6231471b5dbb6204fe512961708279f3e2e8d5d5b1c4a3f7';

  it.each([
    ['short', key.slice(1)],
    ['long', `${key}0`],
    ['empty', ''],
    ['only a prefix', '0x'],
    ['not hexadecimal', 'z'.repeat(64)],
    ['zero', '0'.repeat(64)],
    ['the order of the curve', 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'],
    ['above the order of the curve', 'f'.repeat(64)],
    ['spaces within', `${key.slice(0, 32)} ${key.slice(33)}`],
    ['two prefixes', `0x0x${key}`],
    ['a mnemonic', 'test test test test test test test test test test test junk'],
    ['null', null],
    ['undefined', undefined],
    ['a number', 12345],
    ['an object', { key }],
    ['an object that reads like a key', { toString: () => key }],
    ['a list', [key]],
  ])('is refused when it is %s, without being shown', (_, wrong) => {
    let error: unknown;
    try {
      new AgentKit(wrong as string, 'offline', { rpcUrl: 'http://127.0.0.1:1' });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'INVALID_PRIVATE_KEY', message: 'Invalid private key' });
    expect(show(error)).not.toContain(key.slice(1, 31));
  });

  it.each([key, `0x${key}`, `0X${key.toUpperCase()}`])('is accepted as %s', (given) => {
    expect(createSigner(given).address).toBe(createSigner(key).address);
  });
});

describe('secrets', () => {
  const chain = useChain({ protocols: true });
  const proxy = useProxy(chain, `/v2/${API_KEY}`);
  let shown: unknown[];

  beforeEach(() => (shown = []));

  const createKit = (options: AgentKitOptions = {}) => {
    const kit = kitOf(chain, 3, { rpcUrl: proxy.rpcUrl, ...options });
    for (const name of ['transactionSubmitted', 'transactionConfirmed', 'transactionFailed', 'lowBalance'] as const) {
      kit.on(name, (event) => shown.push(event));
    }
    return kit;
  };

  const collect = async (work: Promise<unknown>) => {
    shown.push(await work.catch((error: unknown) => error));
  };

  afterEach(() => {
    const text = shown.map(show).join('\n');
    expect(text.length).toBeGreaterThan(100);
    expect(text.toLowerCase()).not.toContain(chain.accounts[3]!.privateKey.slice(2).toLowerCase());
    expect(text).not.toContain(API_KEY);
  });

  it('are on no kit, plan, result or event of a success', async () => {
    const kit = createKit();
    shown.push(kit, await kit.plan('transfer', { amount: '1', to: RECEIVER }));
    await collect(kit.run('transfer', { amount: '1', to: RECEIVER }));
    expect(shown.at(-1)).toMatchObject({ status: 'success' });
    await collect(kit.read('getERC20Balance', {}));
  });

  it.each([
    ['breaks', () => 'broken' as const],
    ['never answers', () => 'silence' as const],
    ['answers 429', () => ({ status: 429, body: 'slow down' })],
    ['answers garbage', () => ({ body: '{"ok":true}' })],
    ['refuses', () => refusal(-32000, 'you shall not pass')],
  ])('are in no error when the server %s', async (_, interception) => {
    proxy.intercept('*', interception);
    const kit = createKit({ rpcTimeoutMs: 300, monitor: { attempts: 3, intervalMs: 20 } });
    await collect(kit.read('getERC20Balance', {}));
    await collect(kit.plan('transfer', { amount: '1', to: RECEIVER }));
    await collect(kit.monitorTransaction(`0x${'1'.repeat(64)}`));
    expect(shown).toEqual(Array(3).fill(expect.objectContaining({ code: 'NETWORK_ERROR' })));
  });

  it.each<[string, RpcReply, RegExp]>([
    ['breaks the connection', 'broken', /does not answer \(\w+\)/],
    ['does not answer', 'silence', /does not answer in time/],
    ['answers 429', { status: 429, body: API_KEY }, /answers with HTTP status 429/],
    ['is another server', { body: '<html>' }, /does not answer in JSON/],
    ['is busy', refusal(-32005, 'too many requests'), /answers "too many requests"/],
    [
      'repeats the key',
      refusal(-32000, `no project ${API_KEY}, and no margin`),
      /answers "no project …, and no MARGIN"/,
    ],
  ])('stay out of a NETWORK_ERROR, which names the host of the RPC server that %s', async (_, reply, reason) => {
    proxy.intercept('*', () => reply);
    const url = new URL(proxy.rpcUrl);
    Object.assign(url, { username: 'me', password: API_KEY, search: `?key=${API_KEY}` });
    const limit = reply === 'silence' ? { rpcTimeoutMs: 300 } : {};
    await collect(createKit({ rpcUrl: url.href, ...limit }).read('getERC20Balance', {}));
    const { code, message } = shown[0] as AgentKitError;
    expect(code).toBe('NETWORK_ERROR');
    expect(message).toContain(`: the RPC server at ${url.host} `);
    expect(message).toMatch(reason);
  });

  it.each([
    ['eth_call', 'broken'],
    ['eth_getCode', 'broken'],
    ['eth_simulateV1', 'broken'],
    ['eth_estimateGas', 'broken'],
    ['eth_getTransactionCount', { body: '"no"' }],
    ['eth_sendRawTransaction', 'broken'],
    ['eth_getTransactionReceipt', 'broken'],
  ] as const)('are in no error when %s is not answered', async (method, reply) => {
    // A receipt that never comes is not waited for long.
    const kit = createKit({ monitor: { attempts: 10, intervalMs: 20 } });
    await kit.read('getERC20Balance', {});
    proxy.intercept(method, () => reply);
    const { tokens, nft } = chain.contracts;
    await collect(kit.run('transfer', { amount: '1', to: RECEIVER, token: tokens.EVIL }));
    await collect(kit.read('getERC721Balance', { contractAddress: nft }));
    await collect(kit.run('swap', { amount: '1', fromToken: 'USDC', toToken: 'WSEI' }));
    await collect(kit.run('transfer', { amount: '0.001', to: RECEIVER }));
  });
});
