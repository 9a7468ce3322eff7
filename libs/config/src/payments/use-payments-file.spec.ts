import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { IsOptional } from 'class-validator';

import { AcceptanceEnvironment } from '../acceptance.environment.js';
import { describeSettings } from '../compare-settings.js';
import { ConfigurationError } from '../configuration-error.js';
import { PaymentEnvironment } from '../payment.environment.js';
import { readEnvironment } from '../read-environment.js';
import { RedisEnvironment } from '../redis.environment.js';
import { RpcEnvironment } from '../rpc.environment.js';
import { Setting, SettingGroup } from '../setting.js';
import { SignedPaymentsEnvironment } from '../signed-payments.environment.js';
import { listOptions } from './list-options.js';
import { OwnChainEnvironment } from './payments-file.environment.js';

/** A process without a connection to a chain, and one that serves a chain. */
class Gateway {
  @SettingGroup(PaymentEnvironment) readonly payment!: PaymentEnvironment;
  @SettingGroup(AcceptanceEnvironment) readonly acceptance!: AcceptanceEnvironment;
}
class Verifier extends Gateway {
  @SettingGroup(RpcEnvironment) readonly rpc!: RpcEnvironment;
}

class VerifierOfOneChain extends Verifier {
  @SettingGroup(OwnChainEnvironment) readonly own!: OwnChainEnvironment;
}

const SHOP = `0x${'5a'.repeat(20)}`;

