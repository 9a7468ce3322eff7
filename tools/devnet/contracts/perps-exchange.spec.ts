import { erc20Abi, maxUint256, parseAbi, parseUnits, type Address } from 'viem';

import { createTrader, type Trader } from '../../../test/harness/agents/trader.js';
import { startChain, type DevnetWithProtocols } from '../chain/chain.js';
import { callRpc } from '../processes/json-rpc.js';
import { setPrice } from '../protocols/set-price.js';

const perpsAbi = parseAbi([
  'struct Product { uint32 id; string symbol; string baseAsset; string quoteAsset; bool active; uint256 markPrice; uint256 increment; uint256 minQuantity; uint256 maxQuantity; uint256 makerFeeBps; uint256 takerFeeBps; uint256 initialWeightBps; uint256 maintenanceWeightBps; }',
  'struct Position { uint32 productId; bool isLong; uint256 quantity; uint256 entryPrice; uint256 margin; int256 unrealizedPnl; uint256 liquidationPrice; }',
  'function marginToken() view returns (address)',
  'function deposit(uint256 amount)',
  'function withdraw(uint256 amount)',
  'function freeMargin(address account) view returns (uint256)',
  'function products() view returns (Product[] memory)',
  'function positionsOf(address account) view returns (Position[] memory)',
  'function open(uint32 productId, bool isLong, uint256 quantity, uint256 leverage, uint256 limitPrice)',
  'function close(uint32 productId, uint256 quantity, uint256 limitPrice)',
  'function liquidate(address account, uint32 productId)',
  'function houseFunds() view returns (uint256)',
  'function openInterest() view returns (uint256)',
  'function addProduct(Product product)',
  'error InsufficientMargin(uint256 required, uint256 available)',
  'error LeverageTooHigh(uint256 leverage, uint256 maximum)',
  'error LeverageIsZero()',
  'error PriceMoved(uint256 price, uint256 limit)',
  'error BadQuantity(uint256 quantity)',
  'error ProductInactive(uint32 productId)',
  'error NoPosition(uint32 productId)',
  'error NotLiquidatable(address account, uint32 productId)',
  'error OppositePosition(uint32 productId)',
  'error HouseFundsTooLow(uint256 wanted, uint256 available)',
  'error OwnableUnauthorizedAccount(address account)',
]);

const usd = (amount: string) => parseUnits(amount, 6);
const e18 = (amount: string) => parseUnits(amount, 18);
const [BTC, ETH, SEI, ATOM] = [1, 2, 3, 4];

