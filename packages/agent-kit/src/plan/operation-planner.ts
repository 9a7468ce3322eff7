import { findAccountMemory, readHeadTerms } from '@tollgate/client/internal';
import { highestPrice } from '@tollgate/protocol';
import { getAddress, isAddress, type Address, type PublicClient } from 'viem';

import { explainFailure, retryNetwork } from '../chain/explain-failure.js';
import { readFailure, type CalledStep, type MinedCall } from '../chain/read-outcome.js';
import {
  parseInput,
  type FurtherChains,
  type Operation,
  type OperationContext,
} from '../operations/define/operation.js';
import { assertOtherChain } from '../operations/further-chains.js';
import { readTokenAmounts, type TokenLimit } from '../policy/token-limits.js';
import { isOnChain } from '../registry/create-protocol-set.js';
import {
  listOperations,
  parseOptions,
  type AgentKitOptions,
  type ParsedOptions,
} from '../settings/agent-kit-options.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import { connect, createClient, type Connection } from './connection.js';
import {
  createPlan,
  makeDraft,
  type DraftingOperation,
  type PlannedOperation,
  type PlanningOptions,
} from './create-plan.js';
import { limitGas, type SettledStep } from './limit-gas.js';
import { planRevocation, type GrantedAllowance } from './settle-approvals.js';

const CHEAPEST_GAS = 21_000n;

/** The options of the further chains: those of the kit, without what belongs to its own chain. */
function listFurther({ payments = {}, ...options }: ParsedOptions): AgentKitOptions[] {
  const { registry, tokens, explorerUrl, otherRpcUrls, ...common } = options;
  const { chains = [], ...rules } = payments;
  return chains.map((chain) => ({ ...common, ...chain, payments: rules }));
}

/** Reads and plans operations for an account without its key; another component signs and sends the plans. */
export class OperationPlanner {
  readonly address: Address;
  readonly options: ParsedOptions;
  readonly client: PublicClient;
  #connection: Promise<Connection> | null = null;
  /** For payments on further chains; null for one of these. */
  readonly #elsewhere: readonly OperationPlanner[] | null;
  /** Those whose chain has answered, by its id. */
  readonly #reached = new Map<number, OperationPlanner>();

  /**
   * @param isElsewhere true for a further chain
   * @throws AgentKitError `INVALID_CONFIGURATION` with every problem of the options.
   */
  constructor(address: Address, options: AgentKitOptions = {}, isElsewhere = false) {
    if (!isAddress(address)) {
      throw new AgentKitError('INVALID_CONFIGURATION', 'An account must be 0x and 40 hexadecimal digits.');
    }
    this.address = getAddress(address);
    this.options = parseOptions(options);
    // What is read sees the transactions that this process has sent for the account.
    const sent = findAccountMemory(this.options.rpcUrl, this.address);
    this.client = createClient(this.options, () => sent.floor);
    this.#elsewhere = isElsewhere
      ? null
      : listFurther(this.options).map((further) => new OperationPlanner(address, further, true));
  }

  /** All operations: those of the catalog and of the plugins. */
  operations(): readonly Operation[] {
    return listOperations(this.options.plugins);
  }

  /** Executes a read operation. @throws AgentKitError */
  async read(name: string, input: unknown): Promise<unknown> {
    const operation = this.#find(name);
    if (!operation.readOnly)
      throw new AgentKitError('UNKNOWN_OPERATION', `${name} is a write operation: plan it or run it.`);
    const parsed = parseInput(operation, input);
    return this.tryTwice(({ context }) => {
      this.#assertOnChain(operation, context.chainId);
      return operation.read(parsed, context);
    });
  }

  /** Plans a write operation: parses, simulates, checks the policy, and adds a preview. @throws AgentKitError */
  async plan(name: string, input: unknown, options: PlanningOptions = {}): Promise<PlannedOperation> {
    const operation = this.#find(name);
    if (operation.readOnly)
      throw new AgentKitError('UNKNOWN_OPERATION', `${name} only reads: there is nothing to plan.`);
    return this.planDraft(operation, parseInput(operation, input), options);
  }

  /** Like `plan`, for a draft that the caller makes from inputs it has parsed. @throws AgentKitError */
  planDraft(
    operation: DraftingOperation,
    input: Record<string, unknown>,
    options: PlanningOptions = {},
  ): Promise<PlannedOperation> {
    return this.tryTwice(async (connection) => {
      this.#assertOnChain(operation, connection.context.chainId);
      const draft = await makeDraft(operation, input, connection.context, options);
      const { planner } = this.findChain(draft.payment?.chainId ?? connection.context.chainId);
      const drafted = { operation: operation.name, input, draft };
      return createPlan(drafted, await planner.connect(), this.options.policy, options);
    });
  }

