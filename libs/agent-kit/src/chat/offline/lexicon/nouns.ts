/** Nouns and other content words, by what they tell the grammar. */
export const NOUNS: Readonly<Record<string, string>> = {
  perps:
    'perps, perp, perp exchange, perps exchange, perpetual exchange, perpetual, perpetuals, perpetual futures, futures, perps account, perp account, perpetuals exchange, perpetual trading, perps margin, derivatives, trading account, margin account',
  margin: 'margin, free margin',
  lending:
    'lending, lending market, lending markets, lending pool, lending protocol, money market, money markets, lending platform, compound, the lender',
  staking: 'staking, the staking contract, staking contract, liquid staking, validator, validators, staking pool',
  stake:
    'did i stake, have i staked, have i got staked, my stake, the stake, our stake, my staked, staked, delegation, delegated, bonded, staked tokens',
  unstaked:
    'unstaked, unbonded, unstaked tokens, claimable, matured, queued, unbonding, tickets, pending unstakes, unstaking, withdrawal queue, unstake queue',
  reward: 'reward, rewards, staking rewards',
  liquidity:
    'liquidity, liquidity pool, liquidity pools, pool, pools, lp, lp position, lp positions, liquidity position, liquidity positions, lp tokens, lp token, the dex, dex',
  position: 'position, positions, open positions',
  balance: 'balance, bal, funds, holdings, left, left over, remaining',
  balances: 'balances, bals, all balances, token balances',
  portfolio:
    'portfolio, net worth, how rich am i, money, am i worth, in the bag, in my bag, my bags, what do i have, what do i own, what have i got, my assets, what am i holding, what is in my wallet, in my wallet, my wallet, my account, account overview, everything i own, how much money do i have, how much money have i got, all my tokens, wealth, my money, my holdings, am i rich, what i have, what i own',
  token: 'token, tokens, coin, coins, currency, currencies, asset, assets, cryptocurrencies, crypto',
  address: 'address, contract address, contract, token address, addresses',
  transaction: 'transaction, tx, txn, transaction hash',
  allowance:
    'allowance, allowances, approval, approvals, spending limit, spending permission, permission to spend, permission',
  nft: 'nft, nfts, collectible, collectibles, erc721, erc 721, token id, tokenid, non fungible token',
  product: 'product, products, contracts, instruments, pairs, trading pairs',
  market: 'market, markets',
  rate: 'interest rate, interest rates, apy, apys, apr, aprs, rates, borrow rate, supply rate, yields, lending rates, borrow rates, supply rates',
  interest: 'interest, yield, a yield, passive income',
  loan: 'on credit, loan, loans',
  debt: 'did i borrow, have i borrowed, do i owe, debt, debts, owe, owed, borrowed, borrow balance, liability, liabilities, borrows, indebted, outstanding',
  supplied: 'did i supply, did i lend, have i supplied, have i lent, supplied, lent, supply balance, deposited',
  health:
    'health, health factor, healthy, liquidation, liquidated, safe, ltv, loan to value, borrowing power, borrow limit, shortfall, at risk, underwater',
  collateral: 'collateral',
  pnl: 'pnl, p&l, profit, loss, profits, losses, unrealized pnl, unrealised pnl, unrealized, gains',
  worth: 'worth, value, price, prices, cost, exchange rate, rate, going rate, cost of',
  quote:
    'quote, quotation, estimate, would i get, would i receive, will i get, do i get, can i get, could i get, will i receive, would that give, would that get, would get, i would get, i would receive, should i expect, would it give, i get, would give me, would i have, could i buy, can i buy, would i end up with, get for',
  weather: 'weather, weather report, the forecast, forecast, weather forecast, weather data',
  resource:
    'resource, paid resource, resources, api, endpoint, page, article, report, url, link, paywall, content, paid endpoint, paid api',
  slippage: 'slippage, max slippage, maximum slippage, slip, slippage tolerance, tolerance, price impact',
  leverage: 'leverage, leveraged, lev, margin multiple',
  fee: 'fee, fees, fee tier, tier',
  back: 'back',
  out: 'out, out of',
  long: 'long, longs, bullish, upside, going up, goes up, will go up, to go up, will rise, rising',
  short: 'short, shorts, bearish, downside, going down, goes down, will go down, to go down, will fall, falling',
  side: 'side, direction',
  howMuch: 'how much, how many, what amount, how big, how large',
  which: 'which, what, what sort of, what kind of, where',
  my: 'my, mine, our, i, we, am i, do i, have i, have we',
  spend: 'to spend, may spend, can spend, spend from, allowed to spend, spend on my behalf, is allowed to spend',
  status: 'status, state, overview, summary, info, information, details, doing, stats, look like, looking',
  loanable: 'can be borrowed, can be lent, can be supplied, can i lend, can i supply',
  tradable: 'can i trade, can be traded, could i trade, tradable, tradeable',
  help: 'help, are you good for, commands, examples, example, i do not get it, i do not understand, confused, what can i do, what do i do, what can you do, what should i do, where do i start, how do i start, new here, new to this, newbie, beginner, get started, getting started, tutorial',
  when: 'when can i, when will, how long until, when does, when do, how long does',
};
