import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startTwoChains, type TwoChains } from '../../../../tools/devnet/chain/two-chains.js';
import { useFolder, useOpened } from '../../test/set-up.js';
import { startSigningShop } from '../../test/signing-shop.js';
import { runPay } from './pay-command.js';
import { addAssets, type PayingAssets } from './read-assets.js';

const USDC = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
const TOKEN = `0x${'e1'.repeat(20)}`;
const first: PayingAssets = {
  chains: [{ chainId: 1328, rpcUrl: 'http://127.0.0.1:1' }],
  assets: [{ network: 'chain-testnet', chainId: 1328, address: USDC, decimals: 6 }],
};
const RPC = 'rpc=http://127.0.0.1:2';

describe('--also', () => {
  it.each<[string, string, object]>([
    [
      'a known chain, with its USDC',
      `chain-id=8453 ${RPC}`,
      { network: 'base', chainId: 8453, address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', decimals: 6 },
    ],
    [
      'any token of any chain',
      `chain-id=31337 ${RPC} asset=${TOKEN} decimals=18`,
      { network: 'eip155:31337', chainId: 31337, address: TOKEN, decimals: 18 },
    ],
    [
      'another token of the first chain, with all terms',
      ` asset=${TOKEN}  decimals=18 network=own pay-to=${USDC} max=0.00001 `,
      { network: 'own', chainId: 1328, address: TOKEN, decimals: 18, payTo: USDC, maxAmount: '0.00001' },
    ],
  ])('adds %s', (_name, text, asset) => {
    const { assets, chains } = addAssets(first, [text]);
    expect(assets).toEqual([...first.assets, asset]);
    expect(chains.slice(1)).toEqual(
      text.includes(RPC) ? [{ chainId: assets[1]?.chainId, rpcUrl: 'http://127.0.0.1:2' }] : [],
    );
  });

  it('adds two tokens of another chain, whose RPC server is named once', () => {
    const { assets, chains } = addAssets(first, [`chain-id=84532 ${RPC}`, `chain-id=84532 asset=${TOKEN} decimals=18`]);
    expect(chains.map(({ chainId }) => chainId)).toEqual([1328, 84532]);
    expect(assets.map(({ chainId }) => chainId)).toEqual([1328, 84532, 84532]);
  });

  it.each<[string, string, RegExp]>([
    ['no pairs', 'base', /--also is not name=value pairs of chain-id, rpc, network, asset, decimals, pay-to, max$/],
    ['an unknown field', `chain-id=8453 ${RPC} token=USDC`, /is not name=value pairs/],
    ['a field twice', 'chain-id=8453 chain-id=1', /--also has chain-id twice$/],
    ['a chain that is no number', `chain-id=base ${RPC}`, /--also: chain-id is not a whole number$/],
    ['no RPC server', 'chain-id=8453', /--also: rpc is missing for chain 8453$/],
    ['a second RPC server', `${RPC} asset=${TOKEN} decimals=6`, /chain 1328 has an RPC server already: leave rpc out$/],
    ['an RPC server that is none', 'chain-id=8453 rpc=canary', /--also: rpc is not a URL/],
    ['no token of an unknown chain', `chain-id=31337 ${RPC}`, /--also: asset is missing for chain 31337$/],
    ['a token that is no address', 'asset=USDC decimals=6', /--also: asset is not an address$/],
    ['no decimals of an unknown token', `asset=${TOKEN}`, /--also: decimals are missing for 0xe1/],
    ['decimals that no token has', `asset=${TOKEN} decimals=256`, /--also: decimals is above 255$/],
    ['a recipient that is no address', `pay-to=0x12`, /--also: pay-to is not an address$/],
    ['a limit that is no amount', 'max=much', /--also: max: Token amount "much"/],
  ])('is refused with %s, and quotes no RPC URL', (_name, text, message) => {
    const add = () => addAssets(first, [text]);
    expect(add).toThrow(message);
    expect(add).not.toThrow(/canary|127\.0\.0\.1:2/);
  });

  it('is named by its number where there are several', () => {
    const ether = `asset=${TOKEN} decimals=18`;
    expect(() => addAssets(first, [ether, 'max=much'])).toThrow(/^--also number 2: max/);
  });
});

describe('pay on two chains', () => {
  const chains = {} as TwoChains;
  const open = useOpened();
  const folder = useFolder();
  beforeAll(async () => void Object.assign(chains, await startTwoChains()));
  afterAll(() => chains.stop?.());

  const run = async (args: readonly string[], env: NodeJS.ProcessEnv) => {
    let stderr = '';
    const terminal = { showsStdout: false, stdout: async () => undefined, stderr: (line: string) => (stderr += line) };
    return { code: await runPay([...args, '--rpc-timeout', '60'], env, terminal), stderr };
  };
  /** Takes payments on the second chain alone. */
  const startShop = async () => {
    const shop = await open(startSigningShop(chains.second, 2));
    shop.offer = { network: 'eip155:84532' };
    return shop;
  };

  it('pays by --also where the first token is not taken', async () => {
    const { first: one, second } = chains;
    const shop = await startShop();
    const also = `chain-id=84532 rpc=${second.rpcUrl} asset=${second.asset} decimals=6`;
    const args = [shop.url, '--max', '0.001', '--rpc', one.rpcUrl, '--store', folder()];
    const env = { WALLET_PRIVATE_KEY: one.accounts[3]!.privateKey };
    expect(await run([...args, '--also', also], env)).toMatchObject({ code: 0 });
    const alone = await run([...args, '--idempotency-key', 'again'], env);
    expect(alone).toMatchObject({ code: 3, stderr: expect.stringContaining('on eip155:84532 to') });
    expect(shop.shown).toHaveLength(1);
  });

  it('pays by --dev on the second chain of a devnet', async () => {
    const { first: one, second } = chains;
    const shop = await startShop();
    const { rpcUrl, chainId, asset, payTo, accounts } = one;
    const secondChain = { rpcUrl: second.rpcUrl, chainId: second.chainId, network: 'two', asset: second.asset };
    const state = { rpcUrl, chainId, network: 'chain-testnet', asset, payTo, accounts, secondChain };
    const directory = join(folder(), 'state');
    await mkdir(directory);
    await writeFile(join(directory, 'dev.json'), JSON.stringify(state));
    expect(await run([shop.url, '--max', '0.001', '--dev'], { TOLLGATE_STATE_DIR: directory })).toMatchObject({
      code: 0,
    });
    expect(shop.shown).toHaveLength(1);
  });
});
