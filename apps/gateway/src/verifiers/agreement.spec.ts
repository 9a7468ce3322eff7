import { Agreement } from './agreeing-verifiers.js';

describe('the agreement with the verifiers', () => {
  let nowMs = 0;
  const create = () => new Agreement({ own: 'PAYMENT_POLICY=transfer\nCHAIN_ID=1', nowMs: () => nowMs });

  it('holds for ten seconds after a verifier has agreed', async () => {
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

  it('fails without naming settings if no verifier answers or reports its settings', async () => {
    const agreement = create();
    agreement.noteAgreed();
    agreement.noteDiffering(undefined);
    nowMs += 10_001;
    await expect(agreement.check()).rejects.toThrow(/for 10 s$/);
  });
});
