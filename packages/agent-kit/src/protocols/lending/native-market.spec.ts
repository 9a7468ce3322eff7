import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  http,
  numberToHex,
  parseAbi,
  parseEther,
  parseUnits,
  type Abi,
  type Address,
  type Hex,
} from 'viem';

import type { DevnetWithProtocols } from '../../../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { repositoryRoot } from '../../../../../tools/devnet/processes/repository.js';
import { createdAddress, DEPLOYER, sendAsDeployer } from '../../../../../tools/devnet/protocols/deployer.js';
import { expectFailure, useChain } from '../../../../client/test/set-up.js';
import { createFundedKit } from '../../../test/create-funded-kit.js';
import type { AgentKit } from '../../agent-kit.js';
import { createDevnetRegistry } from '../../registry/devnet.js';
import { compoundV2 } from './compound-v2.js';

const CETHER = 'node_modules/@thenextblock/hardhat-compound/dist/artifacts/contracts/compound/CEther.sol/CEther.json';

const abi = parseAbi([
  'function setUnderlying(address market, string asset, uint8 decimals)',
  'function interestRateModel() view returns (address)',
  'function _supportMarket(address market) returns (uint256)',
  'function _setCollateralFactor(address market, uint256 factor) returns (uint256)',
  'function mint() payable',
  'function enterMarkets(address[] markets) returns (uint256[])',
]);

/** As on chain 1329, where the native token has a market of its own besides those of tokens. */
describe('the lending market of the native token', () => {
  const chain = useChain({ protocols: true });
  let market: Address;
  let kit: AgentKit;

  beforeAll(async () => {
    market = await deployNativeMarket(chain);
    const registry = createDevnetRegistry(chain.chainId);
    const { comptroller } = chain.contracts.lending;
    kit = await createFundedKit(chain, {
      registry: {
        ...registry,
        protocols: [compoundV2({ comptroller, chainIds: [chain.chainId], nativeMarkets: [market] })],
      },
    });
  });

  it('is listed, and is an unknown market if it is not configured', async () => {
    const { markets } = await kit.getLendingMarkets();
    expect(markets.at(-1)).toMatchObject({ symbol: 'SEI', tokenAddress: '0x0', market, cash: '1000' });
    const other = await createFundedKit(chain);
    expect((await other.getLendingMarkets()).markets.map(({ symbol }) => symbol)).toEqual(['USDC', 'WSEI', 'WBTC']);
    await expectFailure(other.mintLending('SEI', '1'), 'UNKNOWN_TOKEN');
  });

  it('receives the native token as the value of the call, without an approval, and pays it back', async () => {
    const plan = await kit.plan('mintLending', { symbol: 'SEI', amount: '10' });
    expect(plan.steps.map(({ label, value }) => [label, value])).toEqual([['Supply 10 SEI', parseEther('10')]]);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success', symbol: 'SEI' });
    expect(Number(await kit.getERC20Balance())).toBeLessThan(90);
    expect(await kit.redeemLending('SEI', '4')).toMatchObject({ status: 'success' });
    expect(await kit.redeemLending('0x0', 'MAX')).toMatchObject({ status: 'success' });
    expect(Number(await kit.getERC20Balance())).toBeCloseTo(100, 1);
    await expectFailure(kit.mintLending('SEI', '101'), 'INSUFFICIENT_FUNDS');
  });

  it('lends, and accepts no more than is owed: after MAX the latest interest remains', async () => {
    await kit.mintLending('USDC', '1000');
    expect(await kit.borrowLending('SEI', '100')).toMatchObject({ status: 'success' });
    await callRpc(chain.rpcUrl, 'anvil_mine', [numberToHex(50)]);
    expect(await kit.repayLending('SEI', '40')).toMatchObject({ status: 'success' });
    const plan = await kit.plan('repayLending', { symbol: 'SEI', amount: 'MAX' });
    expect(plan.warnings).toEqual(['The interest of the time until this is mined remains as a debt.']);
    expect(await kit.execute(plan)).toMatchObject({ status: 'success' });
    const { borrowed } = await kit.getLendingPosition();
    expect(Number(borrowed[0]?.amount ?? '0')).toBeLessThan(0.0001);
  });

  it('makes the totals of an account that uses it impossible if it is not configured', async () => {
    const other = await createFundedKit(chain);
    const data = encodeFunctionData({ abi, functionName: 'enterMarkets', args: [[market]] });
    await callRpc(chain.rpcUrl, 'anvil_impersonateAccount', [other.address]);
    await sendTransaction(chain, { from: other.address, to: chain.contracts.lending.comptroller, data });
    await callRpc(chain.rpcUrl, 'anvil_stopImpersonatingAccount', [other.address]);
    await expect(other.getLendingPosition()).rejects.toMatchObject({
      code: 'PROTOCOL_FAILED',
      message: `The account uses the market ${market}, whose token cannot be read.`,
    });
  });

  it('refuses a borrow beyond the collateral', async () => {
    await expectFailure(kit.borrowLending('SEI', '900000'), 'INSUFFICIENT_COLLATERAL');
  });
});

/** A market of the native token like that of WSEI, with 1,000 available to borrow. */
async function deployNativeMarket({ rpcUrl, contracts }: DevnetWithProtocols): Promise<Address> {
  const { comptroller, oracle, markets } = contracts.lending;
  const client = createPublicClient({ transport: http(rpcUrl) });
  const artifact = JSON.parse(await readFile(join(repositoryRoot(), CETHER), 'utf8')) as { abi: Abi; bytecode: Hex };
  const rates = await client.readContract({ address: markets.WSEI, abi, functionName: 'interestRateModel' });
  const market = createdAddress(await client.getTransactionCount({ address: DEPLOYER }));
  const args = [comptroller, rates, parseUnits('0.02', 28), 'Tollgate SEI market', 'cSEI', 8, DEPLOYER];
  await sendAsDeployer(rpcUrl, [
    { data: encodeDeployData({ abi: artifact.abi, bytecode: artifact.bytecode, args }) },
    {
      to: oracle,
      data: encodeFunctionData({ abi, functionName: 'setUnderlying', args: [market, 'SEI', 18] }),
    },
    { to: comptroller, data: encodeFunctionData({ abi, functionName: '_supportMarket', args: [market] }) },
    {
      to: comptroller,
      data: encodeFunctionData({
        abi,
        functionName: '_setCollateralFactor',
        args: [market, parseEther('0.6')],
      }),
    },
    { to: market, data: encodeFunctionData({ abi, functionName: 'mint' }), valueWei: parseEther('1000') },
  ]);
  return market;
}
