import { createTransferAuthorization } from './eip3009/authorization.js';

const address = `0x${'11'.repeat(20)}` as const;
const terms = { from: address, payTo: address, asset: address, amount: '1', nonce: `0x${'22'.repeat(32)}` } as const;

describe('the validity of a signature', () => {
  const nowSeconds = 1_800_000_000;
  beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(nowSeconds * 1000 + 999));
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['as long as the server asks for', { maxTimeoutSeconds: 60 }, 60],
    ['an hour at most', { maxTimeoutSeconds: 86_400, endSeconds: nowSeconds + 86_400 }, 3600],
    ['until the end of the challenge', { maxTimeoutSeconds: 300, endSeconds: nowSeconds + 20 }, 20],
    ['as long as the server asks for, if the challenge has no end', { maxTimeoutSeconds: 60, endSeconds: null }, 60],
  ])('is %s', (_name, validity, seconds) => {
    const { validBefore } = createTransferAuthorization({ ...terms, ...validity });
    expect(Number(validBefore)).toBe(nowSeconds + seconds);
  });
});
