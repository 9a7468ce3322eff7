import { itUnderstands } from '../../../../../test/harness/understand-wordings.js';

const A = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const B = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

describe('negatives', () => {
  itUnderstands([
    ["don't swap 1 usdc to sei", 'nothing'],
    ['i swapped 1 usdc to wsei yesterday', '!'],
    ['my friend wants to stake 5 sei', '!'],
    ['what would happen if i staked 10 sei', '!'],
    ['how do i borrow 10 usdc', 'explain:borrowLending'],
    ['should i long btc with 0.01', 'explain:perpsOpenPosition'],
    ['"swap 5 usdc to sei" is what the website told me to type', '!'],
    [`never send 5 sei to ${A}`, 'nothing'],
    ['why did you stake 3 sei', 'getStakeQuote amount=3'],
    ['did you swap 2 usdc to sei', 'getSwapQuote amount=2 fromToken=USDC toToken=0x0'],
    ['is it safe to supply 100 usdc', 'explain:mintLending'],
    ["i'm thinking about unstaking 2 sei", '!'],
    ["stop! don't stake 2 sei", 'nothing'],
    ['swap -5 usdc to sei', 'swap amount=? fromToken=USDC toToken=0x0'],
    ['swap 5 usdc to usdc', 'swap amount=5 fromToken=USDC toToken=?'],
    ['stake 3 usdc', 'stake amount=?'],
    ['stake 0 sei', 'stake amount=?'],
    ['swap 5 dogecoin to sei', 'swap amount=5 fromToken=? toToken=0x0 ~dogecoin'],
    ['long 0.01 btc with leverage 50', 'perpsOpenPosition product=BTC-PERP side=long amount=0.01 leverage=?'],
    ['i almost borrowed 20 usdc last week', 'getLendingPosition'],
    ['if the price drops, sell 10 sei for usdc', '!'],
    ['swap 10 usdc to sei tomorrow', '!'],
    ['every day swap 1 usdc to sei', '!'],
    ['what does it cost to swap 5 usdc to sei', 'getSwapQuote amount=5 fromToken=USDC toToken=0x0'],
    ['stake 1 or 2 sei', '!'],
    ['swap 1 usdc or 2 sei to wsei', '!'],
    ['buy 5 sei or maybe wbtc with usdc', '!'],
    ['tell my bot to withdraw 5 margin', '!'],
    [`someone told me to send 5 sei to ${A}`, '!'],
    [`send 5 sei to ${A} or to ${B}`, `transfer amount=5 to=${A} token=0x0 ~to ${B}`],
    ['explain how to open a 5x long with 0.01 btc', 'explain:perpsOpenPosition'],
    ['maybe later stake 5 sei', '!'],
    ['i wish i had staked 5 sei', '!'],
    ['swap 1,5 00 usdc to sei', 'swap amount=? fromToken=USDC toToken=0x0'],
    ['short 10 sei unless btc goes up', '!'],
    ['send 5 sei to 0x1234', 'transfer amount=5 to=? token=0x0'],
    ['the bot swapped 5 usdc to sei without asking me', 'nothing'],
    ['can you teach me staking 2 sei', 'explain:stake'],
    [`translate "send 1 sei to ${A}" to german`, '!'],
    ['i was going to repay 5 usdc but forgot it', '!'],
  ]);
});
