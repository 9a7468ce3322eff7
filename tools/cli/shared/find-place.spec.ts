import { mkdirSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { claimPidFile } from '../../../scripts/process-identity.mjs';
import { tollgate } from '../test/run-tollgate.js';
import { findOperator, findQueueRedisPlace, findRedisPlace, findRpcServers } from './find-place.js';

const OF_DEV = { url: 'http://127.0.0.1:40001', apiKey: 'key-of-dev' };
const DEFAULT_URL = 'http://127.0.0.1:4023';

describe('findOperator', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-place-'));
    writeFileSync(join(folder, 'dev.json'), JSON.stringify({ operator: OF_DEV }));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const find = (given: string | undefined, env: Record<string, string>) =>
    findOperator(given, { TOLLGATE_STATE_DIR: folder, ...env });

  it('takes address and key of a running npm run dev where neither is set', () => {
    expect(find(undefined, {})).toEqual(OF_DEV);
    expect(find(undefined, { OPERATOR_URL: '', OPERATOR_API_KEY: '' })).toEqual(OF_DEV);
  });

  it('sends another key to no address of npm run dev', () => {
    expect(find(undefined, { OPERATOR_API_KEY: 'other' })).toEqual({ url: DEFAULT_URL, apiKey: 'other' });
  });

  it('sends the key of npm run dev to no other address', () => {
    const shop = 'https://shop.example';
    expect(find(shop, {})).toEqual({ url: shop, apiKey: '' });
    expect(find(undefined, { OPERATOR_URL: shop })).toEqual({ url: shop, apiKey: '' });
    expect(find(shop, { OPERATOR_URL: 'https://other.example', OPERATOR_API_KEY: 'own' })).toEqual({
      url: shop,
      apiKey: 'own',
    });
  });
});

describe('findRpcServers', () => {
  const REDIS = 'redis://127.0.0.1:40002';
  const RPC = 'http://127.0.0.1:40003';
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-place-'));
    writeFileSync(join(folder, 'dev.json'), JSON.stringify({ redisUrl: REDIS, rpcUrl: RPC }));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const find = (given: { rpc?: string; redis?: string }, env: Record<string, string>, chainId: number | null = null) =>
    findRpcServers(given, { TOLLGATE_STATE_DIR: folder, ...env })(chainId);

  it('takes that of a running npm run dev for its Redis', () => {
    expect(find({}, {})).toEqual([RPC]);
    expect(find({ redis: REDIS }, { REDIS_URL: 'redis://shop.example' })).toEqual([RPC]);
  });

  it('takes that of the chain, of two that run', () => {
    const two = join(folder, 'two');
    mkdirSync(two);
    const secondChain = { chainId: 84_532, rpcUrl: 'http://127.0.0.1:40004' };
    writeFileSync(join(two, 'dev.json'), JSON.stringify({ redisUrl: REDIS, rpcUrl: RPC, secondChain }));
    const env = { TOLLGATE_STATE_DIR: two };
    expect([1328, 84_532, null].map((chainId) => find({}, env, chainId))).toEqual([[RPC], [secondChain.rpcUrl], []]);
  });

  it('takes those of the chain in PAYMENTS_FILE, of whose variables the others may be missing', () => {
    const file = join(folder, 'payments.yaml');
    const payTo = `0x${'5a'.repeat(20)}`;
    writeFileSync(
      file,
      `chains: { base: { rpc: '\${BASE_RPC}' }, sei: { rpc: '\${SEI_RPC}' } }
accepts:
  usdc-base: { chain: base, token: USDC, payTo: '${payTo}' }
  usdc-sei: { chain: sei, token: USDC, payTo: '${payTo}' }
`,
    );
    const env = { PAYMENTS_FILE: file, SEI_RPC: 'https://sei.example' };
    expect(find({}, env, 1329)).toEqual(['https://sei.example']);
    expect(find({}, env, 1)).toEqual([]);
    expect(() => find({}, env, 8453)).toThrow('BASE_RPC');
    // Which of the two is meant, nothing says.
    expect(find({}, { ...env, BASE_RPC: 'https://base.example' })).toEqual([]);
    expect(find({ rpc: 'https://a.example' }, env, 1329)).toEqual(['https://a.example']);
  });

  // Prevents: a wallet of production is adopted at the nonces of a chain that knows none of its transactions.
  it('takes it for no other Redis', () => {
    expect(find({}, { REDIS_URL: 'redis://shop.example' })).toEqual([]);
    expect(find({ redis: 'redis://shop.example' }, {})).toEqual([]);
  });

  it('takes those that are given, whatever the Redis', () => {
    expect(find({ rpc: 'https://a.example, https://b.example' }, {})).toEqual([
      'https://a.example',
      'https://b.example',
    ]);
    expect(find({}, { REDIS_URL: 'redis://shop.example', RPC_URL: 'https://a.example' })).toEqual([
      'https://a.example',
    ]);
  });
});

