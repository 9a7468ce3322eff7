import { PaymentError } from '@tollgate/protocol';

import { ASSET, PAY_TO } from '../test/create-payment.js';
import { PaymentGate, type GateOptions } from './gate.js';
import { RedisStore } from './redis.js';

/** As plain JavaScript calls it. */
const create = (options: unknown) => () => new PaymentGate(options as GateOptions);

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_options' });
    return (error as PaymentError).message;
  }
  throw new Error('it was accepted');
}

describe('the options of a gate', () => {
  const asset = { address: ASSET, name: 'USDC', version: '2', decimals: 6 };
  const options = { facilitator: { url: 'http://127.0.0.1:4020/facilitator' }, payTo: PAY_TO, asset, chainId: 1328 };

  it('may leave out the key of a facilitator that wants none', () => {
    expect(create(options)).not.toThrow();
    expect(create({ ...options, facilitator: { ...options.facilitator, apiKey: undefined } })).not.toThrow();
  });

  // Regression: an unset variable became the text `undefined` in what payers were to sign.
  it('are all named that are missing', () => {
    for (const none of [undefined, null, {}, { facilitator: undefined, payTo: undefined, asset: null }]) {
      expect(messageOf(create(none))).toBe(
        "The gate's options are not complete: facilitator.url is no URL of http or https; payTo is no address; " +
          'asset.address is no address; asset.name is no text; asset.version is no text; ' +
          'asset.decimals is no whole number from 0 to 255; chainId is no whole number above 0.',
      );
    }
  });

  it.each([
    [{ facilitator: { url: 'gate.example' } }, 'facilitator.url'],
    [{ facilitator: { url: new URL('http://gate.example') } }, 'facilitator.url'],
    [{ payTo: PAY_TO.slice(2) }, 'payTo'],
    [{ asset: { ...asset, decimals: '6' } }, 'asset.decimals'],
    [{ asset: { ...asset, version: 2 } }, 'asset.version'],
    [{ chainId: '1328' }, 'chainId'],
    [{ chainId: Number.NaN }, 'chainId'],
    [{ store: null }, 'store'],
  ])('are refused with %j', (changes, name) => {
    expect(messageOf(create({ ...options, ...changes }))).toContain(`not complete: ${name} `);
  });

  it('are refused with a key that fits into no header, unquoted', () => {
    for (const apiKey of ['tgk_canary\n', { tgk_canary: true }, null]) {
      const message = messageOf(create({ ...options, facilitator: { ...options.facilitator, apiKey } }));
      expect(message).toMatch(/not complete: facilitator\.apiKey is no text that fits into a header\.$/);
    }
  });

  it('are refused with a store over no Redis', () => {
    expect(messageOf(() => new RedisStore(undefined as never))).toBe('RedisStore is given no client of ioredis.');
  });
});