  /** The planner of a chain: this one, unless a payment was planned there; and those of the others. */
  findChain(chainId: number): {
    planner: OperationPlanner;
    others: readonly { chainId: number; planner: OperationPlanner }[];
  } {
    const others = [...this.#reached].map(([id, planner]) => ({ chainId: id, planner }));
    const planner = this.#reached.get(chainId) ?? this;
    return { planner, others: others.filter((other) => other.planner !== planner) };
  }

  /** The steps of a plan with the gas limit of each; for later ones an estimate, if the node cannot simulate them. */
  limitGas(planned: Pick<PlannedOperation, 'steps' | 'gas' | 'blockGasLimit'>): Promise<readonly SettledStep[]> {
    return this.tryTwice(({ context }) => limitGas(context, planned));
  }

  /** The step that sets the rest of an allowance to 0; null if there is no rest, or the token refuses. */
  planRevocation(granted: GrantedAllowance): Promise<SettledStep | null> {
    return this.tryTwice(({ context }) => planRevocation(context, granted));
  }

  /**
   * False if the account could not pay for this much gas; by default that of the cheapest transaction.
   * @param balanceWei if omitted, it is read
   */
  canPayForGas(gas = CHEAPEST_GAS, balanceWei?: bigint): Promise<boolean> {
    return this.tryTwice(async () => {
      const reading = balanceWei ?? this.client.getBalance({ address: this.address });
      const [balance, { fees }] = await Promise.all([reading, readHeadTerms(this.client)]);
      return balance >= gas * highestPrice(fees);
    });
  }

  /** The failure of a mined transaction of the account, or null when it succeeded. */
  readFailure(step: CalledStep, mined: MinedCall): Promise<AgentKitError | null> {
    return readFailure({ client: this.client, account: this.address }, step, mined);
  }

  /** Converts decimal amounts by token to base units; `name` is the name of the setting. @throws AgentKitError */
  readAmounts(name: string, amounts: Readonly<Record<string, string>>): Promise<readonly TokenLimit[]> {
    return this.tryTwice(({ context }) => readTokenAmounts(name, amounts, context.tokens));
  }

  /** The context of operations. @throws AgentKitError `NETWORK_ERROR`; `INVALID_CONFIGURATION` for invalid limits. */
  async readContext(): Promise<OperationContext> {
    return (await this.tryTwice((connection) => Promise.resolve(connection))).context;
  }

  /** @throws AgentKitError if the RPC endpoint is on another chain than the plan. */
  async assertChain({ chainId }: Pick<Plan, 'chainId'>): Promise<void> {
    const present = await this.tryTwice(() => this.client.getChainId());
    if (present === chainId) return;
    throw new AgentKitError(
      'INVALID_CONFIGURATION',
      `The plan is for chain ${chainId}, and RPC_URL now leads to chain ${present}; nothing was sent.`,
      { details: { chainId, present } },
    );
  }

  /** Runs work that sends nothing, once more after a network error. @throws AgentKitError, for any error of the work */
  tryTwice<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return retryNetwork(async () => work(await this.connect()), this.options.networkRetryDelayMs);
  }

  /** Facts about the chain that are read once. */
  connect(): Promise<Connection> {
    const elsewhere = this.#elsewhere && (() => this.#connectElsewhere());
    this.#connection ??= connect(this.client, this.address, this.options, elsewhere).catch((error: unknown) => {
      this.#connection = null;
      throw error;
    });
    return this.#connection;
  }

  /** A chain that does not answer keeps no other from being paid on. */
  async #connectElsewhere(): Promise<FurtherChains> {
    const planners = this.#elsewhere ?? [];
    const [own, ...connected] = await Promise.allSettled([this, ...planners].map((planner) => planner.connect()));
    const contexts = own?.status === 'fulfilled' ? [own.value.context] : [];
    const problems: string[] = [];
    for (const [at, planner] of planners.entries()) {
      const result = connected[at];
      try {
        if (result?.status !== 'fulfilled') throw result?.reason;
        const { context } = result.value;
        assertOtherChain(context, contexts);
        this.#reached.set(context.chainId, planner);
        contexts.push(context);
      } catch (error) {
        const failure = explainFailure(error);
        if (failure.code === 'INVALID_CONFIGURATION') throw failure;
        problems.push(`A chain to pay on is left out: ${failure.message}`);
      }
    }
    return { contexts: contexts.slice(1), problems };
  }

  #find(name: string): Operation {
    const operation = this.operations().find((candidate) => candidate.name === name);
    if (operation) return operation;
    const names = this.operations().map((known) => known.name);
    throw new AgentKitError('UNKNOWN_OPERATION', `There is no such operation. The kit has ${names.join(', ')}.`);
  }

  #assertOnChain({ name }: Pick<Operation, 'name'>, chainId: number): void {
    const plugin = this.options.plugins.find(
      (candidate) => candidate.kind === 'operations' && candidate.operations.some((own) => own.name === name),
    );
    if (!plugin || isOnChain(plugin, chainId)) return;
    throw new AgentKitError('PROTOCOL_UNAVAILABLE', `${name} is not available on chain ${chainId}.`);
  }
}
