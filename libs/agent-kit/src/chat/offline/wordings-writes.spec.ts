import { itUnderstands } from '../../../../../test/harness/understand-wordings.js';

const A = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const B = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

describe('swaps', () => {
  itUnderstands([
    ['swap 1 USDC for WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['Swap 1 USDC to WSEI.', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['swap 1 usdc into wsei', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['could you please swap 1 USDC for WSEI?', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ["I'd like to exchange 1.5 USDC for SEI", 'swap amount=1.5 fromToken=USDC toToken=0x0'],
    ['I’d like to exchange .5 USDC for SEI', 'swap amount=0.5 fromToken=USDC toToken=0x0'],
    ["let's trade 1,000 USDC for wrapped sei", 'swap amount=1000 fromToken=USDC toToken=WSEI'],
    ['hey, convert 1k USDC into bitcoin', 'swap amount=1000 fromToken=USDC toToken=WBTC'],
    ['change two SEI to usdc', 'swap amount=2 fromToken=0x0 toToken=USDC'],
    ['turn 3 USDC into WSEI', 'swap amount=3 fromToken=USDC toToken=WSEI'],
    ['buy WSEI with 1 USDC', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['buy some WSEI for 5 bucks', 'swap amount=5 fromToken=USDC toToken=WSEI'],
    ['buy $5 of WSEI', 'swap amount=5 fromToken=USDC toToken=WSEI'],
    ['buy 5 dollars worth of bitcoin', 'swap amount=5 fromToken=USDC toToken=WBTC'],
    ['sell 2 SEI for USDC', 'swap amount=2 fromToken=0x0 toToken=USDC'],
    ['get me WSEI for 1 USDC', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['I want to swap a hundred USDC to WBTC', 'swap amount=100 fromToken=USDC toToken=WBTC'],
    ['swap half of my USDC for WSEI', 'swap amount=1/2 fromToken=USDC toToken=WSEI'],
    ['swap half my usdc to sei', 'swap amount=1/2 fromToken=USDC toToken=0x0'],
    ['swap all my USDC to WSEI', 'swap amount=all fromToken=USDC toToken=WSEI'],
    ['convert everything I have in USDC to WSEI', 'swap amount=all fromToken=USDC toToken=WSEI'],
    ['swap 10% of my USDC for WSEI', 'swap amount=1/10 fromToken=USDC toToken=WSEI'],
    ['swap a quarter of my USDC into SEI', 'swap amount=1/4 fromToken=USDC toToken=0x0'],
    ['swap 1 USDC for WSEI with 0.5% slippage', 'swap amount=1 fromToken=USDC toToken=WSEI slippageBps=50'],
    ['swap 1 USDC for WSEI, slippage 30 bps', 'swap amount=1 fromToken=USDC toToken=WSEI slippageBps=30'],
    ['swap from USDC to WSEI 1', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['swap 1 from USDC to WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['swap', 'swap amount=? fromToken=? toToken=?'],
    ['swap USDC', 'swap amount=? fromToken=USDC toToken=?'],
    ['swap USDC to WSEI', 'swap amount=? fromToken=USDC toToken=WSEI'],
    ['swap 1 USDC', 'swap amount=1 fromToken=USDC toToken=?'],
    ['buy 5 WSEI with USDC', 'swap amount=? fromToken=USDC toToken=WSEI'],
    ['buy WSEI', 'swap amount=? fromToken=? toToken=WSEI'],
    ['sell my bitcoin', 'swap amount=? fromToken=WBTC toToken=?'],
    ['swp 1 USDC for WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['exchage 1 USDC for WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['swap 1 USCD for WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['swap 1usdc to wsei', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['swap “1” ‘USDC’ for "WSEI"', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    [`swap 1 USDC to ${A}`, `swap amount=1 fromToken=USDC toToken=${A}`],
    ['swap 1 0x0 to USDC', 'swap amount=1 fromToken=0x0 toToken=USDC'],
    ['swap 1 of the native token for USD coin', 'swap amount=1 fromToken=0x0 toToken=USDC'],
    ['swap 1 USDC to DOGE', 'swap amount=1 fromToken=USDC toToken=DOGE'],
    ['use 1 USDC to buy WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
    ['I wanna swap 1 USDC -> WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
  ]);
});

describe('staking', () => {
  itUnderstands([
    ['stake 2', 'stake amount=2'],
    ['stake 2 SEI', 'stake amount=2'],
    ['delegate two sei please', 'stake amount=2'],
    ['lock up 2 SEI', 'stake amount=2'],
    ['put 2 SEI into staking', 'stake amount=2'],
    ['can you stake 1.25 SEI for me?', 'stake amount=1.25'],
    ['stake half of my SEI', 'stake amount=1/2'],
    ['stake everything', 'stake amount=all'],
    ['stake', 'stake amount=?'],
    ['I want to stake some SEI', 'stake amount=?'],
    ['steak 2 SEI', '!'],
    ['stkae 2 SEI', 'stake amount=2'],
    ['unstake 1', 'unstake amount=1'],
    ['un-stake 1 stSEI', 'unstake amount=1'],
    ['withdraw my stake', 'unstake amount=?'],
    ['withdraw 1 SEI from staking', 'unstake amount=1'],
    ['unstake everything', 'unstake amount=all'],
    ['undelegate half', 'unstake amount=1/2'],
    ['claim my unstaked SEI', 'claimUnstaked'],
    ['claim', 'claimUnstaked'],
    ['collect the unstaked tokens', 'claimUnstaked'],
    ['deposit 3 SEI to staking', 'stake amount=3'],
  ]);
});

describe('lending', () => {
  itUnderstands([
    ['supply 10 USDC', 'mintLending symbol=USDC amount=10'],
    ['lend 10 USDC', 'mintLending symbol=USDC amount=10'],
    ['lend out ten usdc', 'mintLending symbol=USDC amount=10'],
    ['deposit 10 USDC into lending', 'mintLending symbol=USDC amount=10'],
    ['deposit 10 USDC in the lending market', 'mintLending symbol=USDC amount=10'],
    ['earn interest on 10 USDC', 'mintLending symbol=USDC amount=10'],
    ['supply $5', 'mintLending symbol=USDC amount=5'],
    ['supply all my WSEI', 'mintLending symbol=WSEI amount=all'],
    ['supply', 'mintLending symbol=? amount=?'],
    ['use 10 USDC as collateral', 'mintLending symbol=USDC amount=10'],
    ['borrow 3 USDC', 'borrowLending symbol=USDC amount=3'],
    ['take a loan of 3 USDC', 'borrowLending symbol=USDC amount=3'],
    ['take out a loan of 3 USDC', 'borrowLending symbol=USDC amount=3'],
    ['I need to borrow 5 bucks', 'borrowLending symbol=USDC amount=5'],
    ['borrow', 'borrowLending symbol=? amount=?'],
    ['borrow USDC', 'borrowLending symbol=USDC amount=?'],
    ['repay 3 USDC', 'repayLending symbol=USDC amount=3'],
    ['pay back 3 USDC', 'repayLending symbol=USDC amount=3'],
    ['pay off my USDC loan', 'repayLending symbol=USDC amount=MAX'],
    ['pay 3 USDC back', 'repayLending symbol=USDC amount=3'],
    ['repay all my USDC debt', 'repayLending symbol=USDC amount=MAX'],
    ['repay max USDC', 'repayLending symbol=USDC amount=MAX'],
    ['repay everything', 'repayLending symbol=? amount=MAX'],
    ['repay half my USDC debt', 'repayLending symbol=USDC amount=1/2'],
    ['redeem 4 USDC', 'redeemLending symbol=USDC amount=4'],
    ['withdraw 4 USDC from lending', 'redeemLending symbol=USDC amount=4'],
    ['withdraw all my USDC from the lending market', 'redeemLending symbol=USDC amount=MAX'],
    ['redeem everything', 'redeemLending symbol=? amount=MAX'],
    ['take my supplied USDC out of lending', 'redeemLending symbol=USDC amount=?'],
  ]);
});

describe('perps', () => {
  itUnderstands([
    ['deposit 5 USDC to perps', 'perpsDeposit amount=5'],
    ['deposit 5 to perps', 'perpsDeposit amount=5'],
    ['add 5 USDC margin', 'perpsDeposit amount=5'],
    ['add margin of 5', 'perpsDeposit amount=5'],
    ['fund my perps account with 50 USDC', 'perpsDeposit amount=50'],
    ['top up my perps account', 'perpsDeposit amount=?'],
    ['top up perps by $20', 'perpsDeposit amount=20'],
    ['withdraw 5 USDC from perps', 'perpsWithdraw amount=5'],
    ['take 5 out of my margin', 'perpsWithdraw amount=5'],
    ['withdraw all my margin', 'perpsWithdraw amount=all'],
    ['open a long of 0.01 BTC with 5x leverage', 'perpsOpenPosition product=BTC-PERP side=long amount=0.01 leverage=5'],
    ['go long 0.01 BTC at 10x', 'perpsOpenPosition product=BTC-PERP side=long amount=0.01 leverage=10'],
    ['long 0.01 btc', 'perpsOpenPosition product=BTC-PERP side=long amount=0.01'],
    ['short 2 ETH with leverage 3', 'perpsOpenPosition product=ETH-PERP side=short amount=2 leverage=3'],
    ['open a 10x short on 100 SEI', 'perpsOpenPosition product=SEI-PERP side=short amount=100 leverage=10'],
    ['open a 0.01 BTC-PERP long position', 'perpsOpenPosition product=BTC-PERP side=long amount=0.01'],
    ['open a position', 'perpsOpenPosition product=? side=? amount=?'],
    ['long bitcoin', 'perpsOpenPosition product=BTC-PERP side=long amount=?'],
    ['close my position', 'perpsClosePosition product=?'],
    ['close my BTC position', 'perpsClosePosition product=BTC-PERP'],
    ['close the BTC-PERP long', 'perpsClosePosition product=BTC-PERP'],
    ['close 0.005 of my BTC position', 'perpsClosePosition product=BTC-PERP amount=0.005'],
    ['close half of my ETH position', 'perpsClosePosition product=ETH-PERP amount=1/2'],
  ]);
});

describe('tokens and NFTs', () => {
  itUnderstands([
    [`send 5 USDC to ${A}`, `transfer amount=5 to=${A} token=USDC`],
    [`transfer 1 SEI to ${A}`, `transfer amount=1 to=${A} token=0x0`],
    [`pay ${A} 5 USDC`, `transfer amount=5 to=${A} token=USDC`],
    [`pay 5 USDC to ${A}`, `transfer amount=5 to=${A} token=USDC`],
    [`give ${A} 2 sei`, `transfer amount=2 to=${A} token=0x0`],
    [`send everything in USDC to ${A}`, `transfer amount=all to=${A} token=USDC`],
    [`send 5 to ${A}`, `transfer amount=5 to=${A} token=?`],
    ['send 5 USDC', 'transfer amount=5 to=? token=USDC'],
    ['send 5 USDC to alice', 'transfer amount=5 to=? token=USDC'],
    ['send 5 USDC to 0x1234', 'transfer amount=5 to=? token=USDC'],
    [`approve 10 USDC for ${A}`, `approve token=USDC spender=${A} amount=10`],
    [`allow ${A} to spend 10 USDC`, `approve token=USDC spender=${A} amount=10`],
    [`let ${A} spend up to 10 USDC`, `approve token=USDC spender=${A} amount=10`],
    [`approve ${A}`, `approve token=? spender=${A} amount=?`],
    [`send NFT 7 of ${A} to ${B}`, `transferERC721 contractAddress=${A} to=${B} tokenId=7`],
    [`transfer nft #7 from ${A} to ${B}`, `transferERC721 contractAddress=${A} to=${B} tokenId=7`],
    [`send my NFT number 7 to ${B}`, `transferERC721 contractAddress=? to=${B} tokenId=7`],
    [`mint NFT 7 of ${A}`, `mintERC721 contractAddress=${A} tokenId=7`],
    [`mint token id 9 from ${A} to ${B}`, `mintERC721 contractAddress=${A} tokenId=9 to=${B}`],
    ['mint an NFT', 'mintERC721 contractAddress=? tokenId=?'],
  ]);
});

describe('liquidity', () => {
  itUnderstands([
    ['add liquidity 10 USDC and 20 WSEI', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=10 amountB=20'],
    ['provide 10 USDC and 20 WSEI of liquidity', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=10 amountB=20'],
    ['provide liquidity with 10 USDC and 20 WSEI', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=10 amountB=20'],
    ['add 10 USDC and 20 WSEI to the pool', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=10 amountB=20'],
    ['add liquidity to USDC/WSEI', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=? amountB=?'],
    ['add liquidity', 'addLiquidity tokenA=? tokenB=? amountA=? amountB=?'],
    ['add 10 USDC and 20 WSEI to the 0.3% pool', 'addLiquidity tokenA=USDC tokenB=WSEI amountA=10 amountB=20 fee=3000'],
    ['remove liquidity position 3', 'removeLiquidity positionId=3'],
    ['remove half of liquidity position 3', 'removeLiquidity positionId=3 percent=50'],
    ['withdraw 25% of liquidity position #3', 'removeLiquidity positionId=3 percent=25'],
    ['remove all liquidity from position 3', 'removeLiquidity positionId=3 percent=100'],
    ['remove my liquidity', 'removeLiquidity positionId=?'],
  ]);
});

describe('payments', () => {
  const weather = 'http://127.0.0.1:4020/api/weather';
  itUnderstands([
    ['pay for the weather', `payForResource url=${weather}`],
    ['buy the weather report', `payForResource url=${weather}`],
    ['get me the paid weather, at most 0.01', `payForResource url=${weather} maxAmount=0.01`],
    ['pay for the weather, paying at most 0.01 USDC', `payForResource url=${weather} maxAmount=0.01`],
    ['get the paid resource at https://example.com/a?b=1', 'payForResource url=https://example.com/a?b=1'],
    ['pay for https://example.com/report.', 'payForResource url=https://example.com/report'],
    ['fetch https://example.com/x for up to $0.05', 'payForResource url=https://example.com/x maxAmount=0.05'],
    ['pay for a resource', 'payForResource url=?'],
  ]);
});
