import { Logger } from '@nestjs/common';
import { listRefusals } from '@tollgate/ledger';
import { lockOf, lowerHex } from '@tollgate/protocol';

import { randomNonce, signAuthorization } from '../../../libs/verification/test/sign-authorization.js';
import { signPermit } from '../../../test/harness/chain/sign-permit.js';
import { waitFor } from '../../../test/harness/retry.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { withRedis } from '../../../tools/devnet/processes/with-redis.js';
import { TwoTokens, type AskedOption, type StartedVerifier } from '../test/two-tokens.js';
import { TokenComparison } from './settings/token-comparison.js';

const DIFFER = { outcome: 'unavailable', reason: 'settings_differ' };
const UNREADY = { outcome: 'unavailable', reason: 'asset_decimals_differ', retryAfterMs: 10_000 };

describe('a verifier of two tokens on one chain', () => {
  let fixture: TwoTokens;
  let verifier: StartedVerifier;
  let usdc: AskedOption;
  let wdev: AskedOption;

  beforeAll(async () => {
    fixture = await TwoTokens.start();
    verifier = await fixture.startVerifier();
    [usdc, wdev] = [fixture.option('usdc'), fixture.option('wdev')];
  });

  afterAll(async () => {
    await verifier.close();
    await fixture.stop();
  });

  const payer = () => fixture.chain.accounts[0]!;
  const transfer = ({ asset: token, payTo: to, price: amountBaseUnits }: AskedOption, lockReference?: string) =>
    transferTokens(fixture.chain, { token, to, amountBaseUnits, ...(lockReference && { lockReference }) });
  const authorize = ({ asset, payTo: to, price, assetName: name, assetVersion: version }: AskedOption) => {
    const { address, privateKey } = payer();
    const validBefore = String(Math.floor(Date.now() / 1000) + 600);
    const terms = { from: lowerHex(address), to, value: String(price), validAfter: '0', validBefore };
    const domain = { name, version, chainId: fixture.chain.chainId, verifyingContract: asset };
    return signAuthorization({ ...terms, nonce: randomNonce() }, { domain, privateKey });
  };
  const permit = ({ asset: token, payTo: to, price: amountBaseUnits }: AskedOption) =>
    signPermit(fixture.chain, payer(), { token, to, amountBaseUnits });
  const readReadiness = async () => {
    const response = await fetch(`${await verifier.app.getUrl()}/health/ready`);
    const { details } = (await response.json()) as { details: Record<string, object> };
    return [response.status, details['settings']];
  };

  it('claims a transfer of either token, each at its own price and recipients', async () => {
    const branch = fixture.option('branch');
    for (const [option, other] of [
      [usdc, wdev],
      [wdev, usdc],
      [branch, wdev],
    ] as const) {
      const txHash = await transfer(option);
      expect(await fixture.askByHash(other, txHash)).toEqual({ outcome: 'refused', failure: 'transfer_missing' });
      expect(await fixture.askByHash(option, txHash)).toMatchObject({
        outcome: 'claimed',
        amountBaseUnits: String(option.price),
        lease: { id: { kind: 'transfer', txHash } },
      });
    }
  });

  it.each([
    ['the token that it was made in', 'wdev'],
    ['the account that it went to', 'branch'],
  ] as const)('records a payment that is too low for a refund with %s, and logs its option', async (_, name) => {
    const logged = jest.spyOn(Logger.prototype, 'log');
    const option = fixture.option(name);
    const [price, { asset, payTo }] = [option.price - 1n, option];
    const txHash = await transfer({ ...option, price });
    expect(await fixture.askByHash(option, txHash)).toEqual({ outcome: 'refused', failure: 'amount_too_low' });
    const line = {
      msg: 'payment refused',
      option: expect.stringMatching(/^wdev/) as unknown,
      txHash,
      failure: 'amount_too_low',
    };
    expect(logged).toHaveBeenCalledWith(expect.objectContaining(line));
    logged.mockRestore();
    const refusals = await withRedis(fixture.redis.url, listRefusals);
    expect(refusals.filter(({ payment }) => payment.includes(txHash))).toMatchObject([
      { failure: 'amount_too_low', asset, payTo, amountBaseUnits: String(price) },
    ]);
  });

  it('sees the lock of a payment in either token', async () => {
    for (const option of [usdc, wdev]) {
      const txHash = await transfer(option, 'the reference');
      expect(await fixture.askByLock(option, txHash, lockOf('the reference'))).toEqual({ outcome: 'paid' });
    }
  });

  it.each([
    ['an EIP-3009 authorization', 'usdc', authorize],
    ['a permit of Permit2', 'usdc', permit],
    ['a permit of Permit2', 'wdev', permit],
  ] as const)('settles %s in %s', async (_, name, sign) => {
    const option = fixture.option(name);
    const payment = await sign(option);
    expect(await fixture.askBySignature(option, payment)).toMatchObject({ outcome: 'valid', txHash: null });
    const before = await fixture.readBalance(option.asset, option.payTo);
    const amountBaseUnits = String(option.price);
    expect(await fixture.settle(option, payment)).toMatchObject({ outcome: 'settled', amountBaseUnits });
    expect(await fixture.readBalance(option.asset, option.payTo)).toBe(before + option.price);
  });

  it('refuses an EIP-3009 authorization of the token that has none', async () => {
    expect(await fixture.askBySignature(wdev, await authorize(wdev))).toMatchObject({
      outcome: 'refused',
      failure: 'simulation_failed',
    });
  });

  it("judges nothing by one option's terms with the settings or the recipient of another", async () => {
    const txHash = await transfer(usdc);
    const { settings, payTo } = wdev;
    expect(await fixture.askByHash(usdc, txHash, { settings })).toEqual(DIFFER);
    expect(await fixture.askByHash(usdc, txHash, { payTo })).toEqual(DIFFER);
    const payment = await authorize(usdc);
    expect(await fixture.askBySignature(usdc, payment, { settings })).toEqual(DIFFER);
    expect(await fixture.settle(usdc, payment, { settings })).toEqual(DIFFER);
    expect(await fixture.askByHash(usdc, txHash)).toMatchObject({ outcome: 'claimed' });
  });

  it('names the one option whose settings differ, and judges the other', async () => {
    const settings = wdev.settings.replace(wdev.payTo, usdc.payTo);
    expect(await fixture.compare({ settings })).toEqual({ ...DIFFER, settings: wdev.settings });
    expect(await fixture.compare(usdc)).toEqual({ outcome: 'agreed', takesAuthorizations: true });
    const difference = { option: 'wdev', setting: 'PAY_TO', gateway: usdc.payTo, verifier: wdev.payTo };
    expect(await readReadiness()).toMatchObject([200, { status: 'up', differ: [[difference]] }]);
  });

  it('counts verdicts and settlements by the option, by one label for all of its recipients', async () => {
    const count = async (name: string, labels: string): Promise<number> => {
      const text = await (await fetch(`${await verifier.app.getUrl()}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(`${name}{${labels}`) && one.includes('chain="1328"'));
      return Number(line?.split(' ').at(-1) ?? 0);
    };
    const claimed = (option: string) =>
      count('tollgate_verifications_total', `option="${option}",outcome="claimed",failure="",payment="transaction"`);
    const settled = (option: string) =>
      count('tollgate_settlements_total', `option="${option}",outcome="settled",failure=""`);
    const differing = () =>
      count('tollgate_verifications_total', 'option="",outcome="unavailable",failure="settings_differ"');
    const readAll = () =>
      Promise.all([claimed('usdc'), claimed('wdev'), settled('usdc'), settled('wdev'), differing()]);
    const before = await readAll();

    const branch = fixture.option('branch');
    await fixture.askByHash(usdc, await transfer(usdc));
    await fixture.askByHash(wdev, await transfer(wdev));
    await fixture.askByHash(branch, await transfer(branch));
    await fixture.settle(wdev, await permit(wdev));
    await fixture.askByHash(usdc, await transfer(usdc), { settings: 'PAYMENT_POLICY=made-up' });
    const grown = (await readAll()).map((after, at) => after - (before[at] ?? 0));
    expect(grown).toEqual([1, 2, 0, 1, 1]);
    const text = await (await fetch(`${await verifier.app.getUrl()}/metrics`)).text();
    expect(new Set([...text.matchAll(/option="([^"]*)"/g)].map(([, name]) => name))).toEqual(
      new Set(['', 'usdc', 'wdev']),
    );
    expect(text).not.toContain('made-up');
  });

  it('judges and settles nothing in a token whose decimals change behind its proxy, until they are right again', async () => {
    const tokens = verifier.app.get(TokenComparison);
    const [paid, inUsdc, payment] = [await transfer(wdev), await transfer(usdc), await permit(wdev)];
    const putBack = await fixture.replaceWdev(8);
    await tokens.compare();
    const answers = [
      fixture.askByHash(wdev, paid),
      fixture.askByLock(wdev, paid, lockOf('any')),
      fixture.askBySignature(wdev, payment),
      fixture.settle(wdev, payment),
      fixture.compare(wdev),
    ];
    expect(await Promise.all<object>(answers)).toEqual(answers.map(() => UNREADY));
    expect(await fixture.askByHash(usdc, inUsdc)).toMatchObject({ outcome: 'claimed' });
    const told = `accepts.wdev.decimals is 18, but the token at ${wdev.asset} has 8.`;
    await waitFor('the readiness names it', async () => {
      const [status, settings] = await readReadiness();
      return status === 200 && JSON.stringify(settings).includes(told);
    });

    await putBack();
    await tokens.compare();
    expect(await fixture.askByHash(wdev, paid)).toMatchObject({ outcome: 'claimed' });
    expect(await fixture.settle(wdev, payment)).toMatchObject({ outcome: 'settled' });
    await waitFor('the readiness names it no more', async () => !JSON.stringify(await readReadiness()).includes(told));
  });

  const readHealth = async ({ app }: StartedVerifier): Promise<[number, string]> => {
    const response = await fetch(`${await app.getUrl()}/health/ready`);
    return [response.status, await response.text()];
  };

  it('starts with one token whose decimals differ, and judges the other', async () => {
    // Alone, since verifiers with other settings would answer for it.
    await verifier.close();
    const env = fixture.describe({ decimals: { usdc: 18, wdev: 18 } });
    const own = await fixture.startVerifier(env);
    try {
      const other = fixture.option('usdc', env);
      expect(await fixture.askByHash(other, await transfer(usdc))).toEqual(UNREADY);
      expect(await fixture.compare(other)).toEqual(UNREADY);
      expect(await fixture.askByHash(wdev, await transfer(wdev))).toMatchObject({ outcome: 'claimed' });
      const told = `usdc: asset_decimals_differ: accepts.usdc.decimals is 18, but the token at ${usdc.asset} has 6.`;
      expect(await readHealth(own)).toEqual([200, expect.stringContaining(told)]);
      const metrics = await (await fetch(`${await own.app.getUrl()}/metrics`)).text();
      expect(metrics).toContain('tollgate_option_ready{option="usdc",service="verifier",chain="1328"} 0');
      expect(metrics).toContain('tollgate_option_ready{option="wdev",service="verifier",chain="1328"} 1');
    } finally {
      await own.close();
      verifier = await fixture.startVerifier();
    }
  });

  it('starts with all tokens of other decimals, is not ready and names each, and is once one is right', async () => {
    await verifier.close();
    const env = fixture.describe({ decimals: { usdc: 18, wdev: 8 } });
    const own = await fixture.startVerifier(env);
    try {
      const [status, body] = await readHealth(own);
      expect([status, body]).toEqual([503, expect.stringContaining('usdc: asset_decimals_differ: ')]);
      expect(body).toContain(`accepts.wdev.decimals is 8, but the token at ${wdev.asset} has 18`);
      const putBack = await fixture.replaceWdev(8);
      await own.app.get(TokenComparison).compare();
      await waitFor('it is ready', async () => (await readHealth(own))[0] === 200);
      await putBack();
    } finally {
      await own.close();
      verifier = await fixture.startVerifier();
    }
  });

  it('refuses to start where the RPC server is of another chain than the file says', async () => {
    await expect(fixture.startVerifier(fixture.describe({ chainId: 1 }))).rejects.toThrow('on chain 1328, not on 1');
  });
});
