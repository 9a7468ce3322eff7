import type { Hex } from '@tollgate/protocol';

import { waitFor } from '../../../../test/harness/retry.js';
import { BURNS_AT_A_PRICE, burnsAfter, useBurningWallets } from '../../test/use-burning-wallets.js';

/** A block number that these tests do not reach. */
const FAR = 1_000_000;
const PAUSED = { outcome: 'failed', failure: 'contract_wallet_paused', txHash: null };

describe('a contract wallet that burns gas wherever gas has a price', () => {
  const { fixture, createWallet, signFor, verify, settle, readSent } = useBurningWallets();

  // Prevents: 24 bytes of code make a relayer burn all the gas of a settlement, once for every address they are
  // deployed at.
  it('fails when it is verified, and when its settlement is simulated', async () => {
    await fixture().startVerifier();
    const wallet = await createWallet(BURNS_AT_A_PRICE);
    const before = await readSent();
    expect(await verify(await signFor(wallet))).toMatchObject({ outcome: 'refused', failure: 'simulation_failed' });
    expect(await settle(await signFor(wallet))).toMatchObject({ outcome: 'failed', failure: 'simulation_failed' });
    expect(await readSent()).toBe(before);
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
  });

  // Prevents: a relayer without coin makes a payment count as failing, and its payer has to sign anew.
  it('is not confused with a relayer that cannot pay for the simulation', async () => {
    await fixture().closeVerifiers();
    await fixture().setBalance(fixture().relayer().address, 1n);
    await fixture().startVerifier({ SETTLE_BATCH_SIZE: '1', SETTLE_WAIT_MS: '2000' });
    const settling = settle(await fixture().sign());
    expect(await settling).toMatchObject({ outcome: 'pending' });
  });
});

describe('contract wallets that burn gas in later blocks than the one they are simulated in', () => {
  const { fixture, readHead, createWallet, signFor, deployHonest, verify, settle, readBurntGas } = useBurningWallets();
  const BUDGET = 600_000;
  const start = () =>
    fixture().startVerifier({
      CONTRACT_WALLET_BURN_GAS_PER_HOUR: String(BUDGET),
      RELAYER_PRIVATE_KEYS: [fixture().relayer(0), fixture().relayer(1)].map(({ privateKey }) => privateKey).join(','),
    });
  /** Each with its own code. */
  const createBurning = async (): Promise<Hex> => {
    const wallet = await createWallet('0x00');
    await fixture().rpc('anvil_setCode', [wallet, burnsAfter(await readHead())]);
    return wallet;
  };

  // Prevents: an attacker with more wallets burns more gas; a restart or a second verifier resets the count.
  it('burn no more than the budget of an hour, over all wallets, verifiers and restarts', async () => {
    await Promise.all([start(), start()]);
    const settledBefore = await fixture().readBalance();
    for (let turn = 0; turn < 10; turn++) {
      const result = await settle(await signFor(await createBurning()));
      expect(result).toMatchObject({ outcome: 'failed' });
    }
    const burnt = await readBurntGas();
    expect(burnt).toBeGreaterThan(100_000);
    expect(burnt).toBeLessThanOrEqual(BUDGET);

    const honest = await deployHonest();
    for (const restart of [false, true]) {
      if (restart) {
        await fixture().closeVerifiers();
        await Promise.all([start(), start()]);
      }
      const paused = { outcome: 'refused', failure: 'contract_wallet_paused' };
      expect(await verify(await fixture().sign({ from: honest }))).toMatchObject(paused);
      expect(await settle(await fixture().sign({ from: honest }))).toEqual(PAUSED);
      expect(await verify(await fixture().sign())).toMatchObject({ outcome: 'valid' });
      expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
    }
    expect(await readBurntGas()).toBe(burnt);
    expect(await fixture().readBalance()).toBe(settledBefore + 2000n);
  });

  it('appear in the metrics of every verifier', async () => {
    const url = await (await start()).app.getUrl();
    const text = await (await fetch(`${url}/metrics`)).text();
    const read = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
    expect(read('tollgate_contract_wallet_gas_burnt')).toBe(await readBurntGas());
    expect(read('tollgate_contract_wallet_gas_left')).toBe(0);
  });
});

describe('contract wallets whose payments are sent at the same time', () => {
  const { fixture, readHead, createWallet, signFor, settle, readBurntGas, readPending } = useBurningWallets();
  const BUDGET = 400_000;

  // Prevents: gas in flight is not counted, and a hundred wallets burn a hundred times what one may.
  it('hold the gas that they may burn until they are mined', async () => {
    await fixture().startVerifier({ CONTRACT_WALLET_BURN_GAS_PER_HOUR: String(BUDGET) });
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
    const wallets = await Promise.all(Array.from({ length: 8 }, () => createWallet('0x00')));
    const code = burnsAfter(await readHead());
    for (const wallet of wallets) await fixture().rpc('anvil_setCode', [wallet, code]);
    await fixture().rpc('evm_setAutomine', [false]);
    let answered = 0;
    const settling = Promise.all(
      wallets.map(async (wallet) => {
        const result = await settle(await signFor(wallet));
        answered++;
        return result;
      }),
    );
    await waitFor('each is sent or answered', async () => answered + (await readPending()) >= wallets.length);
    await waitFor('all of them are answered', async () => {
      await fixture().rpc('evm_mine');
      return answered === wallets.length;
    });
    await fixture().rpc('evm_setAutomine', [true]);
    const outcomes = new Set((await settling).map((result) => result.outcome));
    expect([...outcomes].every((outcome) => outcome === 'failed' || outcome === 'unavailable')).toBe(true);
    expect(await readBurntGas()).toBeGreaterThan(0);
    expect(await readBurntGas()).toBeLessThanOrEqual(BUDGET);
  });
});

