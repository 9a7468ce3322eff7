import { numberToHex, parseAbi, parseEther, parseEventLogs, zeroHash, type Address, type Hex } from 'viem';

import { createTrader, type Trader } from '../../../test/harness/agents/trader.js';
import { startChain, type DevnetWithProtocols } from '../chain/chain.js';
import { callRpc } from '../processes/json-rpc.js';
import { passTime } from '../protocols/pass-time.js';
import { readContracts, type ContractName } from './contracts.js';

const stakingAbi = parseAbi([
  'struct Ticket { uint256 id; uint256 amountWei; uint256 claimableAt; }',
  'function minimumStake() view returns (uint256)',
  'function stake() payable returns (uint256 shares)',
  'function queueUnstake(uint256 shares) returns (uint256 ticketId)',
  'function claim() returns (uint256 amountWei)',
  'function unbondingSeconds() view returns (uint256)',
  'function ticketsOf(address owner) view returns (Ticket[] memory)',
  'function convertToShares(uint256 amountWei) view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
  'function totalPooled() view returns (uint256)',
  'function rewardReserve() view returns (uint256)',
  'function fundRewards() payable',
  'event Claimed(address indexed owner, uint256 amountWei)',
  'error BelowMinimum(uint256 amount, uint256 minimum)',
  'error NothingToClaim()',
  'error TransferRefused(address receiver)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
]);

const YEAR_SECONDS = 365 * 24 * 3600;

