import { POLLING } from '@tollgate/client/internal';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';

import { draft, draftPlugin } from '../../../../test/harness/agents/draft-plugin.js';
import { AgentKit } from '../agent-kit.js';
import { parseOptions, type AgentKitOptions } from './agent-kit-options.js';

const key = `0x${'1'.repeat(64)}`;

describe('the options of a kit', () => {
  it('have the defaults of the specification', () => {
    expect(parseOptions({ rpcUrl: 'http://127.0.0.1:1' })).toMatchObject({
      executor: 'direct',
      slippageBps: 100,
      networkRetryDelayMs: 5_000,
    });
    expect(POLLING).toEqual({ attempts: 30, intervalMs: 1_000 });
  });

  it('contain the key that the kit was given, whatever the environment has', () => {
    const before = process.env['WALLET_PRIVATE_KEY'];
    try {
      process.env['WALLET_PRIVATE_KEY'] = `0x${'2'.repeat(64)}`;
      expect(new AgentKit(key, 'offline', { rpcUrl: 'http://127.0.0.1:1' }).address).toBe(
        privateKeyToAddress(key as Hex),
      );
    } finally {
      if (before === undefined) delete process.env['WALLET_PRIVATE_KEY'];
      else process.env['WALLET_PRIVATE_KEY'] = before;
    }
  });

  it('are refused with every problem at once, and without the value of a URL', () => {
    const wrong = {
      rpcUrl: 'ws://node.example/secret',
      explorerUrl: 'javascript:alert(1)',
      executor: 'sometimes',
      slippageBps: 5_001,
      networkRetryDelayMs: -1,
      rpcTimeoutMs: Number.NaN,
      monitor: { attempts: 0, intervalMs: Number.POSITIVE_INFINITY },
      plugins: [draftPlugin(() => draft([])), draftPlugin(() => draft([]))],
      policy: { operations: ['none'] },
      payments: {
        headers: {
          'https://api.example.com/': { authorization: 'secret' },
          'https://api.example.com': { authorization: 'a\nsecret', 'x-key': 'right' },
        },
      },
    };
    let error: unknown;
    try {
      new AgentKit(key, 'offline', wrong as AgentKitOptions);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      code: 'INVALID_CONFIGURATION',
      details: { problems: Array(12).fill(expect.any(String)) },
    });
    const { message } = error as Error;
    expect(message).not.toContain('secret');
    // Keywords of the table of errors: a caller would look for the cause elsewhere.
    expect(message).not.toMatch(/network|gas|revert|slippage|liquidity|collateral|margin|leverage/);
  });

  it('need a chain and a known model provider', () => {
    const before = process.env['RPC_URL'];
    delete process.env['RPC_URL'];
    expect(() => new AgentKit(key, 'offline')).toThrow('RPC_URL is missing');
    process.env['RPC_URL'] = 'http://127.0.0.1:1';
    expect(new AgentKit(key, 'offline').address).toMatch(/^0x/);
    if (before === undefined) delete process.env['RPC_URL'];
    else process.env['RPC_URL'] = before;
    expect(() => new AgentKit(key, 'somebody', { rpcUrl: 'http://127.0.0.1:1' })).toThrow('openai, anthropic');
  });
});
