import { itUnderstands } from '../../../../../test/harness/understand-wordings.js';

const A = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const HASH = `0x${'4e'.repeat(32)}`;

describe('balances and tokens', () => {
  itUnderstands([
    ['balance', 'getERC20Balance'],
    ['what is my balance?', 'getERC20Balance'],
    ["what's my SEI balance", 'getERC20Balance'],
    ['how much USDC do I have?', 'getERC20Balance contractAddress=USDC'],
    ['show my usdc balance', 'getERC20Balance contractAddress=USDC'],
    ['check the balance of WSEI', 'getERC20Balance contractAddress=WSEI'],
    ['tell me my bitcoin balance', 'getERC20Balance contractAddress=WBTC'],
    ['do I have any USDC?', 'getERC20Balance contractAddress=USDC'],
    ['USDC balance', 'getERC20Balance contractAddress=USDC'],
    ['show my USDC and WSEI balances', 'getERC20Balance contractAddress=USDC; getERC20Balance contractAddress=WSEI'],
    [
      'how much USDC, WSEI and SEI do I own?',
      'getERC20Balance contractAddress=USDC; getERC20Balance contractAddress=WSEI; getERC20Balance',
    ],
    [`balance of ${A}`, `getERC20Balance contractAddress=${A}`],
    ['can you show me my balance', 'getERC20Balance'],
    ['how rich am I?', 'portfolio'],
    ['what do I have?', 'portfolio'],
    ['show my portfolio', 'portfolio'],
    ['what are my balances', 'portfolio'],
    ['list tokens', 'listTokens'],
    ['which tokens do you know?', 'listTokens'],
    ['what is the address of USDC?', 'resolveToken symbol=USDC'],
    ['what is my address?', 'getAccount'],
    ['show my address', 'getAccount'],
    [`what became of transaction ${HASH}`, `getTransaction hash=${HASH}`],
    [HASH, `getTransaction hash=${HASH}`],
    ['resolve WSEI', 'resolveToken symbol=WSEI'],
    [`what is the USDC allowance of ${A}`, `getERC20Allowance token=USDC spender=${A}`],
    [`how much USDC may ${A} spend`, `getERC20Allowance token=USDC spender=${A}`],
    ['check allowance', 'getERC20Allowance token=? spender=?'],
    [`how many NFTs of ${A} do I have`, `getERC721Balance contractAddress=${A}`],
    ['my NFT balance', 'getERC721Balance contractAddress=?'],
  ]);
});

describe('markets and positions', () => {
  itUnderstands([
    ['list products', 'perpsGetProducts'],
    ['what products are there?', 'perpsGetProducts'],
    ['show the perps markets', 'perpsGetProducts'],
    ['what can I trade on perps?', 'perpsGetProducts'],
    ['which perpetuals are available', 'perpsGetProducts'],
    ['show my perps positions', 'perpsGetPositions'],
    ['how much margin do I have?', 'perpsGetPositions'],
    ["what's my unrealized pnl", 'perpsGetPositions'],
    ['show lending markets', 'getLendingMarkets'],
    ['what are the interest rates?', 'getLendingMarkets'],
    ['what can I borrow?', 'getLendingMarkets'],
    ['how much do I owe?', 'getLendingPosition'],
    ['am I close to liquidation?', 'getLendingPosition'],
    ['my loan health', 'getLendingPosition'],
    ['how much have I supplied', 'getLendingPosition'],
    ['how healthy is my loan', 'getLendingPosition'],
    ['how much have I staked?', 'getStakingPosition'],
    ['show my staking position', 'getStakingPosition'],
    ['when can I claim?', 'getStakingPosition'],
    ['show my liquidity positions', 'getLiquidityPositions'],
    ['which pools am I in', 'getLiquidityPositions'],
    ['show my positions', 'perpsGetPositions; getLendingPosition; getStakingPosition; getLiquidityPositions'],
  ]);
});

describe('quotes', () => {
  itUnderstands([
    ['how much WSEI would I get for 1 USDC?', 'getSwapQuote amount=1 fromToken=USDC toToken=WSEI'],
    ['how much WSEI can I get for 1 USDC', 'getSwapQuote amount=1 fromToken=USDC toToken=WSEI'],
    ['quote 1 USDC to WSEI', 'getSwapQuote amount=1 fromToken=USDC toToken=WSEI'],
    ['get me a quote for swapping 1 USDC to WSEI', 'getSwapQuote amount=1 fromToken=USDC toToken=WSEI'],
    ['what would I get for 2 SEI in USDC', 'getSwapQuote amount=2 fromToken=0x0 toToken=USDC'],
    ['what happens if I swap 1 USDC for WSEI', 'getSwapQuote amount=1 fromToken=USDC toToken=WSEI'],
    ['what if I sold 2 SEI for USDC?', 'getSwapQuote amount=2 fromToken=0x0 toToken=USDC'],
    ['price of bitcoin', 'getSwapQuote amount=1 fromToken=WBTC toToken=USDC'],
    ["what's SEI worth?", 'getSwapQuote amount=1 fromToken=0x0 toToken=USDC'],
    ['how much is 3 SEI in USDC', 'getSwapQuote amount=3 fromToken=0x0 toToken=USDC'],
    ['what would staking 2 give me?', 'getStakeQuote amount=2'],
    ['how much stSEI would I get for staking 2 SEI', 'getStakeQuote amount=2'],
    ['should I stake 2 SEI?', 'getStakeQuote amount=2'],
  ]);
});

describe('talk', () => {
  itUnderstands([
    ['hi', 'greeting'],
    ['Hello there!', 'greeting'],
    ['good morning', 'greeting'],
    ['thanks', 'thanks'],
    ['thank you very much', 'thanks'],
    ['help', 'help'],
    ['what can you do?', 'help'],
    ['what are you able to do', 'help'],
    ['how do I stake?', 'explain:stake'],
    ['how can I borrow USDC', 'explain:borrowLending'],
    ['should I stake?', 'explain:stake'],
    ['what happens if I borrow 3 USDC', 'explain:borrowLending'],
    ['explain swapping', 'explain:swap'],
    ['what is staking?', 'explain:stake'],
  ]);
});
