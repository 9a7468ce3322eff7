/** What the grammar knows of one operation of the catalog. */
export interface OperationEntry {
  readOnly: boolean;
  /** Slots in the order of the catalog; `?` after a slot that may be left out. */
  slots: readonly string[];
  /** In words: what it does. */
  does: string;
  example: string;
}

const entry = (readOnly: boolean, slots: string, does: string, example: string): OperationEntry => ({
  readOnly,
  slots: slots === '' ? [] : slots.split(' '),
  does,
  example,
});

/** The catalog's operations as people speak of them. */
export const OPERATIONS: Readonly<Record<string, OperationEntry>> = {
  getAccount: entry(true, '', 'shows the address of your account', 'what is my address'),
  getTransaction: entry(true, 'hash', 'shows what became of a transaction', 'what became of transaction 0x…'),
  getERC20Balance: entry(true, 'contractAddress?', 'shows a balance', 'show my USDC balance'),
  getERC20Allowance: entry(true, 'token spender', 'shows what another address may spend', 'USDC allowance of 0x…'),
  getERC721Balance: entry(true, 'contractAddress', 'counts your NFTs of a collection', 'my NFT balance of 0x…'),
  resolveToken: entry(true, 'symbol', 'shows the address of a token', 'what is the address of USDC'),
  listTokens: entry(true, '', 'lists the known tokens', 'list tokens'),
  getSwapQuote: entry(
    true,
    'amount fromToken toToken',
    'shows what a swap would give',
    'how much WSEI would I get for 1 USDC',
  ),
  getLiquidityPositions: entry(true, '', 'shows your liquidity positions', 'show my liquidity positions'),
  getLendingMarkets: entry(true, '', 'lists the lending markets', 'show lending markets'),
  getLendingPosition: entry(true, '', 'shows what you supplied and borrowed', 'my loan health'),
  getStakeQuote: entry(true, 'amount', 'shows what staking would give', 'what would staking 2 SEI give me'),
  getStakingPosition: entry(true, '', 'shows what you staked', 'show my staking position'),
  perpsGetProducts: entry(true, '', 'lists the perpetual products', 'list products'),
  perpsGetPositions: entry(true, '', 'shows your margin and perpetual positions', 'show my perps positions'),
  transfer: entry(false, 'amount to token', 'sends tokens to an address', 'send 5 USDC to 0x…'),
  approve: entry(false, 'token spender amount', 'lets another address spend tokens', 'approve 10 USDC for 0x…'),
  transferERC721: entry(false, 'contractAddress to tokenId', 'sends an NFT', 'send NFT 7 of 0x… to 0x…'),
  mintERC721: entry(false, 'contractAddress tokenId to?', 'mints an NFT', 'mint NFT 7 of 0x…'),
  swap: entry(false, 'amount fromToken toToken slippageBps?', 'swaps one token for another', 'swap 1 USDC for WSEI'),
  addLiquidity: entry(
    false,
    'tokenA tokenB amountA amountB fee? slippageBps?',
    'puts two tokens into a liquidity pool, where they earn fees of swaps',
    'add liquidity 10 USDC and 20 WSEI',
  ),
  removeLiquidity: entry(
    false,
    'positionId percent? slippageBps?',
    'takes tokens out of a liquidity position',
    'remove half of liquidity position 3',
  ),
  mintLending: entry(
    false,
    'symbol amount',
    'supplies tokens to the lending market, where they earn interest',
    'supply 10 USDC',
  ),
  redeemLending: entry(false, 'symbol amount', 'takes supplied tokens back', 'redeem 4 USDC'),
  borrowLending: entry(false, 'symbol amount', 'borrows tokens against what you supplied', 'borrow 3 USDC'),
  repayLending: entry(false, 'symbol amount', 'pays a loan back', 'repay 3 USDC'),
  stake: entry(false, 'amount', 'stakes SEI for stSEI, which grows in worth by itself', 'stake 2 SEI'),
  unstake: entry(false, 'amount', 'gives stSEI back; the SEI can be claimed after a waiting time', 'unstake 1'),
  claimUnstaked: entry(false, '', 'collects the SEI whose waiting time is over', 'claim my unstaked SEI'),
  perpsDeposit: entry(false, 'amount', 'deposits margin for perpetuals', 'deposit 5 USDC to perps'),
  perpsWithdraw: entry(false, 'amount', 'withdraws free margin', 'withdraw 5 USDC from perps'),
  perpsOpenPosition: entry(
    false,
    'product side amount leverage?',
    'opens a perpetual position, with a leverage from 1x to 20x',
    'long 0.01 BTC with 5x leverage',
  ),
  perpsClosePosition: entry(false, 'product amount?', 'closes a perpetual position', 'close my BTC position'),
  payForResource: entry(false, 'url maxAmount?', 'buys a paid web resource', 'pay for the weather, at most 0.01'),
};

/** Requests whose place was not named. */
export const AMBIGUOUS: Readonly<Record<string, readonly string[]>> = {
  depositAmbiguous: ['perpsDeposit', 'mintLending', 'stake', 'addLiquidity'],
  withdrawAmbiguous: ['redeemLending', 'perpsWithdraw', 'unstake', 'removeLiquidity'],
  earnAmbiguous: ['stake', 'mintLending'],
};

/** What the model asks for a slot that is missing. */
export const QUESTIONS: Readonly<Record<string, string>> = {
  amount: 'How much',
  fromToken: 'Which token do you want to give',
  toToken: 'Which token do you want to get',
  token: 'Which token',
  symbol: 'Which token',
  tokenA: 'Which is the first token of the pair',
  tokenB: 'Which is the second token of the pair',
  amountA: 'How much of the first token',
  amountB: 'How much of the second token',
  to: 'To which address (0x and 40 hexadecimal digits)',
  spender: 'Which address shall be allowed to spend (0x and 40 hexadecimal digits)',
  contractAddress: 'What is the address of the collection (0x and 40 hexadecimal digits)',
  tokenId: 'Which number has the NFT',
  positionId: 'Which position (its number)',
  product: 'Which product, for example BTC-PERP',
  side: 'Long or short',
  leverage: 'Which leverage, from 1 to 20',
  url: 'Which address (URL) shall be paid for',
};
