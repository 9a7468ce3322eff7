import { itUnderstands } from '../../../../../test/harness/understand-wordings.js';

describe('balance', () => {
  itUnderstands([
    ['whats my sei balance', 'getERC20Balance'],
    ['usdc bal?', 'getERC20Balance contractAddress=USDC'],
    ['hey can you tell me how much money I have left in this wallet', 'portfolio'],
    ['do i hold any wbtc', 'getERC20Balance contractAddress=WBTC'],
    ['how many stsei tokens are in my account right now', 'getERC20Balance contractAddress=stSEI'],
    ['balances pls', 'portfolio'],
    ['portfolio', 'portfolio'],
    [
      'I would like to know the balance of USDC and also of WSEI',
      'getERC20Balance contractAddress=USDC; getERC20Balance contractAddress=WSEI',
    ],
    ['am i rich? how many SEI do i have', 'portfolio; getERC20Balance'],
    ['please to show me my USDC amount', 'getERC20Balance contractAddress=USDC'],
    ["what's in my wallet", 'portfolio'],
    ['usdc holdings', 'getERC20Balance contractAddress=USDC'],
    ['how much do i have of every token', 'portfolio'],
    ['check bitcoin balance', 'getERC20Balance contractAddress=WBTC'],
    ['gas balance?', 'getERC20Balance'],
  ]);
});

describe('swap', () => {
  itUnderstands([
    ['ape 50 usdc into sei', 'swap amount=50 fromToken=USDC toToken=0x0'],
    ['i want to exchange 5 sei for usdc', 'swap amount=5 fromToken=0x0 toToken=USDC'],
    ['dump .01 wbtc for usdc', 'swap amount=0.01 fromToken=WBTC toToken=USDC'],
    ['could you be so kind and change ten usdc into wrapped sei for me', 'swap amount=10 fromToken=USDC toToken=WSEI'],
    ['wrap 3 sei', 'swap amount=3 fromToken=0x0 toToken=WSEI'],
    ['unwrap 2 wsei pls', 'swap amount=2 fromToken=WSEI toToken=0x0'],
    ['1 usdc -> wsei', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['sell 20 sei get usdc', 'swap amount=20 fromToken=0x0 toToken=USDC'],
    ['buy sei with 25 usdc', 'swap amount=25 fromToken=USDC toToken=0x0'],
    ['swap 1.5 sei to usdc with max 0.5% slippage', 'swap amount=1.5 fromToken=0x0 toToken=USDC slippageBps=50'],
    ['put 100 bucks of usdc in bitcoin', 'swap amount=100 fromToken=USDC toToken=WBTC'],
    ['sawp 7 sei to usdc', 'swap amount=7 fromToken=0x0 toToken=USDC'],
    ['convert twelve usdc to sei please thank you', 'swap amount=12 fromToken=USDC toToken=0x0'],
    ['turn 4 of my wsei into usdc', 'swap amount=4 fromToken=WSEI toToken=USDC'],
    ['trade usdc for wsei, 30 of them', 'swap amount=30 fromToken=USDC toToken=WSEI'],
    ['swap all my usdc to sei', 'swap amount=all fromToken=USDC toToken=0x0'],
    ["get rid of 2 usdc, i'd rather have sei", 'swap amount=2 fromToken=USDC toToken=0x0'],
    ['swap some usdc for sei', 'swap amount=? fromToken=USDC toToken=0x0'],
    ['i need some sei', '!'],
    ['swap 10 usdc', 'swap amount=10 fromToken=USDC toToken=?'],
    ['exchange sei to usdc', 'swap amount=? fromToken=0x0 toToken=USDC'],
    ['buy 5 wsei', 'swap amount=? fromToken=? toToken=WSEI'],
  ]);
});

describe('stake', () => {
  itUnderstands([
    ['stake 3 sei', 'stake amount=3'],
    ["i'd like to put half a sei into staking", 'stake amount=0.5'],
    ['lock up ten sei so i earn rewards', 'stake amount=10'],
    ['pls stak 2 SEI tokens for me ok', 'stake amount=2'],
    ['delegate 1.25 sei', 'stake amount=1.25'],
    ['i wanna stake', 'stake amount=?'],
    ['stake a bit of sei', 'stake amount=?'],
    ['unstake 1 stsei', 'unstake amount=1'],
    ['take 4 sei out of staking', 'unstake amount=4'],
    ["i don't want them staked anymore, unstake 2", 'unstake amount=2'],
    ['unstake', 'unstake amount=?'],
    ['claim my unstaked sei', 'claimUnstaked'],
    ['is my unstaking finished? then claim it', 'getStakingPosition; claimUnstaked'],
    ['collect what i unstaked', 'claimUnstaked'],
    ['how much do i have staked', 'getStakingPosition'],
    ['when can i claim my unstaked sei', 'getStakingPosition'],
    ['show staking status', 'getStakingPosition'],
    ['how much stsei would i get for 5 sei', 'getStakeQuote amount=5'],
  ]);
});

describe('lending', () => {
  itUnderstands([
    ['supply 40 usdc', 'mintLending symbol=USDC amount=40'],
    ['put .2 wbtc as collateral', 'mintLending symbol=WBTC amount=0.2'],
    ['lend out 100 usdc pls', 'mintLending symbol=USDC amount=100'],
    ['deposit 15 wsei to the lending pool', 'mintLending symbol=WSEI amount=15'],
    ['i want to lend my usdc', 'mintLending symbol=USDC amount=?'],
    ['borrow 20 usdc', 'borrowLending symbol=USDC amount=20'],
    ['i need a loan of 5 usdc', 'borrowLending symbol=USDC amount=5'],
    ['take out eight wsei on credit', 'borrowLending symbol=WSEI amount=8'],
    ['can i borrow something', 'explain:borrowLending'],
    ['pay back 5 usdc of my loan', 'repayLending symbol=USDC amount=5'],
    ['repay all the usdc i owe', 'repayLending symbol=USDC amount=MAX'],
    ['return 3 wsei that i borrowed', 'repayLending symbol=WSEI amount=3'],
    ['repay my debt', 'repayLending symbol=? amount=?'],
    ['withdraw 10 usdc from lending', 'redeemLending symbol=USDC amount=10'],
    ['get all my supplied usdc back', 'redeemLending symbol=USDC amount=MAX'],
    ['redeem 0.1 wbtc', 'redeemLending symbol=WBTC amount=0.1'],
    ["what's my health factor", 'getLendingPosition'],
    ['how much do i owe', 'getLendingPosition'],
    ['what are the borrow rates', 'getLendingMarkets'],
    ['which coins can be lent and for how much interest', 'getLendingMarkets'],
  ]);
});
