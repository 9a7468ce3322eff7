import { itUnderstands } from '../../../../../test/harness/understand-wordings.js';

const A = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const B = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

describe('balances', () => {
  itUnderstands([
    ['yo whats in the bag', 'portfolio'],
    ['usdc left?', 'getERC20Balance contractAddress=USDC'],
    ['could you tell me my wrapped sei balance thanks', 'getERC20Balance contractAddress=WSEI'],
    ['i forgot what tokens i have', 'portfolio'],
    ['how much native do i got', 'getERC20Balance'],
    ['have i got any bitcoin left', 'getERC20Balance contractAddress=WBTC'],
    ['give me an overview of my funds', 'getERC20Balance'],
    ['usdc and sei balance', 'getERC20Balance contractAddress=USDC; getERC20Balance'],
  ]);
});

describe('swaps', () => {
  itUnderstands([
    ['40 usdc into btc pls', 'swap amount=40 fromToken=USDC toToken=WBTC'],
    ['cash 6 sei out to usdc', 'swap amount=6 fromToken=0x0 toToken=USDC'],
    ['i have 3 wsei and want normal sei', '!; getERC20Balance'],
    ['use 15 usdc to buy sei', 'swap amount=15 fromToken=USDC toToken=0x0'],
    ['please to exchange me 2 SEI in USDC', 'swap amount=2 fromToken=0x0 toToken=USDC'],
    ['sell half of my wsei for usdc', 'swap amount=1/2 fromToken=WSEI toToken=USDC'],
    ['swap 5 usdc for sei slippage 0.3%', 'swap amount=5 fromToken=USDC toToken=0x0 slippageBps=30'],
    ['i want wsei for 8 usdc', 'swap amount=8 fromToken=USDC toToken=WSEI'],
    ['half a bitcoin to sei', 'swap amount=0.5 fromToken=WBTC toToken=0x0'],
    ['swap nine usdc against sei', 'swap amount=9 fromToken=USDC toToken=0x0'],
    ['try swapping 1 usdc to sei', 'swap amount=1 fromToken=USDC toToken=0x0'],
    ['get me some bitcoin', 'getERC20Balance contractAddress=WBTC'],
    ['trade my sei', 'swap amount=? fromToken=0x0 toToken=?'],
  ]);
});

describe('staking', () => {
  itUnderstands([
    ['put 5 sei to work in staking', 'stake amount=5'],
    ['7 sei stake', 'stake amount=7'],
    ['i would like to stake one and a half sei', 'stake amount=1.5'],
    ['how about staking some', 'explain:stake'],
    ['get 3 stsei out of staking', 'unstake amount=3'],
    ['pls un-stake 2', 'unstake amount=2'],
    ['unstake everything', 'unstake amount=all'],
    ['give me the sei that is ready to claim', 'claimUnstaked'],
    ['what did i earn from staking', 'getStakingPosition'],
    ['staking balance', 'getStakingPosition'],
  ]);
});

describe('lending', () => {
  itUnderstands([
    ['add 12 usdc as collateral', 'mintLending symbol=USDC amount=12'],
    ['lend 6 wrapped sei', 'mintLending symbol=WSEI amount=6'],
    ['i want to earn interest on 50 usdc', 'mintLending symbol=USDC amount=50'],
    ['lend me 7 usdc', 'borrowLending symbol=USDC amount=7'],
    ['borrow 0.001 btc from the lending pool', 'borrowLending symbol=WBTC amount=0.001'],
    ['give back the 4 usdc i borrowed', 'repayLending symbol=USDC amount=4'],
    ['pay off my usdc loan', 'repayLending symbol=USDC amount=MAX'],
    ['take my 9 usdc back from the lending market', 'redeemLending symbol=USDC amount=9'],
    ['withdraw everything i supplied in wsei', 'redeemLending symbol=WSEI amount=MAX'],
    ['am i going to get liquidated', 'getLendingPosition'],
    ['how much collateral do i have', 'getLendingPosition'],
    ['where do i get the best yield for usdc', 'getLendingMarkets'],
  ]);
});

describe('perps', () => {
  itUnderstands([
    ['add 60 usdc margin', 'perpsDeposit amount=60'],
    ['move 5 usdc into perps', 'perpsDeposit amount=5'],
    ['take 15 usdc margin out', 'perpsWithdraw amount=15'],
    ['withdraw all my margin', 'perpsWithdraw amount=all'],
    ['what can be traded with leverage', 'perpsGetProducts'],
    ['am i in profit on my long', 'perpsGetPositions'],
    ['show margin', 'perpsGetPositions'],
    ['sell short 0.2 eth at 4x', 'perpsOpenPosition product=ETH-PERP side=short amount=0.2 leverage=4'],
    ['lev 10 long btc 0.005', 'perpsOpenPosition product=BTC-PERP side=long amount=0.005 leverage=10'],
    ['buy 50 sei perp', 'perpsOpenPosition product=SEI-PERP side=long amount=50'],
    [
      'please open position: BTC-PERP, long, 0.003, 2x',
      'perpsOpenPosition product=BTC-PERP side=long amount=0.003 leverage=2',
    ],
    [
      'i think sei will fall, short 200 of it with 5 times leverage',
      'perpsGetPositions; perpsOpenPosition product=? side=short amount=200 leverage=5',
    ],
    ['open a short', 'perpsOpenPosition product=? side=short amount=?'],
    ['get me out of my sei perp', 'perpsClosePosition product=SEI-PERP'],
    ['close half the btc long', 'perpsClosePosition product=BTC-PERP amount=1/2'],
  ]);
});