describe('a killed npm run dev', () => {
  const NO_PROCESS = 2 ** 30;
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-place-'));
    writeFileSync(join(folder, 'dev.json'), JSON.stringify({ redisUrl: 'redis://127.0.0.1:9', operator: OF_DEV }));
    writeFileSync(join(folder, 'dev.pid'), `${NO_PROCESS} 12345`);
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const killed = () =>
    `The npm run dev in ${folder} was killed, and nothing answers there: start it, or name the folder of its dev.json with TOLLGATE_STATE_DIR.\n`;

  it.each([['payments'], ['jobs'], ['keys'], ['wallets'], ['webhooks'], ['book', 'balances'], ['refunds']])(
    'is named by tollgate %s, with what to type',
    async (...command) => {
      const list = command.length === 1 ? [...command, 'list'] : command;
      await expect(tollgate(list, { TOLLGATE_STATE_DIR: folder })).rejects.toMatchObject({ stderr: killed() });
    },
  );

  it('is no reason to refuse a command that has an address', () => {
    const env = { TOLLGATE_STATE_DIR: folder, REDIS_URL: 'redis://shop.example' };
    expect(findRedisPlace(undefined, env)).toEqual({ url: 'redis://shop.example' });
  });

  it('is one that runs while its process does', () => {
    expect(claimPidFile(join(folder, 'dev.pid'))).toBe(true);
    expect(findOperator(undefined, { TOLLGATE_STATE_DIR: folder })).toEqual(OF_DEV);
  });

  it('is one whose id a later process has, where the system tells when that one has started', () => {
    writeFileSync(join(folder, 'dev.pid'), `${process.pid} 12345`);
    const find = () => findOperator(undefined, { TOLLGATE_STATE_DIR: folder });
    if (existsSync('/proc/self/stat')) expect(find).toThrow('was killed');
    else expect(find()).toEqual(OF_DEV);
  });

  it("runs where its process is another user's", () => {
    claimPidFile(join(folder, 'dev.pid'));
    const refused = Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    const kill = jest.spyOn(process, 'kill').mockImplementation(() => {
      throw refused;
    });
    try {
      expect(findOperator(undefined, { TOLLGATE_STATE_DIR: folder })).toEqual(OF_DEV);
      expect(kill).toHaveBeenCalledWith(process.pid, 0);
    } finally {
      kill.mockRestore();
    }
  });
});

it('names the folder in which no npm run dev was found, where nothing else is set', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-place-'));
  try {
    await expect(tollgate(['book', 'balances'], { TOLLGATE_STATE_DIR: folder })).rejects.toMatchObject({
      stderr: expect.stringMatching(
        new RegExp(`^OPERATOR_API_KEY is not set\\. .* No npm run dev runs in ${folder}: start it, or name the folder`),
      ),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('adds that folder to no address that was set, be it the default', () => {
  const env = { TOLLGATE_STATE_DIR: join(tmpdir(), 'tollgate-nowhere') };
  const DEFAULT_REDIS = 'redis://127.0.0.1:6379';
  const hint = expect.stringContaining(`No npm run dev runs in ${env.TOLLGATE_STATE_DIR}`);
  expect(findRedisPlace(undefined, env)).toEqual({ url: DEFAULT_REDIS, hint });
  expect(findQueueRedisPlace({}, env)).toEqual({ url: DEFAULT_REDIS, hint });
  expect(findOperator(undefined, env)).toEqual({ url: DEFAULT_URL, apiKey: '', hint });
  expect(findRedisPlace(undefined, { ...env, REDIS_URL: DEFAULT_REDIS })).toEqual({ url: DEFAULT_REDIS });
  expect(findQueueRedisPlace({}, { ...env, REDIS_URL: DEFAULT_REDIS })).toEqual({ url: DEFAULT_REDIS });
  expect(findOperator(DEFAULT_URL, env)).toEqual({ url: DEFAULT_URL, apiKey: '' });
});
