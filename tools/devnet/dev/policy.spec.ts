import { checkSettings } from '../check-settings.js';
import { countRelayers, takesSignedPayments } from './policy.js';

describe('what npm run dev takes under a PAYMENT_POLICY', () => {
  it.each([
    [undefined, undefined, true, 1],
    ['transfer', undefined, true, 1],
    ['bound', undefined, true, 1],
    ['bound', 'false', false, 1],
    ['receipt', undefined, false, 0],
  ])('%s, with SIGNED_PAYMENTS %s: signed payments %s, relayers %d', (policy, asked, isSigned, relayers) => {
    const env = { PAYMENT_POLICY: policy, SIGNED_PAYMENTS: asked };
    expect([takesSignedPayments(env), countRelayers(env)]).toEqual([isSigned, relayers]);
  });

  it('refuses signed payments and the facilitator under receipt where they are asked for', () => {
    const secrets = {
      CHALLENGE_SECRET: 'a-challenge-secret-of-at-least-32-characters',
      AGENT_SECRET: 'an-agent-secret-of-at-least-32-characters',
    };
    const start = (own: NodeJS.ProcessEnv) => {
      const env = { PAYMENT_POLICY: 'receipt', ...own };
      return checkSettings(env, { ...secrets, SIGNED_PAYMENTS: String(takesSignedPayments(env)), ...env });
    };
    expect(() => start({})).not.toThrow();
    expect(() => start({ SIGNED_PAYMENTS: 'true' })).toThrow('SIGNED_PAYMENTS needs PAYMENT_POLICY transfer or bound');
    expect(() => start({ FACILITATOR: 'true' })).toThrow('FACILITATOR needs PAYMENT_POLICY transfer or bound');
  });
});