describe('the perps exchange', () => {
  let chain: DevnetWithProtocols;
  let trader: Trader;
  let other: Trader;
  let snapshot: unknown;

  beforeAll(async () => {
    chain = await startChain({ protocols: true });
    trader = createTrader(chain, 0);
    other = createTrader(chain, 1);
    for (const account of [trader, other]) {
      const approve = { address: chain.asset, abi: erc20Abi, functionName: 'approve' } as const;
      await account.mined(account.writeContract({ ...approve, args: [chain.contracts.perps, maxUint256] }));
      await deposit(account, '10000');
    }
  });

  beforeEach(async () => {
    snapshot = await callRpc(chain.rpcUrl, 'evm_snapshot');
  });

  afterEach(async () => {
    await expectSolvent();
    await callRpc(chain.rpcUrl, 'evm_revert', [snapshot]);
  });

  afterAll(async () => {
    await chain.stop();
  });

  const perps = () => ({ address: chain.contracts.perps, abi: perpsAbi }) as const;
  const deposit = (account: Trader, amount: string) =>
    account.mined(account.writeContract({ ...perps(), functionName: 'deposit', args: [usd(amount)] }));
  const withdraw = (account: Trader, amount: bigint) =>
    account.mined(account.writeContract({ ...perps(), functionName: 'withdraw', args: [amount] }));
  const open = (
    account: Trader,
    productId: number,
    side: 'long' | 'short',
    quantity: string,
    leverage: number,
    limitPrice = side === 'long' ? maxUint256 : 0n,
  ) =>
    account.mined(
      account.writeContract({
        ...perps(),
        functionName: 'open',
        args: [productId, side === 'long', e18(quantity), BigInt(leverage), limitPrice],
      }),
    );
  const close = (account: Trader, productId: number, quantity: string, limitPrice: bigint) =>
    account.mined(
      account.writeContract({ ...perps(), functionName: 'close', args: [productId, e18(quantity), limitPrice] }),
    );
  const liquidate = (liquidator: Trader, account: Address, productId: number) =>
    liquidator.mined(liquidator.writeContract({ ...perps(), functionName: 'liquidate', args: [account, productId] }));
  const freeMargin = (account: Trader) =>
    account.readContract({ ...perps(), functionName: 'freeMargin', args: [account.address] });
  const positionsOf = (account: Trader) =>
    account.readContract({ ...perps(), functionName: 'positionsOf', args: [account.address] });
  const read = (functionName: 'houseFunds' | 'openInterest') => trader.readContract({ ...perps(), functionName });

  /** The exchange's balance covers, to the base unit, its debts. */
  const expectSolvent = async () => {
    const balance = await trader.readContract({
      address: chain.asset,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [chain.contracts.perps],
    });
    let owed = await read('houseFunds');
    for (const account of [trader, other]) {
      owed += await freeMargin(account);
      for (const { margin } of await positionsOf(account)) owed += margin;
    }
    expect(owed).toBe(balance);
  };

  it('lists its products with their mark prices', async () => {
    const products = await trader.readContract({ ...perps(), functionName: 'products' });
    expect(await trader.readContract({ ...perps(), functionName: 'marginToken' })).toBe(chain.asset);
    expect(
      products.map(({ id, symbol, active, markPrice, increment }) => [id, symbol, active, markPrice, increment]),
    ).toEqual([
      [BTC, 'BTC-PERP', true, e18('60000'), e18('0.001')],
      [ETH, 'ETH-PERP', true, e18('3000'), e18('0.01')],
      [SEI, 'SEI-PERP', true, e18('0.5'), e18('1')],
      [ATOM, 'ATOM-PERP', false, e18('4'), e18('0.1')],
    ]);
  });

  it('locks margin at opening, and pays it back with the gain less fees at closing', async () => {
    await open(trader, BTC, 'long', '0.1', 10, e18('60000'));
    // 6,000 of worth: 600 of margin, and 5 basis points.
    expect(await freeMargin(trader)).toBe(usd('9397'));
    expect(await positionsOf(trader)).toEqual([
      {
        productId: BTC,
        isLong: true,
        quantity: e18('0.1'),
        entryPrice: e18('60000'),
        margin: usd('600'),
        unrealizedPnl: 0n,
        liquidationPrice: 55670103092783505154639n,
      },
    ]);
    await setPrice(chain, 'BTC', '66000');
    expect((await positionsOf(trader))[0]?.unrealizedPnl).toBe(usd('600'));
    await close(trader, BTC, '0.1', e18('66000'));
    expect(await positionsOf(trader)).toEqual([]);
    expect(await freeMargin(trader)).toBe(usd('10000') - usd('3') + usd('600') - usd('3.3'));
    expect(await read('openInterest')).toBe(0n);

    const free = await freeMargin(trader);
    await withdraw(trader, free);
    expect(await freeMargin(trader)).toBe(0n);
  });

  it('lets a short gain from a fall, part by part', async () => {
    await open(trader, SEI, 'short', '10000', 2, e18('0.5'));
    await setPrice(chain, 'SEI', '0.4');
    await close(trader, SEI, '4000', e18('0.4'));
    const [position] = await positionsOf(trader);
    expect(position).toMatchObject({ quantity: e18('6000'), margin: usd('1500'), unrealizedPnl: usd('600') });
    await close(trader, SEI, '6000', maxUint256);
    expect(await freeMargin(trader)).toBe(usd('11000') - usd('2.5') - usd('2'));
  });

  it('averages the entry of two openings on one side, and refuses the other side', async () => {
    await open(trader, ETH, 'long', '1', 2);
    await setPrice(chain, 'ETH', '4000');
    await open(trader, ETH, 'long', '1', 2);
    const [position] = await positionsOf(trader);
    expect(position).toMatchObject({ quantity: e18('2'), entryPrice: e18('3500'), margin: usd('3500') });
    await expect(open(trader, ETH, 'short', '1', 2)).rejects.toThrow('OppositePosition');
  });

  it('takes leverage from 1 to 20', async () => {
    await open(trader, SEI, 'long', '100', 20);
    await open(other, SEI, 'long', '100', 1);
    expect((await positionsOf(other))[0]?.liquidationPrice).toBe(0n);
    await expect(open(trader, BTC, 'long', '0.1', 21)).rejects.toThrow(/LeverageTooHigh[^]*\(21, 20\)/);
    await expect(open(trader, BTC, 'long', '0.1', 0)).rejects.toThrow('LeverageIsZero');
  });

  it('refuses quantities that are off the step, below the minimum, above the maximum, or zero', async () => {
    for (const quantity of ['0', '0.0005', '0.0015', '20.001']) {
      await expect(open(trader, BTC, 'long', quantity, 20)).rejects.toThrow('BadQuantity');
    }
    await open(trader, BTC, 'long', '0.002', 1);
    for (const quantity of ['0', '0.0005', '0.003']) {
      await expect(close(trader, BTC, quantity, 0n)).rejects.toThrow('BadQuantity');
    }
  });

  it('refuses a product that is inactive or unknown, and a position that is not there', async () => {
    await expect(open(trader, ATOM, 'long', '1', 1)).rejects.toThrow('ProductInactive');
    await expect(open(trader, 0, 'long', '1', 1)).rejects.toThrow('ProductInactive');
    await expect(open(trader, 5, 'long', '1', 1)).rejects.toThrow('ProductInactive');
    await expect(close(trader, BTC, '1', 0n)).rejects.toThrow('NoPosition');
    await expect(liquidate(other, trader.address, BTC)).rejects.toThrow('NoPosition');
  });

  it('trades at no worse a price than the limit, in both directions', async () => {
    await expect(open(trader, BTC, 'long', '0.1', 1, e18('59999'))).rejects.toThrow('PriceMoved');
    await expect(open(trader, BTC, 'short', '0.1', 1, e18('60001'))).rejects.toThrow('PriceMoved');
    await open(trader, BTC, 'long', '0.1', 1);
    await expect(close(trader, BTC, '0.1', e18('60001'))).rejects.toThrow('PriceMoved');
    await open(other, BTC, 'short', '0.1', 1);
    await expect(close(other, BTC, '0.1', e18('59999'))).rejects.toThrow('PriceMoved');
  });

  it('does not pay out margin that a position has locked', async () => {
    await open(trader, BTC, 'long', '1', 10);
    const free = await freeMargin(trader);
    expect(free).toBe(usd('10000') - usd('6000') - usd('30'));
    await expect(withdraw(trader, free + 1n)).rejects.toThrow('InsufficientMargin');
    await withdraw(trader, free);
    await expect(withdraw(trader, 1n)).rejects.toThrow('InsufficientMargin');
    await expect(open(trader, BTC, 'long', '0.001', 20)).rejects.toThrow('InsufficientMargin');
  });

  it('liquidates a position once its margin sinks to the maintenance weight, not before', async () => {
    await open(trader, BTC, 'long', '1', 20);
    const [position] = await positionsOf(trader);
    await setPrice(chain, 'BTC', '58763');
    expect(position!.liquidationPrice).toBeLessThan(e18('58763'));
    await expect(liquidate(other, trader.address, BTC)).rejects.toThrow('NotLiquidatable');

    await setPrice(chain, 'BTC', '58762');
    expect(position!.liquidationPrice).toBeGreaterThan(e18('58762'));
    const [free, reward] = [await freeMargin(trader), await freeMargin(other)];
    await liquidate(other, trader.address, BTC);
    // 3,000 of margin less 1,238 of loss; 1 % of 58,762 goes to the liquidator, the rest back.
    expect((await freeMargin(other)) - reward).toBe(usd('587.62'));
    expect((await freeMargin(trader)) - free).toBe(usd('1174.38'));
    expect(await positionsOf(trader)).toEqual([]);
    await expect(liquidate(other, trader.address, BTC)).rejects.toThrow('NoPosition');
  });

  it('liquidates a short on a rise', async () => {
    await open(trader, ETH, 'short', '10', 20);
    await expect(liquidate(other, trader.address, ETH)).rejects.toThrow('NotLiquidatable');
    await setPrice(chain, 'ETH', '3060');
    await liquidate(other, trader.address, ETH);
    expect(await positionsOf(trader)).toEqual([]);
  });

  it('takes no more than the margin when a price jumps past it', async () => {
    await open(trader, BTC, 'long', '1', 20);
    const free = await freeMargin(trader);
    await setPrice(chain, 'BTC', '30000');
    await liquidate(other, trader.address, BTC);
    expect(await freeMargin(trader)).toBe(free);
    expect(await freeMargin(other)).toBe(usd('10000'));
  });

  it('does not let a lost position be rescued by adding a sliver to it', async () => {
    await open(trader, BTC, 'long', '1', 20);
    await setPrice(chain, 'BTC', '58000');
    await expect(open(trader, BTC, 'long', '0.001', 20)).rejects.toThrow('InsufficientMargin');
  });

  it("gives no gain for opening and closing slivers: rounding and fees are the house's", async () => {
    await setPrice(chain, 'SEI', '0.123456789');
    const free = await freeMargin(trader);
    await open(trader, SEI, 'long', '7', 3);
    for (let part = 0; part < 7; part++) await close(trader, SEI, '1', 0n);
    expect(await freeMargin(trader)).toBeLessThan(free);
  });

  it('opens no more than the house can pay for, and pays gains from the house alone', async () => {
    await deposit(trader, '900000');
    await deposit(other, '900000');
    // Another trader's margin is never touched: the house's funds are the most that can be gained.
    await open(other, ETH, 'long', '100', 10);
    await open(trader, BTC, 'long', '20', 2);
    await setPrice(chain, 'BTC', '6000000');
    const [house, free] = [await read('houseFunds'), await freeMargin(trader)];
    await close(trader, BTC, '20', 0n);
    expect(await freeMargin(trader)).toBeLessThanOrEqual(free + usd('600000') + house);
    // Only the closing fee is left: nothing more can be opened.
    await expect(open(other, BTC, 'short', '0.001', 1)).rejects.toThrow('HouseFundsTooLow');
    await close(other, ETH, '100', 0n);
  });

  it('lets only its owner list products', async () => {
    const [product] = await trader.readContract({ ...perps(), functionName: 'products' });
    const adding = trader.writeContract({ ...perps(), functionName: 'addProduct', args: [product!] });
    await expect(adding).rejects.toThrow('OwnableUnauthorizedAccount');
  });
});
