import type { Hex } from '@tollgate/protocol';

import { transferTokens } from '../../../../devnet/transfer-tokens.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

/** Says yes to every signature where gas has no price, as in a trial, and burns all its gas in a block. */
const TWO_FACED: Hex = '0x3a15600657fe5b631626ba7e60e01b60005260206000f3';

describe('a payer whose payments fail in their blocks alone', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
  });

  afterAll(() => fixture.stop());

  const readSent = async () =>
    Number(await fixture.rpc('eth_getTransactionCount', [fixture.relayer().address, 'latest']));

  // Prevents: a wallet that tells a trial from a block has the relayer's gas burnt for nothing but new signatures.
  it('costs the relayer five transactions and no more, and nobody else pays for it', async () => {
    const from: Hex = `0x${'78'.repeat(20)}`;
    await fixture.rpc('anvil_setCode', [from, TWO_FACED]);
    await transferTokens(fixture.chain, { to: from, amountBaseUnits: 1_000_000n });
    const before = await readSent();
    for (let turn = 0; turn < 8; turn++) {
      const payment = { ...(await fixture.sign({ from })), signature: '0x12' as const };
      expect(await fixture.settle(payment)).toMatchObject({ outcome: 'failed', failure: 'settlement_failed' });
    }
    expect(await readSent()).toBe(before + 5);
    expect(await fixture.settle(await fixture.sign())).toMatchObject({ outcome: 'settled' });
  });
});
