/** Names of tokens. The native token is `0x0` in every operation; other symbols are resolved by the chain's token list. */
export const ASSETS: Readonly<Record<string, string>> = {
  '0x0':
    'sei, gas, native, native token, native coin, native currency, native sei, native asset, gas token, sei token, sei tokens, seis',
  USDC: 'usdc, usd coin, usd coins, usdcs, stablecoin, stablecoins, stable coin, circle dollar',
  WSEI: 'wsei, wrapped sei, wrapped native, wrapped native token, wrapped seis',
  WBTC: 'wbtc, btc, bitcoin, bitcoins, wrapped bitcoin, wrapped btc, xbt, wbitcoin',
  stSEI: 'stsei, staked sei, liquid staked sei, staked sei token, st sei, my staked sei',
  USDT: 'usdt, tether',
  ETH: 'eth, ether, ethereum',
  WETH: 'weth, wrapped ether, wrapped eth',
  DAI: 'dai',
};

/** Words for USDC that count money: `5 bucks`. */
export const MONEY: readonly string[] = [
  'dollar',
  'dollars',
  'buck',
  'bucks',
  'usd',
  'us dollars',
  'us dollar',
  'cent',
];

/** The asset of a perpetual product behind a token. */
export const PERP_BASES: Readonly<Record<string, string>> = {
  WBTC: 'BTC',
  '0x0': 'SEI',
  WSEI: 'SEI',
  ETH: 'ETH',
  WETH: 'ETH',
};

/** Symbols that are English words in lower case; they count as tokens in capitals only. */
export const CAPITAL_ONLY: readonly string[] = ['FEE', 'EVIL', 'RVT'];
