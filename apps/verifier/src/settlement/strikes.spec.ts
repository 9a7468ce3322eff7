import { burnsAfter, useBurningWallets } from '../../test/use-burning-wallets.js';

describe('a payer whose payments fail on the chain only', () => {
  const {
    fixture,
    readHead,
    createWallet,
    createApproved,
    signFor,
    signPermitFor,
    verify,
    verifyPermit,
    settle,
    readSent,
  } = useBurningWallets();
  /** A block number that these tests do not reach. */
  const FAR = 1_000_000;

  beforeAll(() => fixture().startVerifier({ CONTRACT_WALLET_BURNS_PER_CODE: '0' }));

  // Prevents: a wallet that distinguishes a simulation from a block burns the relayer's gas at the cost of a signature
  // each time.
  it('costs the relayer five transactions at most, and no other payer is affected', async () => {
    const from = await createWallet('0x00');
    const before = await readSent();
    for (let turn = 0; turn < 8; turn++) {
      await fixture().rpc('anvil_setCode', [from, burnsAfter(await readHead())]);
      expect(await settle(await signFor(from))).toMatchObject({ outcome: 'failed' });
    }
    expect(await readSent()).toBe(before + 5);
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
  });

  // Prevents: the resource is produced for each of its payments, of which none is ever settled.
  it('is refused when it is verified, before a resource is produced for it', async () => {
    const from = await createApproved(FAR);
    expect(await verify(await signFor(from))).toMatchObject({ outcome: 'valid' });
    expect(await verifyPermit(await signPermitFor(from))).toMatchObject({ outcome: 'valid' });
    for (let turn = 0; turn < 5; turn++) {
      await fixture().rpc('anvil_setCode', [from, burnsAfter(await readHead())]);
      expect(await settle(await signFor(from))).toMatchObject({ outcome: 'failed' });
    }
    await fixture().rpc('anvil_setCode', [from, burnsAfter(FAR)]);
    const refused = { outcome: 'refused', failure: 'settlement_failed' };
    expect(await verify(await signFor(from))).toMatchObject(refused);
    expect(await verifyPermit(await signPermitFor(from))).toMatchObject(refused);
    expect(await verify(await fixture().sign())).toMatchObject({ outcome: 'valid' });
  });
});