describe('PAYMENTS_FILE', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-file-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = join(folder, 'payments.yaml');
  writeFileSync(
    file,
    `chains:
  base: { rpc: ['https://one.example', '\${BASE_RPC}'], confirmations: 4 }
accepts:
  usdc-base: { chain: base, token: USDC, payTo: '${SHOP}' }
`,
  );

  const problemsOf = (env: Record<string, string>, environment: typeof Gateway = Gateway): readonly string[] => {
    try {
      readEnvironment(environment, { PAYMENTS_FILE: file, ...env });
      return [];
    } catch (error) {
      return (error as ConfigurationError).problems;
    }
  };

  it('stands for the settings of chain and token', () => {
    const { payment, acceptance } = readEnvironment(Gateway, { PAYMENTS_FILE: file });
    expect(payment).toMatchObject({ chainId: 8453, network: 'base', domainName: 'USD Coin', payTo: SHOP });
    expect(acceptance.confirmations).toBe(4);
  });

  it('gives the RPC servers to a process that reads the chain', () => {
    const { rpc } = readEnvironment(Verifier, { PAYMENTS_FILE: file, BASE_RPC: 'https://two.example' });
    expect(rpc.rpcUrl).toEqual(['https://one.example', 'https://two.example']);
  });

  it('takes a variable of it from a file, as container platforms provide a secret', () => {
    const secret = join(folder, 'rpc');
    writeFileSync(secret, 'https://three.example\n');
    const { rpc } = readEnvironment(Verifier, { PAYMENTS_FILE: file, BASE_RPC_FILE: secret });
    expect(rpc.rpcUrl).toEqual(['https://one.example', 'https://three.example']);
    expect(problemsOf({ BASE_RPC_FILE: join(folder, 'none') }, Verifier)).toEqual([
      `PAYMENTS_FILE ${file}: chains.base.rpc: needs the file of BASE_RPC_FILE, which cannot be read (ENOENT).`,
    ]);
  });

  it('agrees with a process that has the same in variables', () => {
    const describe = (env: Record<string, string>): string[] => {
      const environment = {
        ...readEnvironment(Gateway, env),
        signedPayments: readEnvironment(SignedPaymentsEnvironment, {}),
        redis: readEnvironment(RedisEnvironment, {}),
      };
      return listOptions(environment).map((option) => describeSettings(environment, option));
    };
    const variables = {
      NETWORK: 'base',
      CHAIN_ID: '8453',
      ASSET_ADDRESS: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      ASSET_NAME: 'USD Coin',
      PAY_TO: SHOP,
      CONFIRMATIONS: '4',
    };
    expect(describe({ PAYMENTS_FILE: file })).toEqual(describe(variables));
  });

  describe('of two chains', () => {
    const both = join(folder, 'both.yaml');
    writeFileSync(
      both,
      `chains:
  sei: { rpc: '\${SEI_RPC}', confirmations: 2 }
  base: { rpc: '\${BASE_RPC}' }
accepts:
  usdc-sei: { chain: sei, token: USDC, payTo: '${SHOP}' }
  usdc-base: { chain: base, token: USDC, payTo: '${SHOP}' }
`,
    );
    const [SEI_RPC, BASE_RPC] = ['https://sei.example', 'https://base.example'];

    it('gives all options to a process that serves every chain, with the RPC servers of each if it reads them', () => {
      const gateway = listOptions(readEnvironment(Gateway, { PAYMENTS_FILE: both }));
      expect(gateway.map(({ chain }) => chain.rpc)).toEqual([['${SEI_RPC}'], ['${BASE_RPC}']]);
      const reader = listOptions(readEnvironment(Verifier, { PAYMENTS_FILE: both, SEI_RPC, BASE_RPC }));
      expect(reader.map(({ chain }) => chain.rpc)).toEqual([[SEI_RPC], [BASE_RPC]]);
      expect(problemsOf({ PAYMENTS_FILE: both }, Verifier)).toHaveLength(2);
    });

    it('gives the bookkeeper the servers by which it compares the book, which are those of the chain unless others are named', () => {
      class Bookkeeper extends Verifier {
        @Setting({ secret: true, as: 'list', help: 'Servers.' })
        @IsOptional()
        readonly reconcileRpcUrl: string[] = [];
      }
      const named = join(folder, 'named.yaml');
      writeFileSync(
        named,
        `chains:
  sei: { rpc: '\${SEI_RPC}', reconcileRpc: 'https://archive.example', reconcileConfirmations: 1 }
  base: { rpc: '\${BASE_RPC}', reconcileRpc: [] }
  polygon: { rpc: '\${SEI_RPC}' }
accepts:
  usdc-sei: { chain: sei, token: USDC, payTo: '${SHOP}' }
  usdc-base: { chain: base, token: USDC, payTo: '${SHOP}' }
  usdc-polygon: { chain: polygon, token: USDC, payTo: '${SHOP}' }
`,
      );
      const env = { PAYMENTS_FILE: named, SEI_RPC, BASE_RPC };
      const bookkeeper = readEnvironment(Bookkeeper, env);
      expect(bookkeeper.reconcileRpcUrl).toEqual(['https://archive.example']);
      expect(listOptions(bookkeeper).map(({ chain }) => [chain.reconcileRpc, chain.reconcileConfirmations])).toEqual([
        [['https://archive.example'], 1],
        [[], null],
        [[SEI_RPC], null],
      ]);
      expect(problemsOf({ ...env, RECONCILE_RPC_URL: 'https://other.example' }, Bookkeeper)).toEqual([
        'PAYMENTS_FILE replaces RECONCILE_RPC_URL: remove them, or the file.',
      ]);
    });

    it('gives a process that serves one chain what concerns that chain, by default the first', () => {
      const env = { PAYMENTS_FILE: both, BASE_RPC };
      const { payment, acceptance, rpc } = readEnvironment(VerifierOfOneChain, { ...env, CHAIN: 'base' });
      expect([payment.chainId, acceptance.confirmations, rpc.rpcUrl]).toEqual([8453, 1, [BASE_RPC]]);
      expect(payment.payments?.options.map(({ name }) => name)).toEqual(['usdc-base']);
      const first = readEnvironment(VerifierOfOneChain, { PAYMENTS_FILE: both, SEI_RPC });
      expect([first.payment.chainId, first.acceptance.confirmations]).toEqual([1329, 2]);
    });

    it('is refused for a chain that no option has, and for a chain without a file', () => {
      expect(problemsOf({ PAYMENTS_FILE: both, CHAIN: 'bse' }, VerifierOfOneChain)).toEqual([
        `PAYMENTS_FILE ${both}: CHAIN bse is no chain of an option; did you mean "base"?`,
      ]);
      expect(problemsOf({ PAYMENTS_FILE: '', CHAIN: 'base' }, VerifierOfOneChain)).toContain(
        'CHAIN names a chain of PAYMENTS_FILE, which is not set.',
      );
    });
  });

  it('is refused beside the settings that it replaces, in one sentence', () => {
    expect(problemsOf({ CHAIN_ID: '1', PAY_TO: SHOP, RPC_URL: 'http://unused' })).toEqual([
      'PAYMENTS_FILE replaces CHAIN_ID, PAY_TO: remove them, or the file.',
    ]);
  });

  it('is refused where a process that reads the chain has no RPC server of it', () => {
    expect(problemsOf({}, Verifier)).toEqual([
      `PAYMENTS_FILE ${file}: chains.base.rpc: needs the environment variable BASE_RPC, which is not set.`,
    ]);
    const silent = join(folder, 'silent.yaml');
    writeFileSync(silent, `chains: { base: }\naccepts: { one: { chain: base, token: USDC, payTo: '${SHOP}' } }\n`);
    expect(problemsOf({ PAYMENTS_FILE: silent })).toEqual([]);
    expect(problemsOf({ PAYMENTS_FILE: silent }, Verifier)).toEqual([
      `PAYMENTS_FILE ${silent}: chains.base.rpc is missing, and this process reads the chain.`,
    ]);
  });

  it('says of a file that is missing or wrong what is wrong with it, and nothing of the settings that it replaces', () => {
    const missing = join(folder, 'none.yaml');
    expect(problemsOf({ PAYMENTS_FILE: missing })).toEqual([`PAYMENTS_FILE ${missing}: ${missing} does not exist.`]);
    const wrong = join(folder, 'wrong.yaml');
    writeFileSync(wrong, 'chains: {}\naccepts: {}\n');
    expect(problemsOf({ PAYMENTS_FILE: wrong, MAX_TIMEOUT_SECONDS: '0' })).toEqual([
      `PAYMENTS_FILE ${wrong}: chains (line 1): must have at least one chain, by its name.`,
      `PAYMENTS_FILE ${wrong}: accepts (line 2): must have at least one option, by its name.`,
      expect.stringContaining('MAX_TIMEOUT_SECONDS'),
    ]);
  });
});
