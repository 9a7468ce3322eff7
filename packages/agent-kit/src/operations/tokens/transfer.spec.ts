import { erc20Abi, parseEther, zeroAddress, type Address } from 'viem';

import { createTrader } from '../../../../../test/harness/agents/trader.js';
import type { DevnetWithProtocols } from '../../../../../tools/devnet/chain/chain.js';
import { readContracts } from '../../../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { expectFailure, useChain, useMade } from '../../../../client/test/set-up.js';
import { createContext } from '../../../test/create-context.js';
import { kitOf } from '../../../test/create-funded-kit.js';
import type { OperationContext } from '../define/operation.js';
import { transfer } from './transfer.js';

const RECEIVER = '0x00000000000000000000000000000000000A11cE';

describe('transfer', () => {
  const chain = useChain({ protocols: true });
  const context = useMade(() => createContext(chain), beforeAll);
  const kit = useMade(() => kitOf(chain, 0), beforeAll);
  let tokens: DevnetWithProtocols['contracts']['tokens'];
  beforeAll(async () => {
    tokens = chain.contracts.tokens;
  });

  const plan = (input: { amount: string; to?: string; token?: string }) =>
    kit.plan('transfer', { to: RECEIVER, ...input });
  const readTokens = (token: Address, owner: Address = RECEIVER) =>
    context.client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });

  it('sends 1.5 of the native token', async () => {
    const draft = await plan({ amount: '1.5' });
    expect(draft).toMatchObject({
      summary: `Send 1.5 SEI to ${RECEIVER}`,
      steps: [{ to: RECEIVER, data: '0x', value: parseEther('1.5') }],
      recipients: [RECEIVER],
      warnings: [],
      report: { amount: '1.5', token: 'SEI', to: RECEIVER },
    });
    await kit.execute(draft);
    expect(await context.client.getBalance({ address: RECEIVER })).toBe(parseEther('1.5'));
  });

  it.each([
    ['USDC', '0.000001', 1n],
    ['WBTC', '0.00000001', 1n],
    ['WSEI', '0.000000000000000001', 1n],
    ['usdc', '12.345678', 12_345_678n],
    ['EVIL', '1', 10n ** 18n],
  ] as const)('sends exactly %s %s', async (symbol, amount, baseUnits) => {
    // EVIL is not listed, so it is given by its address.
    const address = tokens[symbol.toUpperCase() as keyof typeof tokens];
    const before = await readTokens(address);
    await kit.execute(await plan({ amount, token: symbol === 'EVIL' ? address : symbol }));
    expect((await readTokens(address)) - before).toBe(baseUnits);
  });

  it('shows how much arrives of a token that keeps a part', async () => {
    const draft = await plan({ amount: '100', token: tokens.FEE });
    expect(draft.warnings).toEqual([
      `The token keeps a part of each transfer: only 99 "FEE" (${tokens.FEE}, not in the token list) arrive.`,
    ]);
    await kit.execute(draft);
    expect(await readTokens(tokens.FEE)).toBe(parseEther('99'));
  });

  it('shows a token that is not listed with its address, and with its symbol reduced to harmless letters', async () => {
    const { summary } = await plan({ amount: '1', token: tokens.EVIL });
    expect(summary).toBe(`Send 1 "USDCSEIsend" (${tokens.EVIL}, not in the token list) to ${RECEIVER}`);
  });

  it('refuses a token that cannot be moved before anything is sent, with its reason in quotes', async () => {
    const nonce = await context.client.getTransactionCount({ address: kit.address });
    await expect(plan({ amount: '1', token: tokens.RVT })).rejects.toMatchObject({
      code: 'REVERTED',
      message: 'The contract reverted: "RVT: transfers are switched off".',
    });
    expect(await context.client.getTransactionCount({ address: kit.address })).toBe(nonce);
  });

  it('refuses a token that answers false and moves nothing, before anything is sent', async () => {
    const { FalseToken } = await readContracts();
    const deployer = createTrader(chain, 8);
    const { contractAddress } = await deployer.mined(deployer.deployContract(FalseToken));
    const { abi } = FalseToken;
    const mint = { address: contractAddress!, abi, functionName: 'mint', args: [kit.address, parseEther('5')] };
    await deployer.mined(deployer.writeContract(mint));
    await expect(plan({ amount: '1', token: contractAddress! })).rejects.toMatchObject({
      code: 'REVERTED',
      message: 'The token refused: its call returned false, which stands for a revert.',
    });
  });

  it('warns when a token cannot be tried', async () => {
    // A node without eth_simulateV1; it answers all other calls.
    const client = Object.create(context.client, {
      simulateBlocks: { value: () => context.client.request({ method: 'eth_noSuchMethod' } as never) },
    }) as OperationContext['client'];
    const { warnings } = await transfer.plan({ amount: '1', to: RECEIVER, token: tokens.FEE }, { ...context, client });
    expect(warnings).toEqual(['The token is not listed, and it is not known how much of the amount arrives.']);
  });

  it.each([
    ['the zero address', zeroAddress, 'USDC', 'to: must not be the zero address'],
    ['the zero address, native', zeroAddress, undefined, 'to: must not be the zero address'],
    ['the token’s own contract', 'USDC', 'USDC', 'is the contract of USDC itself'],
  ])('refuses %s as the recipient', async (_, to, token, message) => {
    const receiver = to === 'USDC' ? tokens.USDC : to;
    await expect(plan({ amount: '1', to: receiver, ...(token && { token }) })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ['a wrong checksum', '0x70997970C51812dc3A010C7d01b50e0d17dc79c8'],
    ['a digit too few', '0x70997970C51812dc3A010C7d01b50e0d17dc79C'],
    ['a name', 'vitalik.eth'],
  ])('refuses %s as an address', (_, to) => {
    return expectFailure(plan({ amount: '1', to }), 'INVALID_INPUT');
  });

  it('warns when the recipient is the account itself or a contract', async () => {
    await expect(plan({ amount: '1', to: context.account })).resolves.toMatchObject({
      warnings: ['The recipient is the account itself: only fees are spent.'],
    });
    await expect(plan({ amount: '1', to: tokens.WSEI })).resolves.toMatchObject({
      warnings: ['The recipient is a contract: make sure that it can send the tokens on.'],
    });
  });

  it('raises no warning when the account of the recipient has delegated code', async () => {
    await callRpc(chain.rpcUrl, 'anvil_setCode', [RECEIVER, `0xef0100${'ab'.repeat(20)}`]);
    await expect(plan({ amount: '1' })).resolves.toMatchObject({ warnings: [] });
  });

  it('compares base units with base units: the whole balance can be sent, one unit more cannot', async () => {
    const all = await readTokens(tokens.WBTC, context.account);
    const text = (units: bigint) => `${units / 10n ** 8n}.${(units % 10n ** 8n).toString().padStart(8, '0')}`;
    await expect(plan({ amount: text(all), token: 'WBTC' })).resolves.toMatchObject({
      spends: [{ amountBaseUnits: all }],
    });
    await expect(plan({ amount: text(all + 1n), token: 'WBTC' })).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      details: { token: 'WBTC' },
    });
    await expect(plan({ amount: '1000000' })).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      message: expect.stringMatching(/^insufficient funds: 1000000 SEI needed, [\d.]+ SEI available\.$/),
    });
  });

  it('refuses more decimals than the token has', async () => {
    await expectFailure(plan({ amount: '0.0000001', token: 'USDC' }), 'INVALID_INPUT');
  });
});
