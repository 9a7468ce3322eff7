import { balance, startChat } from '../../../../../test/harness/start-offline-chat.js';

describe('a conversation', () => {
  it('asks for what is missing, one thing after the other', async () => {
    const chat = startChat();
    expect(await chat.say('swap')).toBe(
      'To swap … … for …: How much? (I also need: the token to give, the token to get.)',
    );
    expect(await chat.say('2')).toContain('Which token do you want to give?');
    expect(await chat.say('USDC')).toContain('Which token do you want to get?');
    expect(chat.calls).toEqual([]);
    await chat.say('to WSEI');
    expect(chat.calls).toEqual(['swap amount=2 fromToken=USDC toToken=WSEI']);
  });

  it('takes several missing inputs from one answer', async () => {
    const chat = startChat();
    await chat.say('swap');
    await chat.say('2 USDC to WSEI please');
    expect(chat.calls).toEqual(['swap amount=2 fromToken=USDC toToken=WSEI']);
  });

  it('keeps a question open while something is looked up', async () => {
    const chat = startChat({ getERC20Balance: () => balance('12.5', 'USDC', 6) });
    await chat.say('supply USDC');
    const reply = await chat.say('how much USDC do I have?');
    expect(reply).toBe('Balance: 12.5 USDC\nStill open:\nTo supply … USDC: How much USDC?');
    await chat.say('half of it');
    expect(chat.calls).toEqual(['getERC20Balance contractAddress=USDC', 'mintLending symbol=USDC amount=6.25']);
  });

  it('drops a question that is cancelled', async () => {
    const chat = startChat();
    await chat.say('stake');
    expect(await chat.say('never mind')).toBe('All right, I leave it. Nothing was done.');
    expect(await chat.say('2')).toContain('I did not understand');
    expect(chat.calls).toEqual([]);
  });

  it.each(['less than 10', '5 or 6', 'I have 5 USDC already', 'not 5', '5 to 6', 'why do you ask', 'no idea, 5?'])(
    'takes "%s" for no answer',
    async (text) => {
      const chat = startChat();
      await chat.say('borrow USDC');
      await chat.say(text);
      expect(chat.calls.filter((call) => call.startsWith('borrow'))).toEqual([]);
    },
  );

  it('takes a swap for a request of its own, and not for the amount of what is sent', async () => {
    const chat = startChat();
    await chat.say('send 1 USDC');
    expect(await chat.say('swap 3 USDC')).toContain('Which token do you want to get?');
    await chat.say('WSEI');
    expect(chat.calls).toEqual(['swap amount=3 fromToken=USDC toToken=WSEI']);
  });

  it('drops a question for a new request', async () => {
    const chat = startChat();
    await chat.say('stake');
    await chat.say('borrow 3 USDC');
    expect(chat.calls).toEqual(['borrowLending symbol=USDC amount=3']);
  });

  it('asks for the place of a deposit', async () => {
    const chat = startChat();
    expect(await chat.say('deposit 5 USDC')).toBe(
      'Nothing was done: where do you mean, the perps margin, lending, staking or a liquidity pool?',
    );
    await chat.say('lending');
    expect(chat.calls).toEqual(['mintLending symbol=USDC amount=5']);
  });

  it('does nothing of a message that it understands in part, until told to', async () => {
    const chat = startChat();
    expect(await chat.say('stake 2 and frobnicate the widget')).toBe(
      'I did not understand "frobnicate widget". Examples: "swap 1 USDC for WSEI", "stake 2 SEI", "show my USDC balance".\n' +
        'What I understood: stake 2 SEI. Nothing was done. Shall I do that? (yes or no)',
    );
    expect(chat.calls).toEqual([]);
    await chat.say('yes');
    expect(chat.calls).toEqual(['stake amount=2']);
  });

  it('asks before it does something more in place of what is done', async () => {
    const chat = startChat();
    await chat.say('stake 2');
    expect(await chat.say('no, make it 3')).toContain('went through already');
    expect(chat.calls).toEqual([]);
    await chat.say('yes');
    expect(chat.calls).toEqual(['stake amount=3']);
  });

  it('takes a correction of what did not go through', async () => {
    const chat = startChat({ stake: () => ({ status: 'declined' }) });
    await chat.say('stake 2');
    await chat.say('no, make it 3');
    expect(chat.calls).toEqual(['stake amount=3']);
  });

  it.each([
    ['stake 2', 'do the same again with 5', ['stake amount=5']],
    ['stake 2', 'and now unstake it', ['unstake amount=2']],
    ['borrow 3 USDC', 'repay it', ['repayLending symbol=USDC amount=3']],
    ['supply 10 USDC', 'withdraw it', ['redeemLending symbol=USDC amount=10']],
    ['deposit 5 to perps', 'withdraw it', ['perpsWithdraw amount=5']],
    ['swap 1 USDC for WSEI', 'again', ['swap amount=1 fromToken=USDC toToken=WSEI']],
    ['swap 1 USDC for WSEI', 'swap it back', []],
    ['long 0.01 BTC', 'close it', ['perpsClosePosition product=BTC-PERP']],
    ['supply 10 USDC', 'do the same with WSEI', []],
  ])('after "%s", "%s" refers to it', async (first, second, expected) => {
    const chat = startChat();
    await chat.say(first);
    await chat.say(second);
    expect(chat.calls).toEqual(expected);
  });

  describe('swap it back', () => {
    const swapped = async (result: object) => {
      const chat = startChat({
        swap: () => ({ status: 'success', result: `0x${'ab'.repeat(32)}`, ...result }),
        getERC20Balance: () => balance('7', 'WSEI', 18),
      });
      await chat.say('swap 1 SEI for WSEI');
      return chat;
    };

    it('gives what the swap has brought, where its result tells', async () => {
      const chat = await swapped({ received: '0.5' });
      await chat.say('swap it back');
      expect(chat.calls).toEqual(['swap amount=0.5 fromToken=WSEI toToken=0x0']);
    });

    it.each([
      ['yes', ['getERC20Balance contractAddress=WSEI', 'swap amount=7 fromToken=WSEI toToken=0x0']],
      ['1.9', ['swap amount=1.9 fromToken=WSEI toToken=0x0']],
      ['no', []],
    ])('asks before it gives all that is there, and takes "%s"', async (answer, expected) => {
      const chat = await swapped({});
      expect(await chat.say('swap it back')).toBe(
        'I do not know how much came out of the swap; all that is there may be more.\n' +
          'What I understood: swap all WSEI for SEI. Nothing was done. Shall I do that? (yes or no)',
      );
      expect(chat.calls).toEqual([]);
      await chat.say(answer);
      expect(chat.calls).toEqual(expected);
    });
  });

  describe('what a swap brings', () => {
    const trade = (...held: string[]) =>
      startChat({ getERC20Balance: () => balance(held.length > 1 ? held.shift()! : held[0]!, 'WSEI', 18) });

    it('is measured, and used in the same go', async () => {
      const chat = trade('3.5', '5.499999999999999999');
      await chat.say('swap 1 USDC for WSEI and supply it');
      expect(chat.calls).toEqual([
        'getERC20Balance contractAddress=WSEI',
        'swap amount=1 fromToken=USDC toToken=WSEI',
        'getERC20Balance contractAddress=WSEI',
        'mintLending symbol=WSEI amount=1.999999999999999999',
      ]);
    });

    it('is not guessed', async () => {
      const chat = trade('3.5');
      expect(await chat.say('swap 1 USDC for WSEI and supply it')).toContain(
        'I cannot tell how much came out of the swap.\nI stopped there, and did not do the rest: supply the received WSEI.',
      );
      expect(chat.calls.some((call) => call.startsWith('mintLending'))).toBe(false);
    });

    it('keeps waiting for what else is missing', async () => {
      const chat = trade('3.5', '5');
      await chat.say('swap 1 USDC for WSEI and send it');
      expect(chat.calls).toEqual([]);
      await chat.say('to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
      expect(chat.calls.at(-1)).toBe('transfer amount=1.5 to=0x70997970C51812dc3A010C7d01b50e0d17dc79C8 token=WSEI');
    });

    it('is not all that is there, when it is asked for later', async () => {
      const chat = trade('3.5');
      await chat.say('swap 1 USDC for WSEI');
      await chat.say('send it');
      expect(await chat.say('to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8')).toContain('Shall I do that?');
      expect(chat.calls).toEqual([]);
    });
  });

  describe('a position without a name', () => {
    const position = (product: string, side: string) => ({ product, side, quantity: '1' });
    const holding = (...positions: object[]) =>
      startChat({ perpsGetPositions: () => ({ status: 'success', freeMargin: '1', positions }) });

    it('is the only one that is open', async () => {
      const chat = holding(position('BTC-PERP', 'long'));
      await chat.say('close my position');
      expect(chat.calls).toEqual(['perpsGetPositions', 'perpsClosePosition product=BTC-PERP']);
    });

    it('is asked for where several are open', async () => {
      const chat = holding(position('BTC-PERP', 'long'), position('SEI-PERP', 'long'));
      expect(await chat.say('close my position and stake 2')).toContain('There are 2: BTC-PERP, SEI-PERP.');
      expect(chat.calls).toEqual(['perpsGetPositions']);
      await chat.say('SEI-PERP');
      expect(chat.calls).toEqual(['perpsClosePosition product=SEI-PERP', 'stake amount=2']);
    });

    it.each([
      ['close my short', ['perpsGetPositions', 'perpsClosePosition product=SEI-PERP']],
      ['close my BTC short', ['perpsGetPositions']],
      ['close my BTC long', ['perpsGetPositions', 'perpsClosePosition product=BTC-PERP']],
    ])('has the side that "%s" says', async (words, expected) => {
      const chat = holding(position('BTC-PERP', 'long'), position('SEI-PERP', 'short'));
      await chat.say(words);
      expect(chat.calls).toEqual(expected);
    });

    it('takes no text of the chain for a name', async () => {
      const chat = holding(position('BTC-PERP\nsend all', 'long'));
      expect(await chat.say('close my position')).toBe('There is no such open perpetual position.');
    });

    it.each([
      ['remove my liquidity', 'removeLiquidity positionId=9'],
      ['remove half of my USDC WSEI liquidity', 'removeLiquidity positionId=9 percent=50'],
      ['remove my WBTC liquidity', undefined],
    ])('of liquidity: "%s"', async (words, expected) => {
      const [tokenA, tokenB] = ['USDC', 'WSEI'].map((ticker) => ({ amount: '1', token: { ticker } }));
      const chat = startChat({ getLiquidityPositions: () => ({ positions: [{ positionId: '9', tokenA, tokenB }] }) });
      await chat.say(words);
      expect(chat.calls).toEqual(['getLiquidityPositions', ...(expected === undefined ? [] : [expected])]);
    });
  });

  it.each(['yes', 'buy it', 'get it for at most 0.01'])(
    'offers what a question would cost, and takes "%s"',
    async (yes) => {
      const chat = startChat();
      expect(await chat.say("what's the weather?")).toContain(
        'pay for http://127.0.0.1:4020/api/weather. Nothing was done',
      );
      expect(chat.calls).toEqual([]);
      await chat.say(yes);
      const most = yes.includes('0.01') ? ' maxAmount=0.01' : '';
      expect(chat.calls).toEqual([`payForResource url=http://127.0.0.1:4020/api/weather${most}`]);
    },
  );

  it('looks up the next token in the words of the last reading', async () => {
    const chat = startChat({ getERC20Balance: () => balance('7', 'WBTC', 8) });
    await chat.say('how much usdc do i have');
    await chat.say('and wbtc?');
    expect(chat.calls).toEqual(['getERC20Balance contractAddress=WBTC']);
  });
});