describe('contract wallets with the same code', () => {
  const { fixture, createOneOfMany, signFor, deployHonest, verify, settle, readSent } = useBurningWallets();
  const paused = { outcome: 'refused', failure: 'contract_wallet_paused' };

  // Prevents: an attacker deploys one wallet after another, and each may burn gas as if it were the first.
  it('are all barred once some of them have burnt gas, and no others', async () => {
    await fixture().startVerifier({ CONTRACT_WALLET_BURNS_PER_CODE: '3' });
    const first = await readSent();
    for (let turn = 0; turn < 3; turn++) {
      expect(await settle(await signFor(await createOneOfMany()))).toMatchObject({ outcome: 'failed' });
    }
    const before = await readSent();
    expect(before).toBe(first + 3);
    const payment = await signFor(await createOneOfMany(FAR));
    await waitFor('the code is barred', async () => (await verify(payment)).outcome === 'refused');
    expect(await verify(payment)).toMatchObject(paused);
    expect(await settle(payment)).toEqual(PAUSED);
    expect(await readSent()).toBe(before);
    const honest = await deployHonest();
    expect(await settle(await fixture().sign({ from: honest }))).toMatchObject({ outcome: 'settled' });
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
  });
});

describe('contract wallets that pay by Permit2', () => {
  const { fixture, createApproved, verify, settle, signPermitFor, readBurntGas } = useBurningWallets();

  // Prevents: payments that never share a transaction are the only ones without a limit.
  it('share the budget for burnt gas with the others, and are barred by it', async () => {
    await fixture().startVerifier({ CONTRACT_WALLET_BURNS_PER_CODE: '1' });
    const good = await createApproved(FAR);
    expect(await settle(await signPermitFor(good))).toMatchObject({ outcome: 'settled' });
    for (let turn = 0; turn < 2; turn++) {
      expect(await settle(await signPermitFor(await createApproved()))).toMatchObject({ outcome: 'failed' });
    }
    const burnt = await readBurntGas();
    expect(burnt).toBeGreaterThan(0);
    const next = await signPermitFor(await createApproved());
    await waitFor('the code is barred', async () => (await verify(next)).outcome === 'refused');
    expect(await verify(next)).toMatchObject({ failure: 'contract_wallet_paused' });
    expect(await settle(next)).toMatchObject({ outcome: 'failed', failure: 'settlement_failed', txHash: null });
    expect(await readBurntGas()).toBe(burnt);
  });
});

describe('a payment that another process sent', () => {
  const { fixture, createOneOfMany, signFor, verify, settle, readSent, readPending } = useBurningWallets();

  // Prevents: each verifier that dies either keeps part of the budget held for an hour, or its burnt gas is forgotten.
  it('is counted by the process that finds it mined', async () => {
    await fixture().startVerifier({ SETTLE_WAIT_MS: '500', SHUTDOWN_TIMEOUT_MS: '1000' });
    await fixture().rpc('evm_setAutomine', [false]);
    const before = await readSent();
    expect(await settle(await signFor(await createOneOfMany()))).toMatchObject({ outcome: 'pending' });
    await waitFor('it is sent', async () => (await readPending()) === 1);
    await fixture().closeVerifiers();
    const { app } = await fixture().startVerifier({ CONTRACT_WALLET_BURNS_PER_CODE: '1' });
    const url = await app.getUrl();
    const readBurnt = async () =>
      Number(
        /^tollgate_contract_wallet_gas_burnt(?:\{.*\})? (\d+)$/m.exec(
          await (await fetch(`${url}/metrics`)).text(),
        )?.[1],
      );
    expect(await readBurnt()).toBe(0);
    await fixture().rpc('evm_setAutomine', [true]);
    await fixture().rpc('evm_mine');
    expect(await readSent()).toBe(before + 1);
    await waitFor('it is counted', async () => (await readBurnt()) > 0);
    const next = await signFor(await createOneOfMany(FAR));
    await waitFor('its code is barred', async () => (await verify(next)).outcome === 'refused');
  });
});

