import { parseAbi } from 'viem';

/**
 * The functions used of a comptroller. `markets` returns more in some versions; the first two fields are the same in
 * all.
 */
export const comptrollerAbi = parseAbi([
  'function getAllMarkets() view returns (address[])',
  'function getAssetsIn(address account) view returns (address[])',
  'function markets(address market) view returns (bool isListed, uint256 collateralFactorMantissa)',
  'function oracle() view returns (address)',
  'function enterMarkets(address[] markets) returns (uint256[])',
]);

export const priceOracleAbi = parseAbi(['function getUnderlyingPrice(address market) view returns (uint256)']);

/** The `…Current` functions update the interest, which persists only in a transaction; here they are only called. */
export const marketAbi = parseAbi([
  'function underlying() view returns (address)',
  'function balanceOf(address owner) view returns (uint256)',
  'function borrowBalanceCurrent(address account) view returns (uint256)',
  'function exchangeRateCurrent() view returns (uint256)',
  'function supplyRatePerBlock() view returns (uint256)',
  'function borrowRatePerBlock() view returns (uint256)',
  'function getCash() view returns (uint256)',
  'function mint(uint256 amount) returns (uint256)',
  'function redeem(uint256 shares) returns (uint256)',
  'function redeemUnderlying(uint256 amount) returns (uint256)',
  'function borrow(uint256 amount) returns (uint256)',
  'function repayBorrow(uint256 amount) returns (uint256)',
]);

/** The differences of the native token's market: the amount is the value sent, and failures revert. */
export const nativeMarketAbi = parseAbi(['function mint() payable', 'function repayBorrow() payable']);
