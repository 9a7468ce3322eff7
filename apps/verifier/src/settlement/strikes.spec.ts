import { burnsAfter, useBurningWallets } from '../../test/use-burning-wallets.js';

describe('a payer whose payments fail on the chain only', () => {
  const { fixture, readHead, createWallet, signFor, settle, readSent } = useBurningWallets();

  // Prevents: a wallet that distinguishes a simulation from a block burns the relayer's gas at the cost of a signature
  // each time.
  it('costs the relayer five transactions at most, and no other payer is affected', async () => {
    await fixture().startVerifier({ CONTRACT_WALLET_BURNS_PER_CODE: '0' });
    const from = await createWallet('0x00');
    const before = await readSent();
    for (let turn = 0; turn < 8; turn++) {
      await fixture().rpc('anvil_setCode', [from, burnsAfter(await readHead())]);
      expect(await settle(await signFor(from))).toMatchObject({ outcome: 'failed' });
    }
    expect(await readSent()).toBe(before + 5);
    expect(await settle(await fixture().sign())).toMatchObject({ outcome: 'settled' });
  });
});
