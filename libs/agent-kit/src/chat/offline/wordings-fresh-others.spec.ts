import { itUnderstands } from '../../../../../test/harness/understand-wordings.js';

const A = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const B = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

describe('perps', () => {
  itUnderstands([
    ['deposit 50 margin', 'perpsDeposit amount=50'],
    ['send 100 usdc to my perps account', 'perpsDeposit amount=100'],
    ['top up margin w/ 25', 'perpsDeposit amount=25'],
    ['withdraw 30 from perps', 'perpsWithdraw amount=30'],
    ['pull ten usdc of margin out of the perp exchange', 'perpsWithdraw amount=10'],
    ['which perps can i trade', 'perpsGetProducts'],
    ['list all futures contracts', 'perpsGetProducts'],
    ['any open positions?', 'perpsGetPositions; getLendingPosition; getStakingPosition; getLiquidityPositions'],
    ['how is my short doing', 'perpsGetPositions'],
    ['pnl', 'perpsGetPositions'],
    ['long 0.01 btc 5x', 'perpsOpenPosition product=BTC-PERP side=long amount=0.01 leverage=5'],
    ['short 100 sei at three times leverage', 'perpsOpenPosition product=SEI-PERP side=short amount=100 leverage=3'],
    ['go long half an eth perp', 'perpsOpenPosition product=ETH-PERP side=long amount=0.5'],
    ['open a 3x short on sei, size 10', 'perpsOpenPosition product=SEI-PERP side=short amount=10 leverage=3'],
    ['10x short eth-perp 1', 'perpsOpenPosition product=ETH-PERP side=short amount=1 leverage=10'],
    [
      'bet on bitcoin going up, 0.002 btc with leverage 20',
      'perpsOpenPosition product=BTC-PERP side=long amount=0.002 leverage=20',
    ],
    ['long btc', 'perpsOpenPosition product=BTC-PERP side=long amount=?'],
    ['close my btc position', 'perpsClosePosition product=BTC-PERP'],
    ['close 5 of my sei short', 'perpsClosePosition product=SEI-PERP amount=5'],
    ['exit the eth perp', 'perpsClosePosition product=ETH-PERP'],
  ]);
});

describe('pay', () => {
  itUnderstands([
    ['pay for the weather', 'payForResource url=http://127.0.0.1:4020/api/weather'],
    [
      'buy me a weather report, not more than 0.01 usdc',
      'payForResource url=http://127.0.0.1:4020/api/weather maxAmount=0.01',
    ],
    ['weather plz', 'explain:payForResource'],
    ['fetch https://shop.example/data/7 and pay if it asks', 'payForResource url=https://shop.example/data/7'],
    [
      'purchase http://localhost:4000/premium for at most 1 usdc',
      'payForResource url=http://localhost:4000/premium maxAmount=1',
    ],
    ['get https://a.example/x max 0.5', 'payForResource url=https://a.example/x maxAmount=0.5'],
    ['i want to know what the weather is', 'explain:payForResource'],
  ]);
});

describe('transfer', () => {
  itUnderstands([
    [`send 2 sei to ${A}`, `transfer amount=2 to=${A} token=0x0`],
    [`pls transfer 10 usdc to ${A}`, `transfer amount=10 to=${A} token=USDC`],
    [`give ${A} 1 usdc`, `transfer amount=1 to=${A} token=USDC`],
    [`${A} should get 0.3 sei from me`, `transfer amount=0.3 to=${A} token=0x0`],
    ['send 5 usdc', 'transfer amount=5 to=? token=USDC'],
    ['send 5 usdc to bob', 'transfer amount=5 to=? token=USDC'],
    [`allow ${A} to spend 20 of my usdc`, `approve token=USDC spender=${A} amount=20`],
    [`revoke the usdc approval of ${A}`, `approve token=USDC spender=${A} amount=0`],
    [`how much usdc may ${A} spend for me`, `getERC20Allowance token=USDC spender=${A}`],
  ]);
});

describe('nft', () => {
  itUnderstands([
    [`mint nft 7 at ${B}`, `mintERC721 contractAddress=${B} tokenId=7`],
    [`send nft #7 of ${B} to ${A}`, `transferERC721 contractAddress=${B} to=${A} tokenId=7`],
    [`how many nfts do i have in ${B}`, `getERC721Balance contractAddress=${B}`],
    ['mint me an nft', 'mintERC721 contractAddress=? tokenId=?'],
  ]);
});

describe('liquidity', () => {
  itUnderstands([
    ['add liquidity 10 usdc and 20 wsei', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=10 amountB=20'],
    ['lp 5 usdc + 10 wsei at 0.3% fee', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=5 amountB=10 fee=3000'],
    ['provide liquidity with 10 usdc', 'addLiquidity tokenA=USDC tokenB=? amountA=10 amountB=?'],
    ['remove liquidity position 12', 'removeLiquidity positionId=12'],
    ['take half of my liquidity out of position 3', 'removeLiquidity positionId=3 percent=50'],
    ['show my lp positions', 'getLiquidityPositions'],
    ['am i providing liquidity anywhere', 'getLiquidityPositions'],
  ]);
});

describe('quotes', () => {
  itUnderstands([
    ['how many sei do i get for 100 usdc', 'getSwapQuote amount=100 fromToken=USDC toToken=0x0'],
    ['price of sei in usdc', 'getSwapQuote amount=1 fromToken=0x0 toToken=USDC'],
    ['whats 1 wbtc worth', 'getSwapQuote amount=1 fromToken=WBTC toToken=USDC'],
    ['quote 3 wsei usdc', 'getSwapQuote amount=3 fromToken=WSEI toToken=USDC'],
  ]);
});

describe('tokens / help', () => {
  itUnderstands([
    ['which tokens do you know', 'listTokens'],
    ['what is the address of wbtc', 'resolveToken symbol=WBTC'],
    ['help', 'help'],
    ['what can you do', 'help'],
    ['hi there, im new here, what do i do', 'help; help'],
    ['hello', 'greeting'],
  ]);
});

describe('several', () => {
  itUnderstands([
    [
      'swap 1 usdc to wsei and then supply 1 wsei',
      'swap amount=1 fromToken=USDC toToken=WSEI; mintLending symbol=WSEI amount=1',
    ],
    ['stake 2 sei then show my stsei balance', 'stake amount=2; getERC20Balance contractAddress=stSEI'],
    [
      'deposit 20 margin, then long 0.001 btc',
      'perpsDeposit amount=20; perpsOpenPosition product=BTC-PERP side=long amount=0.001',
    ],
    ['show my usdc balance and my lending position', 'getERC20Balance contractAddress=USDC; getLendingPosition'],
    ['unstake 1 and stake 2', 'unstake amount=1; stake amount=2'],
  ]);
});
