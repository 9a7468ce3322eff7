import type { Address } from 'viem';

/** The contracts of a devnet, by protocol. */
export type DevnetContracts = Addresses<typeof DEVNET_CONTRACTS>;

type Addresses<Contracts> = {
  [Name in keyof Contracts]: Contracts[Name] extends Address ? Address : Addresses<Contracts[Name]>;
};

/**
 * The addresses are the same on every devnet. All except those of USDC and Multicall3 are created in a fixed order by an address whose
 * key does not exist; code at one of these addresses distinguishes a devnet from every other chain.
 */
export const DEVNET_CONTRACTS = {
  multicall3: '0xcA11bde05977b3631167028862bE2a173976CA11',
  tokens: {
    USDC: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
    WSEI: '0xc7e697c9aCE9Be81e68bF9e374557c8f5fC3F692',
    WBTC: '0xc413eCb0f3F503AD432f12a4d225F67Bd7671055',
    stSEI: '0xa08461C5F9E28902AE15994BE2dF182255277d3F',
    FEE: '0x854EADb9aC39DF4d3e4320Fd32B4801743Aabe92',
    RVT: '0x876CEed9147E5F499AcE9cbc732527953bf1448d',
    EVIL: '0xf8fc1ef9a412ebBEAE28D90791dEEda907F5af57',
  },
  nft: '0x90065F681AE10857e60f91Ee1D62216f546665b0',
  uniswapV3: {
    factory: '0x349a431C28b0b7FEe9F36f691bA3A1Ee91A56a55',
    positionManager: '0x54D71D007b590AcD95c161DD0110f30b1f1DB14A',
    router: '0xD446f52E96c7BC278F6fbFBD817Cb4FddD2066d7',
    quoter: '0x59c048F6Ad6B57D43753f9a2c78572378b613C5F',
  },
  uniswapV2: {
    factory: '0x9e82847Da258Afe3ddE6123fF2815c748cfc468F',
    router: '0xb21fDbd3a391282137CbDd5D5c7152B57B13281f',
  },
  lending: {
    comptroller: '0x82866ca20fa4661370a27C5DA2A6129734B79C23',
    oracle: '0xAa031fE662602F2ADc6F0a53eC7D413642679A9a',
    markets: {
      USDC: '0xdF2701441a3101835a56eFCE7a2c4F5EE41D8AfE',
      WSEI: '0x0dD4653307cdC80c0aCA4C6F3672C6c86fcAFbc1',
      WBTC: '0x6064e91275D82C0b04acCDe62863696C184e9Ed0',
    },
  },
  staking: '0xa08461C5F9E28902AE15994BE2dF182255277d3F',
  perps: '0x627FafC2FE53f8f01aC32bb8ca38F5aA91BD049d',
} as const;
