import { Logger } from '@nestjs/common';
import type { Balance } from '@tollgate/book';
import { createLaneId, Journal, RELAYER_FLEET } from '@tollgate/journal';
import type { OperatorRefund, OperatorWallet, SellerFacts } from '@tollgate/operator-api';
import type { RefundPreview } from '@tollgate/refunds';

import { waitFor } from '../../../../test/harness/retry.js';
import { tollgate } from '../../../../tools/cli/test/run-tollgate.js';
import { SECOND_CHAIN_ID } from '../../../../tools/devnet/chain/two-chains.js';
import { TwoChainsFixture, type SoldToken } from '../../test/two-chains-fixture.js';

/** 0.004 of a token with 18 decimals: the 10 of REFUND_APPROVAL_ABOVE at its rate of 0.0004. */
const TEN_IN_PLAIN = 4n * 10n ** 15n;

describe('a seller that is paid in three tokens on two chains', () => {
  let fixture: TwoChainsFixture;
  let env: Record<string, string>;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await TwoChainsFixture.start();
    env = { OPERATOR_URL: fixture.url, OPERATOR_API_KEY: fixture.token };
  });

  afterAll(() => fixture.stop());

  const nameOf = ({ chain, asset }: SoldToken): string => `${chain.chainId}:${asset.toLowerCase()}`;

  /** Base units by asset, of one account. */
  async function readBalances(account: string): Promise<Record<string, string>> {
    const { body } = await fixture.get<{ balances: Balance[] }>('/operator/balances');
    const own = body.balances.filter((balance) => balance.account === account);
    return Object.fromEntries(own.map(({ asset, amount }) => [asset, amount]));
  }

  it('has each payment in its own token, and no difference on either chain', async () => {
    const { usdcOne, usdcTwo, plainTwo, one, two } = fixture;
    const [onOne, onTwo, plain] = [10_000n, 20_000n, 3n * 10n ** 15n];
    await fixture.answer(await fixture.pay(usdcOne, onOne), usdcOne, onOne);
    await fixture.answer(await fixture.pay(usdcTwo, onTwo), usdcTwo, onTwo);
    await fixture.answer(await fixture.pay(plainTwo, plain), plainTwo, plain);
    const answer = await fixture.waitUntilCompared(one, two);
    expect(answer).toMatchObject({ trouble: null, unreconciled: [], chainOnly: [], bookOnly: [], different: [] });
    expect(answer.scopes.map(({ chainId, asset }) => `${chainId}:${asset}`)).toEqual([
      ...[usdcOne, usdcTwo, plainTwo].map(nameOf),
    ]);
    expect(await readBalances('revenue:/api/weather')).toEqual({
      [nameOf(usdcOne)]: '-10000',
      [nameOf(usdcTwo)]: '-20000',
      [nameOf(plainTwo)]: '-3000000000000000',
    });
  });

  it('says all options, and what is exported with the decimals of each token', async () => {
    const { body } = await fixture.get<SellerFacts>('/operator/seller');
    expect(body).toMatchObject({ network: 'chain-testnet', asset: { symbol: 'USDC', decimals: 6 } });
    expect(body.options).toMatchObject([
      { name: 'usdc-devnet', chainId: 1328, network: 'chain-testnet' },
      { name: 'usdc-devnet-2', chainId: 84_532, network: 'chain-testnet-2' },
      { name: 'wdev-devnet-2', chainId: 84_532, asset: { symbol: 'WDEV', decimals: 18 } },
    ]);
    const csv = await fixture.getText('/operator/exports/payments');
    const [head = '', ...rows] = csv.trim().split('\r\n');
    const [network, symbol, decimal] = ['network', 'symbol', 'amount_decimal'].map((column) =>
      head.split(',').indexOf(column),
    ) as [number, number, number];
    const cells = rows.map((row) => row.split(','));
    expect(cells.map((row) => [row[network], row[symbol], row[decimal]]).toSorted()).toEqual([
      ['eip155:1328', 'USDC', '0.01'],
      ['eip155:84532', 'USDC', '0.02'],
      ['eip155:84532', 'WDEV', '0.003'],
    ]);
  });

  it('shows amounts of each token in the commands', async () => {
    const listed = await tollgate(['book', 'payments'], env);
    expect(listed).toMatch(/ 0\.003 +WDEV /);
    expect(listed).toMatch(/ 0\.02 +USDC /);
    expect(await tollgate(['reconcile'], env)).toMatch(/^Difference: 0\.$/m);
  });

  it('finds payments by the name of their option, and names the nearest for one that there is not', async () => {
    type Page = { payments: { network: string; asset: string }[] };
    for (const [option, token] of [
      ['usdc-devnet', fixture.usdcOne],
      ['usdc-devnet-2', fixture.usdcTwo],
      ['wdev-devnet-2', fixture.plainTwo],
    ] as const) {
      const { body } = await fixture.get<Page>(`/operator/payments?option=${option}`);
      const [network, asset] = [`eip155:${token.chain.chainId}`, token.asset.toLowerCase()];
      expect(body.payments).toMatchObject([{ network, asset }]);
    }
    const listed = await tollgate(['book', 'payments', '--option', 'wdev-devnet-2'], env);
    expect([listed.includes('WDEV'), listed.includes('USDC')]).toEqual([true, false]);
    const unknown = await fixture.get<{ code: string; problems: string[] }>('/operator/payments?option=usdc-devent');
    expect(unknown).toMatchObject({
      status: 400,
      body: { code: 'request_invalid', problems: [expect.stringContaining('did you mean "usdc-devnet"?')] },
    });
  });

  it('books what no request presents in the token that arrived', async () => {
    const [onOne, plain] = [
      await fixture.pay(fixture.usdcOne, 5_000n),
      await fixture.pay(fixture.plainTwo, 10n ** 15n),
    ];
    for (const payment of [onOne, plain]) await fixture.waitForState(payment, 'unclaimed');
    expect(await readBalances('owed:unclaimed')).toEqual({
      [nameOf(fixture.usdcOne)]: '-5000',
      [nameOf(fixture.plainTwo)]: String(-(10n ** 15n)),
    });
  });

  it('refunds on the chain of the payment, in its token, within the limits at the token’s rate', async () => {
    const payment = await fixture.pay(fixture.plainTwo, 2n * 10n ** 15n);
    await fixture.waitForState(payment, 'unclaimed');
    const { body: before } = await fixture.get<RefundPreview>(`/operator/payments/${payment}/refund`);
    expect(before).toMatchObject({ chainId: 84_532, decimals: 18, approvalAbove: String(TEN_IN_PLAIN) });
    expect(before.obstacles).toEqual([
      { reason: 'wallet_missing', detail: 'No agent worker has a wallet named refunds-devnet-2.' },
    ]);
    await fixture.withWorkerOfTwo(async (wake) => {
      const { status, body } = await fixture.refund(payment);
      expect([status, body]).toMatchObject([202, { chainId: 84_532, asset: fixture.plainTwo.asset.toLowerCase() }]);
      await waitFor('it is refunded', async () => {
        const { body: refund } = await fixture.get<OperatorRefund>(`/operator/refunds/${body.id}`);
        if (refund.job !== null) await wake(refund.job);
        return refund.state === 'refunded';
      });
      const { body: listed } = await fixture.get<{ wallets: OperatorWallet[] }>('/operator/wallets');
      const wallet = listed.wallets.find(({ name }) => name === 'refunds-devnet-2');
      expect(wallet?.tokens.map(({ asset }) => asset)).toEqual([
        ...[fixture.usdcTwo, fixture.plainTwo].map(({ asset }) => asset.toLowerCase()),
      ]);
      // The 1,000 of REFUND_MOST_PER_DAY are 0.4, and the 100 of REFUND_MOST 0.04.
      expect(wallet?.tokens[1]?.refundable).toBe(String(4n * 10n ** 16n));
    });
    await fixture.waitForState(payment, 'refunded');
    await waitFor('the refund is compared', async () => (await fixture.read()).unreconciled.length === 0);
    expect(await readBalances('chain:84532:refunds')).toEqual({ [nameOf(fixture.plainTwo)]: String(-2n * 10n ** 15n) });
  });

  it('pauses the relayer of the chain that is named, where both have its address', async () => {
    const { redis } = fixture.books;
    const relayers = new Journal({ redis, fleet: RELAYER_FLEET, timeoutMs: 30_000 });
    const address = fixture.one.relayers[0]!.address;
    const lanes = [fixture.one, fixture.two].map(({ chainId }) => createLaneId(chainId, address));
    for (const lane of lanes) await relayers.adopt(lane, { pendingNonce: 0 });
    const headers = { Authorization: `Bearer ${await fixture.books.createToken('operator:wallets')}` };
    const pause = async (named: string): Promise<number> =>
      (await fetch(`${fixture.url}/operator/relayers/${named}/pause`, { method: 'POST', headers })).status;
    expect(await pause(address)).toBe(404);
    expect(await pause(`${SECOND_CHAIN_ID}:${address}`)).toBe(200);
    const states = await Promise.all(lanes.map((lane) => relayers.readLane(lane)));
    expect(states.map(({ paused }) => paused !== null)).toEqual([false, true]);
  });

  it('goes on with one chain while no RPC server of the other answers', async () => {
    const held = await fixture.pay(fixture.usdcTwo, 7_000n);
    await fixture.waitForState(held, 'unclaimed');
    fixture.rpcOfTwo.fail({ kind: 'reset' });
    const isTwo = ({ chainId }: { chainId: number }): boolean => chainId === fixture.two.chainId;
    await waitFor('it is noticed', async () => (await fixture.read()).scopes.some((one) => isTwo(one) && one.trouble));
    const payment = await fixture.pay(fixture.usdcOne, 6_000n);
    await fixture.waitForState(payment, 'unclaimed');
    const answer = await fixture.waitUntilCompared(fixture.one);
    expect(answer.unreconciled).toEqual([]);
    expect(answer.scopes.map((one) => [isTwo(one), one.trouble === null])).toEqual([
      ...[
        [false, true],
        [true, false],
        [true, false],
      ],
    ]);
    // Ready for the chain that answers, and for no refund on the other.
    expect((await fetch(`${fixture.url}/health/ready`)).status).toBe(200);
    expect((await fixture.get(`/operator/payments/${payment}/refund`)).status).toBe(200);
    expect((await fixture.get(`/operator/payments/${held}/refund`)).status).toBe(503);
    await expect(tollgate(['reconcile'], env)).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Difference: 0\.$/m) as unknown,
      stderr: expect.stringContaining('The comparison with chain 84532 is not of now') as unknown,
    });
    const metrics = await (await fetch(`${fixture.url}/metrics`)).text();
    expect(metrics).toMatch(
      /^tollgate_unreconciled_base_units\{chain="chain-testnet",token="USDC",asset="1328:0x\w+",[^}]+\} 0$/m,
    );
    expect(metrics).toMatch(/^tollgate_reconcile_failures_total\{chain="chain-testnet",[^}]+\} 0$/m);
    expect(metrics).toMatch(/^tollgate_reconcile_failures_total\{chain="chain-testnet-2",[^}]+\} [1-9]/m);
    fixture.rpcOfTwo.fail(undefined);
    expect(await fixture.waitUntilCompared(fixture.one, fixture.two)).toMatchObject({
      trouble: null,
      unreconciled: [],
    });
  });
});