describe('pay, transfers', () => {
  itUnderstands([
    ['pay max 0.02 usdc for the weather report', 'payForResource url=http://127.0.0.1:4020/api/weather maxAmount=0.02'],
    ['order the weather forecast for me', 'payForResource url=http://127.0.0.1:4020/api/weather'],
    ['open https://b.example/r and pay for it', 'payForResource url=https://b.example/r'],
    [`shoot 4 sei over to ${A}`, `transfer amount=4 to=${A} token=0x0`],
    [`${A} 1.5 usdc send`, `transfer amount=1.5 to=${A} token=USDC`],
    [`i owe ${A} 3 wsei, send it`, 'getLendingPosition; transfer amount=? to=? token=?'],
    [`transfer all to ${A}`, `transfer amount=all to=${A} token=?`],
    [`approve ${A} for 10 wsei`, `approve token=WSEI spender=${A} amount=10`],
    [`remove the usdc allowance for ${A}`, `approve token=USDC spender=${A} amount=0`],
    [`give my nft number 3 from ${B} to ${A}`, `transferERC721 contractAddress=${B} to=${A} tokenId=3`],
  ]);
});

describe('liquidity, quotes, help', () => {
  itUnderstands([
    ['put 20 wsei and 10 usdc in the pool', 'addLiquidity tokenA=WSEI tokenB=USDC amountA=20 amountB=10'],
    ['pull 25% out of lp 5', 'removeLiquidity positionId=5 percent=25'],
    ['what liquidity do i have', 'getLiquidityPositions'],
    ['how much btc can 50 usdc buy', 'getSwapQuote amount=50 fromToken=USDC toToken=WBTC'],
    ['4 wsei to usdc?', 'getSwapQuote amount=4 fromToken=WSEI toToken=USDC'],
    ['if i stake 10 sei what do i get', 'getStakeQuote amount=10'],
    ['i dont get it, what are the commands', 'help; help'],
    ['show me some examples', 'help'],
  ]);
});

describe('several', () => {
  itUnderstands([
    ['stake 1 sei & show me the perps', 'stake amount=1; perpsGetProducts'],
    [
      `convert 5 usdc to sei, afterwards send 2 sei to ${A}`,
      `swap amount=5 fromToken=USDC toToken=0x0; transfer amount=2 to=${A} token=0x0`,
    ],
    ['claim then tell me my sei balance', 'claimUnstaked; getERC20Balance'],
  ]);
});

describe('must not write', () => {
  itUnderstands([
    ['i dont wanna swap 5 usdc to sei anymore', 'nothing'],
    ['yesterday i borrowed 5 usdc', '!'],
    ['can you explain what happens when i stake 3 sei', 'explain:stake'],
    ['my wife says sell 10 sei for usdc', '!'],
    ['would you swap 10 usdc to sei if you were me', 'getSwapQuote amount=10 fromToken=USDC toToken=0x0'],
    [`i accidentally sent 5 sei to ${A}`, '!'],
    ['swap 1 usdc to sei at 5pm', 'swap amount=1 fromToken=USDC toToken=0x0 ~pm ~in 5'],
    ['buy 10 usdc of sei when it dips', '!'],
    ['stake 5 sei for 30 days', '!'],
    [
      'swap 5 usdc to sei but keep 2',
      'swap amount=5 fromToken=USDC toToken=0x0; swap amount=2 fromToken=USDC toToken=0x0 ~keep',
    ],
    ['long 0.01 btc with stop loss at 50000', 'nothing'],
    [`send 5 usdc to ${A} and not to ${B} but half`, `transfer amount=5 to=${A} token=USDC; !`],
    ['borrow 5 usdc at 3% interest', 'borrowLending symbol=USDC amount=5 ~in 3%'],
    ['swap 1 usdc to sei on uniswap v2', 'swap amount=1 fromToken=USDC toToken=0x0 ~uniswap ~v2'],
    ['supply 5 usdc to aave', 'mintLending symbol=USDC amount=5 ~aave'],
    ['unstake 3 sei from 0xdead', 'unstake amount=3 ~from 0xdead'],
    [`send 1 sei each to ${A} and ${B}`, '!'],
    ['limit buy 10 sei at 0.4 usdc', 'swap amount=0.4 fromToken=USDC toToken=0x0 ~10'],
    ['long btc 100 usdc 5x', 'perpsOpenPosition product=BTC-PERP side=long amount=? leverage=5'],
    ['swap 3 usdc for exactly 5 sei', 'swap amount=3 fromToken=USDC toToken=0x0 ~for 5'],
    ["repay 5 usdc of alice's loan", "repayLending symbol=USDC amount=5 ~alice's"],
    ['is 5 usdc to sei a good swap', 'explain:swap'],
    ['the plan was to stake 4 sei', 'getStakeQuote amount=4'],
    ['lets not stake 4 sei', 'nothing'],
    ['stake 4 sei? no', 'stake amount=4; !'],
  ]);
});
