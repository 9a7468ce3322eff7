import { formatTokenAmount } from '@tollgate/protocol';
import {
  encodeFunctionData,
  getContract,
  parseAbi,
  type Address,
  type GetContractReturnType,
  type Hex,
  type PublicClient,
} from 'viem';

import { readNextBlockTime } from '../../chain/read-next-block-time.js';
import { showAmount } from '../../tokens/show-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { ProtocolAction, Step, StepFailures } from '../../types/plan.js';
import type { TokenAmount } from '../../types/token.js';
import type { ProtocolEnvironment, ProtocolPlugin, StakingPosition, StakingProtocol } from '../protocol.js';

const liquidStakingAbi = parseAbi([
  'struct Ticket { uint256 id; uint256 amountWei; uint256 claimableAt; }',
  'function minimumStake() view returns (uint256)',
  'function unbondingSeconds() view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
  'function convertToShares(uint256 amountWei) view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function ticketsOf(address owner) view returns (Ticket[] memory)',
  'function stake() payable returns (uint256 shares)',
  'function queueUnstake(uint256 shares) returns (uint256 ticketId)',
  'function claim() returns (uint256 amountWei)',
  'error BelowMinimum(uint256 amount, uint256 minimum)',
  'error NothingToClaim()',
  'error TransferRefused(address receiver)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
]);

export interface LiquidStakingOptions {
  /** The staking contract, which is also the receipt token. */
  contract: Address;
  chainIds: readonly number[];
}

const failures: StepFailures = {
  errors: liquidStakingAbi,
  codes: {
    BelowMinimum: 'BELOW_MINIMUM',
    NothingToClaim: 'PROTOCOL_FAILED',
    TransferRefused: 'PROTOCOL_FAILED',
    ERC20InsufficientBalance: 'INSUFFICIENT_BALANCE',
  },
};

// The latest time that a Date can represent.
const END_OF_TIME_MS = 8.64e15;

/**
 * Staking of the native token for a receipt token whose value grows. Unstaking is queued, and claimed when it has
 * matured.
 */
export function liquidStaking(options: LiquidStakingOptions): ProtocolPlugin<'staking'> {
  const { chainIds, contract } = options;
  return {
    kind: 'staking',
    name: 'Liquid staking',
    chainIds,
    probes: (['minimumStake', 'unbondingSeconds'] as const).map((getter) => ({
      contract: 'staking',
      address: contract,
      getter,
      returns: 'uint256',
    })),
    create: (environment) => new LiquidStaking(environment, contract),
  };
}

class LiquidStaking implements StakingProtocol {
  readonly #contract: GetContractReturnType<typeof liquidStakingAbi, PublicClient>;

  constructor(
    private readonly environment: ProtocolEnvironment,
    address: Address,
  ) {
    this.#contract = getContract({ address, abi: liquidStakingAbi, client: environment.client });
  }

  readStakedToken() {
    return this.environment.tokens.resolve(this.#contract.address);
  }

  readMinimumStakeWei(): Promise<bigint> {
    return this.#contract.read.minimumStake();
  }

  async quoteStake(amountWei: bigint): Promise<TokenAmount> {
    const [token, amountBaseUnits] = await Promise.all([
      this.readStakedToken(),
      this.#contract.read.convertToShares([amountWei]),
    ]);
    return { token, amountBaseUnits };
  }

  async quoteUnstake(shares: bigint): Promise<{ amountWei: bigint; unbondingSeconds: number }> {
    const { read } = this.#contract;
    const [amountWei, unbondingSeconds] = await Promise.all([read.convertToAssets([shares]), read.unbondingSeconds()]);
    return { amountWei, unbondingSeconds: Number(unbondingSeconds) };
  }

  async createStake(amountWei: bigint): Promise<ProtocolAction> {
    const { native } = this.environment.tokens;
    const minimum = { token: native, amountBaseUnits: await this.readMinimumStakeWei() };
    const amount = { token: native, amountBaseUnits: amountWei };
    if (amountWei < minimum.amountBaseUnits) {
      throw new AgentKitError(
        'BELOW_MINIMUM',
        `${showAmount(amount)} is below the minimum amount of ${showAmount(minimum)}.`,
        { details: { minimum: formatTokenAmount(minimum.amountBaseUnits, native.decimals) } },
      );
    }
    const data = encodeFunctionData({ abi: liquidStakingAbi, functionName: 'stake' });
    return { approvals: [], calls: [this.#createCall(`Stake ${showAmount(amount)}`, data, amountWei)] };
  }

  async createUnstake(shares: bigint): Promise<ProtocolAction> {
    const token = await this.readStakedToken();
    const data = encodeFunctionData({ abi: liquidStakingAbi, functionName: 'queueUnstake', args: [shares] });
    const label = `Queue ${showAmount({ token, amountBaseUnits: shares })} for unstaking`;
    return { approvals: [], calls: [this.#createCall(label, data)] };
  }

  async createClaim(account: Address): Promise<ProtocolAction & { amountWei: bigint }> {
    const { queued, claimableWei } = await this.readPosition(account);
    if (claimableWei === 0n) throw explainNothingToClaim(queued);
    const amount = { token: this.environment.tokens.native, amountBaseUnits: claimableWei };
    const data = encodeFunctionData({ abi: liquidStakingAbi, functionName: 'claim' });
    const calls = [this.#createCall(`Claim ${showAmount(amount)}`, data)];
    return { approvals: [], calls, amountWei: claimableWei };
  }

  async readPosition(account: Address): Promise<StakingPosition> {
    const { read } = this.#contract;
    const [token, shares, tickets, now] = await Promise.all([
      this.readStakedToken(),
      read.balanceOf([account]),
      read.ticketsOf([account]),
      readNextBlockTime(this.environment.client),
    ]);
    const worthWei = await read.convertToAssets([shares]);
    const nowMs = Number(now) * 1000;
    const queued = tickets.map(({ id, amountWei, claimableAt }) => ({
      ticketId: id.toString(),
      amountWei,
      claimableAtMs: Math.min(Number(claimableAt) * 1000, END_OF_TIME_MS),
    }));
    return {
      staked: { token, amountBaseUnits: shares },
      worthWei,
      queued,
      claimableWei: queued
        .filter(({ claimableAtMs }) => claimableAtMs <= nowMs)
        .reduce((total, { amountWei }) => total + amountWei, 0n),
    };
  }

  #createCall(label: string, data: Hex, value = 0n): Step {
    return { label, to: this.#contract.address, data, value, failures };
  }
}

function explainNothingToClaim(queued: StakingPosition['queued']): AgentKitError {
  if (queued.length === 0) {
    return new AgentKitError('PROTOCOL_FAILED', 'Nothing is queued for unstaking, so nothing can be claimed.', {
      suggestion: 'Unstake first.',
    });
  }
  const firstAt = new Date(Math.min(...queued.map(({ claimableAtMs }) => claimableAtMs))).toISOString();
  return new AgentKitError('PROTOCOL_FAILED', `Nothing can be claimed before ${firstAt}.`, {
    details: { claimableAt: firstAt },
    suggestion: `Claim at ${firstAt} or later.`,
  });
}
