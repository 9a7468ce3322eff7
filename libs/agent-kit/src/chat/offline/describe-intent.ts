import type { Intent, SlotValue } from './intent.js';
import { OPERATIONS } from './lexicon/operations.js';

const show = (value: SlotValue | undefined): string =>
  value === undefined ? '…' : value === '0x0' ? 'SEI' : String(value);

/** An operation with its inputs in a few words: `swap 1 USDC for WSEI`. What is not known yet is `…`. */
export function describeIntent({
  operation,
  input,
  shares,
  wanted,
  problems,
}: Pick<Intent, 'operation' | 'input'> & Partial<Pick<Intent, 'shares' | 'wanted' | 'problems'>>): string {
  const amountOf = (slot: string): string => {
    const share = shares?.[slot];
    if (share && wanted?.amount === 'received' && !problems?.length) return 'the received';
    if (share) return share.numerator === share.denominator ? 'all' : `${share.numerator}/${share.denominator} of the`;
    return input[slot] === 'MAX' ? 'all' : show(input[slot]);
  };
  const amount = amountOf('amount');
  const named = (slot: string) => show(input[slot]);
  const optional = (slot: string, text: (value: string) => string) =>
    input[slot] === undefined ? '' : text(named(slot));
  const slippage = optional('slippageBps', (bps) => ` with a slippage of ${bps} bps`);
  switch (operation) {
    case 'swap':
      return `swap ${amount} ${named('fromToken')} for ${named('toToken')}${slippage}`;
    case 'getERC20Balance':
      return `show the balance of ${show(input.contractAddress ?? '0x0')}`;
    case 'getTransaction':
      return `look at transaction ${named('hash')}`;
    case 'getSwapQuote':
      return `quote ${amount} ${named('fromToken')} in ${named('toToken')}`;
    case 'transfer':
      return `send ${amount} ${named('token')} to ${named('to')}`;
    case 'approve':
      return `let ${named('spender')} spend ${amount} ${named('token')}`;
    case 'transferERC721':
      return `send NFT ${named('tokenId')} of ${named('contractAddress')} to ${named('to')}`;
    case 'mintERC721':
      return `mint NFT ${named('tokenId')} of ${named('contractAddress')}${optional('to', (to) => ` to ${to}`)}`;
    case 'addLiquidity':
      return `add liquidity ${amountOf('amountA')} ${named('tokenA')} and ${amountOf('amountB')} ${named('tokenB')}${slippage}`;
    case 'removeLiquidity':
      return `remove ${input.percent ?? 100}% of liquidity position ${named('positionId')}${slippage}`;
    case 'mintLending':
      return `supply ${amount} ${named('symbol')}`;
    case 'redeemLending':
      return `redeem ${amount} ${named('symbol')}`;
    case 'borrowLending':
      return `borrow ${amount} ${named('symbol')}`;
    case 'repayLending':
      return `repay ${amount} ${named('symbol')}`;
    case 'stake':
      return `stake ${amount} SEI`;
    case 'unstake':
      return `unstake ${amount} stSEI`;
    case 'claimUnstaked':
      return 'claim unstaked SEI';
    case 'perpsDeposit':
      return `deposit ${amount} of margin`;
    case 'perpsWithdraw':
      return `withdraw ${amount} of margin`;
    case 'perpsOpenPosition':
      return `open ${named('side')} ${amount} ${named('product')}${optional('leverage', (leverage) => ` at ${leverage}x`)}`;
    case 'perpsClosePosition':
      return `close ${input.amount === undefined && !shares?.amount ? 'all' : amount} of ${named('product')}`;
    case 'payForResource':
      return `pay for ${named('url')}${optional('maxAmount', (most) => `, at most ${most}`)}`;
    default:
      return OPERATIONS[operation]?.example ?? operation;
  }
}
