import type { StatedDomain } from '@tollgate/chain';
import { hashTokenDomain, type Hex } from '@tollgate/protocol';

import { AcceptedAssets } from './accepted-assets.js';

const [own, other]: Hex[] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`];
const separatorOf = (asset: Hex, name: string): Hex => hashTokenDomain({ asset, name, version: '2', chainId: 1328 });

describe('the domains of accepted tokens', () => {
  const assets = new AcceptedAssets(1328, [
    { asset: own!, name: 'USDC', version: '2' },
    { asset: other!, name: 'Other', version: '2' },
  ]);

  /** Each token states this domain. */
  const compare = (stated: (asset: Hex) => StatedDomain | null) =>
    assets.compare({ readTokenDomain: (asset) => Promise.resolve(stated(asset)) }, 0);

  it('differ from what a token states, until it states them', async () => {
    const named = { name: 'USD Coin', version: '2' };
    const misnamed = await compare((asset) =>
      asset === own ? { separator: separatorOf(asset, 'USD Coin'), named } : null,
    );
    expect(misnamed).toEqual([{ asset: own, name: 'USDC', version: '2', stated: named }]);
    expect([own, other].map((asset) => assets.isMisnamed(asset!))).toEqual([true, false]);
    expect(
      await compare((asset) => ({ separator: separatorOf(asset, asset === own ? 'USDC' : 'Else'), named: null })),
    ).toEqual([{ asset: other, name: 'Other', version: '2', stated: null }]);
    expect(assets.isMisnamed(own!)).toBe(false);
  });
});
