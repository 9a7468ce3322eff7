import type { Hex } from '@tollgate/protocol';

import { allowDeployment, isExpectedFactory, listFactories } from './wallet-factories.js';

const [OWNERS, OWNER] = ['0x3ffba36f', '0x5fbfb9cf'];

describe('the factories of wallets that are known', () => {
  it.each<[string, Hex, string, string | null]>([
    ['Coinbase Smart Wallet 1', '0x0ba5ed0c6aa8c49038f819e587e2633c4a9f428a', OWNERS, '0xc4900c00'],
    ['Coinbase Smart Wallet 1.1', '0xba5ed110efdba3d005bfc882d75358acbbb85842', OWNERS, '0xb60a629a'],
    ['one that is not known', `0x${'aa'.repeat(20)}`, OWNERS, null],
    ['Light Account 2.0.0', '0x0000000000400cdfef5e2714e63d8040b700bc24', OWNER, '0xe43b981e'],
    ['Light Account 1.1.0', '0x00004ec70002a32400f8ae005a26081065620d20', OWNER, '0xc4e5c04a'],
    ['Light Account 1.0.2', '0x00000055c0b4fa41dde26a74435ff03692292fbd', OWNER, '0x752f95c5'],
    ['Light Account 1.0.1', '0x000000893a26168158fbeadd9335be5bc96592e2', OWNER, '0x17796fdb'],
  ])('may be called for createAccount alone, where they have the expected code: %s', (_, to, selector, codeHash) => {
    const ask = (data: string) => allowDeployment({ to, data: data as Hex }, listFactories([]));
    const asked = ask(`${selector}${'00'.repeat(64)}`);
    expect(asked?.codeHash?.slice(0, 10) ?? null).toBe(codeHash);
    expect(asked !== null && isExpectedFactory(asked, '0x6000')).toBe(false);
    // `transferOwnership(address)`, an empty call, and one that is cut off.
    for (const data of ['0xf2fde38b', '0x', selector.slice(0, 8)]) expect(ask(data)).toBeNull();
  });
});
