import type { Hex } from '@tollgate/protocol';

import { SellerTerms } from './seller-terms.js';

const [USDC, WETH, OTHER]: Hex[] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`];
const [SHOP, VAULT, STRANGER, BRANCH]: Hex[] = ['aa', 'bb', 'cc', 'dd'].map((byte): Hex => `0x${byte.repeat(20)}`);

describe("the seller's terms on a chain", () => {
  const terms = new SellerTerms(1328, [
    { asset: USDC!, payTo: SHOP! },
    { asset: WETH!, payTo: VAULT! },
    { asset: USDC!, payTo: BRANCH! },
  ]);

  it.each([
    ['of one option', 1328, USDC!, SHOP!, true],
    ['of another option', 1328, WETH!, VAULT!, true],
    ['of one option at its further recipient', 1328, USDC!, BRANCH!, true],
    ["with one option's token and another's recipient", 1328, USDC!, VAULT!, false],
    ['of a token that is not accepted', 1328, OTHER!, SHOP!, false],
    ['of an option, on another chain', 1329, USDC!, SHOP!, false],
  ])('include a question %s: %s %s %s %s', (_, chainId, asset, payTo, isIncluded) => {
    expect(terms.include({ chainId, asset, payTo })).toBe(isIncluded);
  });

  it.each([
    ["of an option at that option's account", USDC!, SHOP!, true],
    ['of an option at its further recipient', USDC!, BRANCH!, true],
    ["of an option at another option's account", WETH!, SHOP!, false],
    ['of the facilitator alone, at an account of the seller', OTHER!, VAULT!, true],
    ["of the facilitator alone, at another seller's", OTHER!, STRANGER!, false],
  ])("make a token %s the seller's money or not: %s %s %s", (_, asset, payTo, isOwn) => {
    expect(terms.isOwn({ asset, payTo })).toBe(isOwn);
  });
});
