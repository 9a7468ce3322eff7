import { nameOption } from './option-names.js';
import { chainsOf, type PaymentChain, type PaymentOption } from './payments.js';

const chainOf = (name: string) => ({ name }) as PaymentChain;
const [base, sei] = [chainOf('base'), chainOf('sei')];
const optionOf = (name: string, chain: PaymentChain) => ({ name, entry: name.split(' ')[0], chain }) as PaymentOption;
const options = [optionOf('usdc', base), optionOf('usdc 0xd', base), optionOf('weth', sei), optionOf('wsei', sei)];

describe('options', () => {
  it('are named by the keys of the payments file, or by the variables where there is none', () => {
    expect(nameOption({ chains: [base, sei], options }, optionOf('usdc 0xd', base))).toMatchObject({
      option: 'usdc 0xd',
      token: 'accepts.usdc.token',
      payTo: 'accepts.usdc.payTo',
      relayers: 'chains.base.relayers',
    });
    expect(nameOption(null, optionOf('default', base))).toMatchObject({
      option: null,
      token: 'ASSET_ADDRESS',
      payTo: 'PAY_TO',
    });
  });

  it('are on chains that are listed once each, in the order of their first options', () => {
    expect(chainsOf(options)).toEqual([base, sei]);
    expect(chainsOf([...options].reverse())).toEqual([sei, base]);
  });
});
