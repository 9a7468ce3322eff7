import { PaymentError } from '@tollgate/protocol';

import { ASSET, PAY_TO } from '../../test/create-payment.js';
import { RedisStore } from '../redis.js';
import type { GateOptions } from './gate-options.js';
import { PaymentGate } from './gate.js';

/** Creates a gate without type checks, as plain JavaScript does. */
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

  it('may omit the API key of the facilitator', () => {
    expect(create(options)).not.toThrow();
    expect(create({ ...options, facilitator: { ...options.facilitator, apiKey: undefined } })).not.toThrow();
  });

  // Regression: an unset variable became the text `undefined` in the terms that payers were to sign.
  it('are refused with a list of all that are missing', () => {
    for (const none of [undefined, null, {}, { facilitator: undefined, payTo: undefined, asset: null }]) {
      expect(messageOf(create(none))).toBe(
        'The gate options are invalid: facilitator.url is not an http or https URL; payTo is not an address; ' +
          'asset.address is not an address; asset.name is not a text; asset.version is not a text; ' +
          'asset.decimals is not a whole number from 0 to 255; chainId is not a whole number above 0.',
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
    [{ publicUrl: 'undefined' }, 'publicUrl'],
    [{ publicUrl: new URL('https://shop.example') }, 'publicUrl'],
    [{ onTrouble: 'console.warn' }, 'onTrouble'],
  ])('are refused with %j', (changes, name) => {
    expect(messageOf(create({ ...options, ...changes }))).toContain(`are invalid: ${name} `);
  });

  // Regression: an unset variable became NaN seconds, and the memory forgot that a payment was being settled.
  it.each([Number.NaN, 0, -1, 1.5, '30'])('are refused with a time of %p', (value) => {
    for (const name of ['maxTimeoutSeconds', 'keepSeconds', 'leaseSeconds']) {
      expect(messageOf(create({ ...options, [name]: value }))).toContain(`are invalid: ${name} is`);
      expect(create({ ...options, [name]: undefined })).not.toThrow();
    }
    const facilitator = { ...options.facilitator, timeoutMs: value };
    expect(messageOf(create({ ...options, facilitator }))).toContain('are invalid: facilitator.timeoutMs is');
  });

  it.each([Number.NaN, -1, 1.5, '30'])('are refused with a largest body of %p', (maxAnswerBytes) => {
    expect(messageOf(create({ ...options, maxAnswerBytes }))).toContain('are invalid: maxAnswerBytes is');
    expect(create({ ...options, maxAnswerBytes: 0 })).not.toThrow();
  });

  it('are refused with a key that does not fit into a header, without quoting it', () => {
    for (const apiKey of ['tgk_canary\n', { tgk_canary: true }, null]) {
      const message = messageOf(create({ ...options, facilitator: { ...options.facilitator, apiKey } }));
      expect(message).toMatch(/are invalid: facilitator\.apiKey is not a text that fits into a header\.$/);
    }
  });

  it('are refused with a RedisStore without Redis', () => {
    expect(messageOf(() => new RedisStore(undefined as never))).toBe(
      'RedisStore needs an ioredis client as its first argument.',
    );
  });
});
