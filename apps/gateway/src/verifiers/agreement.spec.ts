import { Agreement } from './agreement.js';

describe('the agreement with the verifiers', () => {
  let nowMs = 0;
  const create = () => new Agreement({ own: 'PAYMENT_POLICY=transfer\nCHAIN_ID=1', nowMs: () => nowMs });

  it('is there once a verifier has agreed, and for ten seconds', async () => {
    const agreement = create();
    await expect(agreement.check()).rejects.toThrow('no verifier has agreed on the payment settings for 10 s');
    agreement.noteAgreed();
    nowMs += 10_000;
    agreement.noteDiffering('PAYMENT_POLICY=receipt\nCHAIN_ID=1');
    await agreement.check();
    nowMs += 1;
    await expect(agreement.check()).rejects.toThrow(/10 s: PAYMENT_POLICY is transfer here and receipt there$/);
    agreement.noteAgreed();
    await agreement.check();
  });

  it('is missed without names where no verifier answers, or one that does not say', async () => {
    const agreement = create();
    agreement.noteAgreed();
    agreement.noteDiffering(undefined);
    nowMs += 10_001;
    await expect(agreement.check()).rejects.toThrow(/for 10 s$/);
  });
});
