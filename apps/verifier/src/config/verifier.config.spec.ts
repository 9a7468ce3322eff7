import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ConfigurationError, listSettings, readEnvironment } from '@tollgate/config';
import { privateKeyToAccount } from 'viem/accounts';

import { VerifierEnvironment } from './verifier.config.js';

const ASSET = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
const PAY_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describe('the settings of the verifier', () => {
  it('have defaults for all but chain and payment', () => {
    const environment = readEnvironment(VerifierEnvironment, {
      RPC_URL: 'http://127.0.0.1:8545, https://other.example/key',
      ASSET_ADDRESS: ASSET,
      PAY_TO,
    });
    expect(environment).toMatchObject({
      server: { verifierPort: 4021, verifierHost: '127.0.0.1', maxInFlight: 512 },
      chain: {
        rpcUrl: ['http://127.0.0.1:8545', 'https://other.example/key'],
        rpcTimeoutMs: 3000,
        rpcBatchSize: 50,
        rpcBatchesInFlight: 8,
        rpcMaxResponseBytes: 16_777_216,
        rpcLogRangeBlocks: 2_000,
      },
      signedPayments: { assets: [], factories: new Set() },
      rules: {
        confirmations: 1,
        receiptWaitMs: 3000,
        redemptionWindowSeconds: 900,
        boundRedemptionWindowSeconds: 86_400,
        waitingPerClient: 16,
        waitingTotal: 256,
      },
      payment: { chainId: 1328, paymentPolicy: 'transfer', maxTimeoutSeconds: 300 },
    });
  });

  it('have further tokens and factories in lower case', () => {
    const { signedPayments } = readEnvironment(VerifierEnvironment, {
      RPC_URL: 'http://127.0.0.1:8545',
      ASSET_ADDRESS: ASSET,
      PAY_TO,
      FACILITATOR_ASSETS: `${PAY_TO}:USD Coin: the bridged:2, ${ASSET}:x:y`,
      EIP6492_FACTORIES: PAY_TO,
    });
    expect(signedPayments.assets).toEqual([
      { asset: PAY_TO.toLowerCase(), name: 'USD Coin: the bridged', version: '2' },
      { asset: ASSET.toLowerCase(), name: 'x', version: 'y' },
    ]);
    expect([...signedPayments.factories]).toEqual([PAY_TO.toLowerCase()]);
  });

  it('refuse a gas budget that is too small to settle any contract wallet', () => {
    const valid = { RPC_URL: 'http://127.0.0.1:8545', ASSET_ADDRESS: ASSET, PAY_TO };
    const problems = problemsOf({ ...valid, SETTLE_GAS_CAP: '300000', CONTRACT_WALLET_BURN_GAS_PER_HOUR: '299999' });
    expect(problems).toEqual([expect.stringContaining('SIGNED_PAYMENTS_FROM=plain_accounts')]);
  });

  it('refuse a gas budget that is too small to deploy any wallet, and a price of a coin that is no price', () => {
    const valid = { RPC_URL: 'http://127.0.0.1:8545', ASSET_ADDRESS: ASSET, PAY_TO };
    const problems = problemsOf({ ...valid, DEPLOY_GAS_CAP: '500000', DEPLOY_GAS_PER_HOUR: '499999' });
    expect(problems).toEqual([expect.stringContaining('DEPLOY_GAS_CAP=0')]);
    for (const COIN_PRICE of ['0', '0.0', '-1', '1e3', '0.2 USDC', `0.${'1'.repeat(19)}`]) {
      expect(problemsOf({ ...valid, COIN_PRICE })).toEqual([expect.stringContaining('COIN_PRICE')]);
    }
    const none = { DEPLOY_GAS_CAP: '0', DEPLOY_GAS_PER_HOUR: '0' };
    const { deployments } = readEnvironment(VerifierEnvironment, { ...valid, ...none, COIN_PRICE: '0.25' });
    const options = [
      { asset: '0xA0', decimals: 6, rate: '1' },
      { asset: '0xb0', decimals: 18, rate: '0.00026' },
      // 10^18 coins are 0.25 * 10^18 units, and each of these a third of the smallest unit there is: rounded up.
      { asset: '0xc0', decimals: 0, rate: `0.${'0'.repeat(17)}${'3'.repeat(19)}` },
    ] as const;
    expect(deployments.mostCost(options)).toEqual(
      new Map([
        ['0xa0', { coinsBaseUnits: 250_000n * 10n ** 18n, multiple: 10 }],
        ['0xb0', { coinsBaseUnits: 65_000_000_000_000n * 10n ** 18n, multiple: 10 }],
        ['0xc0', { coinsBaseUnits: 1n, multiple: 10 }],
      ]),
    );
    expect(readEnvironment(VerifierEnvironment, { ...valid, ...none }).deployments.mostCost(options)).toBeNull();
  });

  it('refuse malformed tokens and factories', () => {
    const valid = { RPC_URL: 'http://127.0.0.1:8545', ASSET_ADDRESS: ASSET, PAY_TO };
    const problems = problemsOf({ ...valid, FACILITATOR_ASSETS: `${PAY_TO}:USDC,0x12:a:1`, EIP6492_FACTORIES: '0x12' });
    expect(problems).toEqual([
      expect.stringContaining('FACILITATOR_ASSETS'),
      expect.stringContaining('FACILITATOR_ASSETS'),
      expect.stringContaining('EIP6492_FACTORIES'),
    ]);
  });

  it('refuse relayers under a policy that accepts any transaction as a proof', () => {
    const valid = { RPC_URL: 'http://127.0.0.1:8545', ASSET_ADDRESS: ASSET, PAY_TO, PAYMENT_POLICY: 'receipt' };
    const problems = problemsOf({ ...valid, RELAYER_PRIVATE_KEYS: `0x${'11'.repeat(32)}` });
    expect(problems).toEqual([expect.stringContaining('RELAYER_PRIVATE_KEYS needs PAYMENT_POLICY transfer or bound')]);
    expect(readEnvironment(VerifierEnvironment, valid).payment.paymentPolicy).toBe('receipt');
  });

  it('refuse a relayer, or the token, as the recipient of payments', () => {
    const key = `0x${'11'.repeat(32)}`;
    const valid = { RPC_URL: 'http://127.0.0.1:8545', ASSET_ADDRESS: ASSET, RELAYER_PRIVATE_KEYS: key };
    const { address } = privateKeyToAccount(`0x${'11'.repeat(32)}`);
    expect(problemsOf({ ...valid, PAY_TO: address })).toEqual([
      expect.stringContaining('PAY_TO is an account of RELAYER_PRIVATE_KEYS'),
    ]);
    expect(problemsOf({ ...valid, PAY_TO: ASSET.toLowerCase() })).toEqual([
      expect.stringContaining('PAY_TO is the token itself'),
    ]);
  });

  describe('of several options on one chain', () => {
    const folder = mkdtempSync(join(tmpdir(), 'verifier-options-'));
    afterAll(() => rmSync(folder, { recursive: true }));
    const key = `0x${'11'.repeat(32)}` as const;
    const { address } = privateKeyToAccount(key);
    const file = (name: string, payTo: string): Record<string, string> => {
      const path = join(folder, `${name}.yaml`);
      writeFileSync(
        path,
        `chains:
  base: { rpc: 'http://127.0.0.1:8545', relayers: '\${KEYS}' }
  sei: { rpc: 'http://127.0.0.1:8546' }
accepts:
  usdc-base: { chain: base, token: USDC, payTo: '${PAY_TO}' }
  usdc-sei: { chain: sei, token: USDC, payTo: '${address}' }
  weth-base: { chain: base, token: '${ASSET}', decimals: 18, payTo: '${payTo}' }
`,
      );
      return { PAYMENTS_FILE: path, KEYS: key };
    };

    it('have those of their chain, with addresses in lower case', () => {
      const { options } = readEnvironment(VerifierEnvironment, file('two', PAY_TO));
      expect(options.map(({ name, asset, payTo, decimals }) => [name, asset, payTo, decimals])).toEqual([
        ['usdc-base', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', PAY_TO.toLowerCase(), 6],
        ['weth-base', ASSET.toLowerCase(), PAY_TO.toLowerCase(), 18],
      ]);
    });

    it('refuse a relayer as the recipient of any of them', () => {
      expect(problemsOf(file('relayer', address))).toEqual([
        'accepts.weth-base.payTo is an account of chains.base.relayers. Relayers only hold gas: receive payments with another account.',
      ]);
    });
  });

  it('report every problem at once', () => {
    const problems = problemsOf({ CONFIRMATIONS: '0', RPC_BATCH_SIZE: 'many', PAY_TO: 'me', PAYMENT_POLICY: 'none' });
    for (const name of ['RPC_URL', 'ASSET_ADDRESS', 'PAY_TO', 'CONFIRMATIONS', 'RPC_BATCH_SIZE', 'PAYMENT_POLICY']) {
      expect(problems.some((problem) => problem.includes(name))).toBe(true);
    }
    expect(problems).toHaveLength(6);
  });

  it('report every wrong entry of a list as well', () => {
    const lists = { RPC_URL: 'ftp://rpc.example', FACILITATOR_ASSETS: 'foo', RELAYER_PRIVATE_KEYS: '0x12,nonsense' };
    const problems = problemsOf({
      ...lists,
      RPC_TIMEOUT_MS: 'x',
      SETTLE_GAS_CAP: 'lots',
      ASSET_ADDRESS: ASSET,
      PAY_TO,
    });
    expect(problems.map((problem) => problem.split(/:? /)[0]).sort()).toEqual([
      'FACILITATOR_ASSETS',
      'RELAYER_PRIVATE_KEYS',
      'RELAYER_PRIVATE_KEYS',
      'RPC_TIMEOUT_MS',
      'RPC_URL',
      'SETTLE_GAS_CAP',
    ]);
    expect(problems.join()).not.toContain('nonsense');
  });

  it('never print an RPC URL, which may carry a key', () => {
    const [problem, ...others] = problemsOf({ RPC_URL: 'ftp://rpc.example/SECRETKEY', ASSET_ADDRESS: ASSET, PAY_TO });
    expect(problem).toContain('RPC_URL: entry 1 is not an http:// or https:// URL');
    expect(problem).not.toContain('SECRETKEY');
    expect(others).toEqual([]);
  });

  it('mark which ones are secret', () => {
    const secrets = listSettings(VerifierEnvironment).filter(({ secret }) => secret);
    expect(secrets.map(({ name }) => name).sort()).toEqual([
      'QUEUE_REDIS_URL',
      'REDIS_URL',
      'RELAYER_PRIVATE_KEYS',
      'RPC_URL',
    ]);
  });
});

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readEnvironment(VerifierEnvironment, env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  throw new Error('the settings were accepted');
}