describe('liquid staking', () => {
  let chain: DevnetWithProtocols;
  let trader: Trader;
  let snapshot: unknown;

  beforeAll(async () => {
    chain = await startChain({ protocols: true });
    trader = createTrader(chain, 0);
  });

  beforeEach(async () => {
    snapshot = await callRpc(chain.rpcUrl, 'evm_snapshot');
  });

  afterEach(async () => {
    await callRpc(chain.rpcUrl, 'evm_revert', [snapshot]);
  });

  afterAll(async () => {
    await chain.stop();
  });

  const at = (address: Address) => ({ address, abi: stakingAbi }) as const;
  const staking = () => at(chain.contracts.staking);
  const sharesOf = (owner: Trader, address = chain.contracts.staking) =>
    owner.readContract({ ...at(address), functionName: 'balanceOf', args: [owner.address] });
  const stake = (owner: Trader, amount: string, address = chain.contracts.staking) =>
    owner.mined(owner.writeContract({ ...at(address), functionName: 'stake', value: parseEther(amount) }));
  const queue = (owner: Trader, shares: bigint, address = chain.contracts.staking) =>
    owner.mined(owner.writeContract({ ...at(address), functionName: 'queueUnstake', args: [shares] }));
  const claim = async (owner: Trader, address = chain.contracts.staking) => {
    const receipt = await owner.mined(owner.writeContract({ ...at(address), functionName: 'claim' }));
    return parseEventLogs({ abi: stakingAbi, eventName: 'Claimed', logs: receipt.logs })[0]?.args.amountWei;
  };
  const worthOf = (shares: bigint) =>
    trader.readContract({ ...staking(), functionName: 'convertToAssets', args: [shares] });
  const deploy = async (name: ContractName, args: unknown[]): Promise<Address> => {
    const { abi, bytecode } = (await readContracts())[name];
    const receipt = await trader.mined(trader.deployContract({ abi, bytecode, args }));
    return receipt.contractAddress as Hex;
  };

  it('stakes, unstakes after the waiting time, and pays the value that the shares had when they were queued', async () => {
    await stake(trader, '10');
    const shares = await sharesOf(trader);
    expect(shares).toBeGreaterThan(parseEther('9.99'));
    expect(shares).toBeLessThanOrEqual(parseEther('10'));

    await queue(trader, shares);
    expect(await sharesOf(trader)).toBe(0n);
    const [ticket] = await trader.readContract({ ...staking(), functionName: 'ticketsOf', args: [trader.address] });
    const { timestamp } = await trader.getBlock();
    expect(ticket!.claimableAt).toBe(timestamp + 10n);
    expect(ticket!.amountWei).toBeGreaterThanOrEqual(parseEther('10') - 2n);

    await passTime(chain, 10);
    expect(await claim(trader)).toBe(ticket!.amountWei);
    expect(await trader.readContract({ ...staking(), functionName: 'ticketsOf', args: [trader.address] })).toEqual([]);
  });

  it('refuses a stake below the minimum, and to unstake more shares than there are, or none', async () => {
    await expect(stake(trader, '0.099')).rejects.toThrow('BelowMinimum');
    await stake(trader, '0.1');
    const shares = await sharesOf(trader);
    await expect(queue(trader, shares + 1n)).rejects.toThrow('ERC20InsufficientBalance');
    await expect(queue(trader, 0n)).rejects.toThrow('BelowMinimum');
  });

  it('raises the value of shares by 8 % a year, from the reserve', async () => {
    const before = await worthOf(parseEther('1'));
    const reserve = await trader.readContract({ ...staking(), functionName: 'rewardReserve' });
    await passTime(chain, YEAR_SECONDS);
    const growth = (await worthOf(parseEther('1'))) - before;
    expect(growth).toBeGreaterThan(parseEther('0.0799'));
    expect(growth).toBeLessThan(parseEther('0.081'));
    await stake(trader, '1');
    expect(await trader.readContract({ ...staking(), functionName: 'rewardReserve' })).toBeLessThan(reserve);
  });

  it('never owes more than it has, even when the reserve is empty', async () => {
    const address = await deploy('LiquidStaking', [10n]);
    await trader.mined(
      trader.writeContract({ ...at(address), functionName: 'fundRewards', value: parseEther('0.01') }),
    );
    await stake(trader, '1', address);
    await passTime(chain, 10 * YEAR_SECONDS);
    await queue(trader, await sharesOf(trader, address), address);
    await passTime(chain, 10);
    const paid = await claim(trader, address);
    expect(paid).toBeGreaterThan(parseEther('1.0099'));
    expect(paid).toBeLessThanOrEqual(parseEther('1.01'));
  });

  it('claims nothing before its time, and nothing twice', async () => {
    await stake(trader, '2');
    const shares = await sharesOf(trader);
    await queue(trader, shares / 2n);
    await expect(claim(trader)).rejects.toThrow('NothingToClaim');
    await passTime(chain, 10);
    await queue(trader, shares / 2n);
    // The second ticket stays.
    expect(await claim(trader)).toBeLessThan(parseEther('1.001'));
    await expect(claim(trader)).rejects.toThrow('NothingToClaim');
    const left = await trader.readContract({ ...staking(), functionName: 'ticketsOf', args: [trader.address] });
    expect(left).toHaveLength(1);
    await passTime(chain, 10);
    expect(await claim(trader)).toBe(left[0]!.amountWei);
    await expect(claim(createTrader(chain, 1))).rejects.toThrow('NothingToClaim');
  });

  it('pays a staker that claims from within its payout only once', async () => {
    const attacker = await deploy('ReentrantStaker', [chain.contracts.staking]);
    const abi = parseAbi([
      'function enter() payable',
      'function attack()',
      'function attempts() view returns (uint256)',
    ]);
    const call = { address: attacker, abi } as const;
    await trader.mined(trader.writeContract({ ...call, functionName: 'enter', value: parseEther('5') }));
    await passTime(chain, 10);
    // Gas to spare: an estimate would be just too little for the second claim, and hide its effect.
    await trader.mined(trader.writeContract({ ...call, functionName: 'attack', gas: 5_000_000n }));
    expect(await trader.readContract({ ...call, functionName: 'attempts' })).toBe(1n);
    const balance = await trader.getBalance({ address: attacker });
    expect(balance).toBeGreaterThanOrEqual(parseEther('5') - 5n);
    expect(balance).toBeLessThan(parseEther('5.001'));
  });

  it('does not let the first staker inflate the share price and take from the second', async () => {
    const address = await deploy('LiquidStaking', [10n]);
    const victim = createTrader(chain, 1);
    // All but one share goes out again, then coins are forced in and given as rewards: the classical inflation.
    await stake(trader, '0.1', address);
    await queue(trader, (await sharesOf(trader, address)) - 1n, address);
    const balance = await trader.getBalance({ address });
    await callRpc(chain.rpcUrl, 'anvil_setBalance', [address, numberToHex(balance + parseEther('1000'))]);
    await trader.mined(
      trader.writeContract({ ...at(address), functionName: 'fundRewards', value: parseEther('1000') }),
    );
    await passTime(chain, 60);

    await stake(victim, '1', address);
    await queue(victim, await sharesOf(victim, address), address);
    await passTime(chain, 10);
    expect(await claim(victim, address)).toBeGreaterThanOrEqual(parseEther('1') - 10n);
  });

  it('rounds each stake and unstake in favour of the remaining stakers', async () => {
    const price = () => worthOf(parseEther('1000000'));
    let last = await price();
    for (const amount of ['0.1', '0.100000000000000001', '3.333333333333333333']) {
      await stake(trader, amount);
      await queue(trader, (await sharesOf(trader)) / 3n);
      const now = await price();
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
  });

  it('accepts no coins without a call', async () => {
    const hash = trader.sendTransaction({ to: chain.contracts.staking, value: 1n, data: zeroHash });
    await expect(trader.mined(hash)).rejects.toThrow('revert');
  });
});