describe('contract wallets of a widely used code', () => {
  const { fixture, createOneOfMany, signFor, settle, readSent } = useBurningWallets();

  // Prevents: one wallet that burns gas on purpose bars the most used wallet code.
  it('are not barred by fewer burns than settled payments', async () => {
    await fixture().startVerifier({ CONTRACT_WALLET_BURNS_PER_CODE: '1' });
    const honest = await createOneOfMany(FAR);
    for (let turn = 0; turn < 3; turn++) {
      expect(await settle(await signFor(honest))).toMatchObject({ outcome: 'settled' });
    }
    const before = await readSent();
    for (let turn = 0; turn < 2; turn++) {
      expect(await settle(await signFor(await createOneOfMany()))).toMatchObject({ outcome: 'failed' });
    }
    expect(await readSent()).toBe(before + 2);
    expect(await settle(await signFor(honest))).toMatchObject({ outcome: 'settled' });
  });
});

describe("a contract wallet whose signature has an account's form", () => {
  const { fixture, deployHonest, verify, settle } = useBurningWallets();

  // Prevents: a payment that was verified, and worked for, is refused for good where no transaction is shared.
  it.each([
    ['each payment is settled alone', { SETTLE_BATCH_SIZE: '1' }],
    ['the chain has no Multicall3', { MULTICALL3_ADDRESS: `0x${'77'.repeat(20)}`, SETTLE_WAIT_MS: '20000' }],
  ])('pays where %s', async (_, env) => {
    await fixture().startVerifier(env);
    const wallet = await deployHonest();
    await expect(verify(await fixture().sign({ from: wallet }))).resolves.toMatchObject({ outcome: 'valid' });
    const payments = await Promise.all(
      [wallet, ...Array.from({ length: 4 }, () => undefined)].map((from) => fixture().sign(from && { from })),
    );
    for (const result of await Promise.all(payments.map(settle))) expect(result).toMatchObject({ outcome: 'settled' });
    await fixture().closeVerifiers();
  });
});

describe('a gate for plain accounts only', () => {
  const { fixture, deployHonest, verify, settle, readSent } = useBurningWallets();

  it('refuses payers with code before anything is sent, and settles the payments of all others', async () => {
    await fixture().startVerifier({ SIGNED_PAYMENTS_FROM: 'plain_accounts' });
    const before = await readSent();
    const delegated = fixture().payer(5);
    // By EIP-7702: delegates to the wallet's code, which accepts its owner's signatures.
    const honest = await deployHonest();
    await fixture().rpc('anvil_setCode', [delegated.address, `0xef0100${honest.slice(2)}`]);
    for (const payment of [await fixture().sign({ from: honest }), await fixture().sign({}, delegated)]) {
      expect(await verify(payment)).toMatchObject({ outcome: 'refused', failure: 'contract_wallet_refused' });
      const failed = { outcome: 'failed', failure: 'contract_wallet_refused', txHash: null };
      expect(await settle(payment)).toEqual(failed);
    }
    expect(await readSent()).toBe(before);
    expect(await verify(await fixture().sign())).toMatchObject({ outcome: 'valid' });
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
  });
});

describe('a contract wallet whose answer takes much gas', () => {
  const { fixture, createWallet, signFor, settle } = useBurningWallets();
  /** Counts down for some 200,000 gas, and accepts the signature. */
  const LAVISH: Hex = '0x611b585b600190038060035750631626ba7e60e01b60005260206000f3';

  /** Settles plain payments at once, and returns the gas limit that their first transaction has for each. */
  async function readGasLimit(): Promise<number> {
    const payers = [fixture().payer(0), fixture().payer(1)];
    const payments = await Promise.all(payers.map((payer) => fixture().sign({}, payer)));
    await fixture().rpc('evm_setAutomine', [false]);
    const settling = Promise.all(payments.map(settle));
    let sent: { gas: Hex; input: Hex } | undefined;
    await waitFor('the transaction', async () => {
      const block = await fixture().rpc('eth_getBlockByNumber', ['pending', true]);
      [sent] = (block as { transactions: { gas: Hex; input: Hex }[] }).transactions;
      return sent !== undefined;
    });
    await fixture().rpc('evm_setAutomine', [true]);
    await fixture().rpc('evm_mine');
    expect(await settling).toMatchObject([{ outcome: 'settled' }, { outcome: 'settled' }]);
    const { gas, input } = sent!;
    const count = payers.filter(({ address }) => input.includes(address.slice(2).toLowerCase())).length;
    return (Number(gas) - 21_000) / count;
  }

  // Prevents: one expensive wallet raises the gas limit of every later transaction of plain accounts.
  it('changes nothing for payments of plain accounts', async () => {
    await fixture().startVerifier();
    await readGasLimit();
    const before = await readGasLimit();
    const wallet = await createWallet(LAVISH);
    const settled = await settle(await signFor(wallet));
    expect(settled).toMatchObject({ outcome: 'settled' });
    const receipt = await fixture().rpc('eth_getTransactionReceipt', [(settled as { txHash: Hex }).txHash]);
    expect(Number((receipt as { gasUsed: Hex }).gasUsed)).toBeGreaterThan(200_000);
    expect(await readGasLimit()).toBeLessThan(1.2 * before);
  });
});
