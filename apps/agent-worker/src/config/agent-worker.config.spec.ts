import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ConfigurationError, readEnvironment } from '@tollgate/config';
import * as Keystore from 'ox/Keystore';
import { privateKeyToAddress } from 'viem/accounts';

import { AgentWorkerEnvironment } from './agent-worker.config.js';

const KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
const OTHER_KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a';
const CANARY = 'canary-in-the-coal-mine';
const NEEDED = { RPC_URL: 'http://127.0.0.1:8545', AGENT_SECRET: 'an-agent-secret-of-more-than-32-characters' };

describe('the settings of the agent worker', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-wallets-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  function file(name: string, content: unknown): string {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  function read(env: Record<string, string>) {
    const environment = readEnvironment(AgentWorkerEnvironment, { ...NEEDED, ...env });
    return { environment, wallets: environment.wallets.walletsOn(environment.chain.chainId) };
  }

  function problemsOf(env: Record<string, string>): readonly string[] {
    try {
      readEnvironment(AgentWorkerEnvironment, env);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as ConfigurationError).problems;
    }
    throw new Error('it was taken');
  }

  it('open the wallet main from its key, the key file, and its policy', () => {
    const policy = file('policy.json', { maxPerDay: { USDC: '10' } });
    for (const env of [{ WALLET_PRIVATE_KEY: KEY.slice(2) }, { WALLET_PRIVATE_KEY_FILE: file('key', `${KEY}\n`) }]) {
      const [main, ...others] = read({ ...env, POLICY_FILE: policy }).wallets;
      const address = privateKeyToAddress(KEY).toLowerCase();
      expect(main).toMatchObject({ name: 'main', address, lane: { chainId: 1328, address } });
      expect(main).toMatchObject({ policy: { maxPerDay: { USDC: '10' } }, approvalAbove: {} });
      expect(others).toEqual([]);
    }
  });

  it('open named wallets from encrypted keystores and key files, relative to the file that names them', () => {
    const [key, options] = Keystore.pbkdf2({ password: 'open sesame ', iterations: 2, iv: randomBytes(16) });
    file('treasury.json', Keystore.encrypt(KEY, key, options));
    file('treasury.password', 'open sesame \n');
    file('bot.key', OTHER_KEY);
    const wallets = `
wallets:
  treasury:
    keystore: treasury.json
    passwordFile: treasury.password
    policy: { operations: [transfer] }
    approvalAbove: { USDC: '2.5' }
  bot: { privateKeyFile: bot.key }
`;
    const opened = read({ WALLETS_FILE: file('wallets.yaml', wallets), CHAIN_ID: '1329' }).wallets;
    expect(opened.map(({ signer: _, ...wallet }) => wallet)).toEqual([
      {
        name: 'treasury',
        address: privateKeyToAddress(KEY).toLowerCase(),
        lane: { chainId: 1329, address: privateKeyToAddress(KEY).toLowerCase() },
        policy: { operations: ['transfer'] },
        approvalAbove: { USDC: '2.5' },
      },
      {
        name: 'bot',
        address: privateKeyToAddress(OTHER_KEY).toLowerCase(),
        lane: { chainId: 1329, address: privateKeyToAddress(OTHER_KEY).toLowerCase() },
        policy: {},
        approvalAbove: {},
      },
    ]);
  });

  it('are refused with all problems at once, without any secret value', () => {
    const problems = problemsOf({
      AGENT_WORKER_PORT: '99999',
      RPC_URL: `ftp://${CANARY}`,
      WALLET_PRIVATE_KEY: `0x${CANARY}`,
      POLICY_FILE: file('no-policy.json', '{"maxPerDay":'),
      AGENT_SECRET: CANARY,
      MAX_FEE_GWEI: '1e3',
      LANE_MAX_IN_FLIGHT: '0',
      REDIS_URL: `http://:${CANARY}@host`,
    });
    expect(problems.map((problem) => problem.split(' ')[0]?.replace(':', ''))).toEqual([
      'AGENT_WORKER_PORT',
      'RPC_URL',
      'POLICY_FILE',
      'WALLET_PRIVATE_KEY',
      'LANE_MAX_IN_FLIGHT',
      'MAX_FEE_GWEI',
      'AGENT_SECRET',
      'REDIS_URL',
    ]);
    expect(problems.join('\n')).not.toContain(CANARY);
  });

  it.each(['[]', '""', '0', 'null'])('are refused with a policy that is not an object: %s', (policy) => {
    const path = file('odd-policy.json', policy);
    expect(problemsOf({ ...NEEDED, WALLET_PRIVATE_KEY: KEY, POLICY_FILE: path })).toEqual([
      `POLICY_FILE: ${path} is not a JSON object.`,
    ]);
  });

  it('are refused without a wallet, and with two names for one account', () => {
    expect(problemsOf(NEEDED)).toEqual([
      'WALLET_PRIVATE_KEY or WALLETS_FILE must be set: a worker signs for at least one wallet.',
    ]);
    file('same.key', KEY);
    const wallets = { main: { privateKeyFile: 'bot.key' }, same: { privateKeyFile: 'same.key' } };
    const env = { ...NEEDED, WALLET_PRIVATE_KEY: KEY, WALLETS_FILE: file('doubles.json', { wallets }) };
    expect(problemsOf(env)).toEqual([
      'The wallet main is in WALLET_PRIVATE_KEY and in WALLETS_FILE. Remove one of them.',
      'The wallets main and same are the same account.',
    ]);
  });

  it('are refused with every problem of the wallets file and its position', () => {
    file('wrong.password', 'wrong');
    file('empty.key', `0x${'0'.repeat(64)}`);
    const problems = (wallets: unknown) => problemsOf({ ...NEEDED, WALLETS_FILE: file('wrong.json', wallets) });
    expect(
      problems({
        wallets: {
          typed: { privateKey: `0x${CANARY}` },
          both: { keystore: 'a', privateKeyFile: 'b' },
          'a name': { privateKeyFile: 'b' },
          amount: { privateKeyFile: 'b', approvalAbove: { USDC: 5 } },
        },
      }),
    ).toEqual([
      'WALLETS_FILE: wallets.typed: Unrecognized key: "privateKey"',
      'WALLETS_FILE: wallets.typed: a wallet has either keystore and passwordFile, or privateKeyFile',
      'WALLETS_FILE: wallets.both: a wallet has either keystore and passwordFile, or privateKeyFile',
      'WALLETS_FILE: wallets.a name: Invalid key in record',
      'WALLETS_FILE: wallets.amount.approvalAbove.USDC: Invalid input: expected string, received number',
    ]);
    expect(
      problems({
        wallets: {
          treasury: { keystore: 'treasury.json', passwordFile: 'wrong.password' },
          gone: { privateKeyFile: 'gone.key' },
          empty: { privateKeyFile: 'empty.key' },
        },
      }),
    ).toEqual([
      'WALLETS_FILE: wallets.treasury.keystore: the password does not open the keystore.',
      `WALLETS_FILE: wallets.gone.privateKeyFile: ${join(folder, 'gone.key')} does not exist.`,
      'WALLETS_FILE: wallets.empty.privateKeyFile is not a private key: 32 bytes in hexadecimal.',
    ]);
    expect(problems('wallets: [a: b')).toEqual([
      expect.stringMatching(/^WALLETS_FILE is neither YAML nor JSON: .*line 1/),
    ]);
  });

  it('become the settings of lanes, with fees in wei', () => {
    const { environment } = read({ WALLET_PRIVATE_KEY: KEY, MAX_FEE_GWEI: '0.5', MAX_PRIORITY_FEE_GWEI: '0.25' });
    expect(environment.lanes.laneSettings(7000)).toMatchObject({
      maxFeePerGas: 500_000_000n,
      maxPriorityFeePerGas: 250_000_000n,
      maxInFlight: 64,
      approvalTimeoutMs: 86_400_000,
      stopWithinMs: 7000,
    });
    expect(problemsOf({ ...NEEDED, WALLET_PRIVATE_KEY: KEY, MAX_FEE_GWEI: '1' })).toEqual([
      'MAX_PRIORITY_FEE_GWEI must not be above MAX_FEE_GWEI.',
    ]);
  });
});
