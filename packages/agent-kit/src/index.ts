export { AGENT_KIT_ERRORS, AgentKitError, type AgentKitErrorCode } from './types/agent-kit-error.js';
export {
  defineRead,
  defineWrite,
  type Operation,
  type OperationContext,
  type OperationPlugin,
  type Plugin,
  type ReadOperation,
  type WriteOperation,
} from './operations/define/operation.js';
export type { Approval, Fee, PaymentTerms, Plan, PlanDraft, ProtocolAction, Step, StepFailures } from './types/plan.js';
export { compoundV2, type CompoundV2Options } from './protocols/lending/compound-v2.js';
export { uniswapV3Liquidity } from './protocols/liquidity/uniswap-v3.js';
export type { UniswapV3LiquidityOptions } from './protocols/liquidity/position-manager.js';
export { perpsExchange, type PerpsExchangeOptions } from './protocols/perps/perps-exchange.js';
export type * from './protocols/protocol.js';
export { CHAIN_8453 } from './registry/base.js';
export { CHAIN_1328, CHAIN_1329 } from './registry/sei.js';
export { liquidStaking, type LiquidStakingOptions } from './protocols/staking/liquid-staking.js';
export { uniswapV3Swap, type UniswapV3SwapOptions } from './protocols/swap/uniswap-v3.js';
export { zeroExSwap, type ZeroExSwapOptions } from './protocols/swap/zero-ex.js';
export type { ChainRegistry } from './registry/registry.js';
export type { TokenResolver } from './tokens/resolve-token.js';
export { NATIVE_TOKEN, type ListedToken, type Token, type TokenAmount } from './types/token.js';
export { cleanUntrusted, quoteUntrusted } from './types/untrusted-text.js';
export { VERSION } from './version.js';
export { AgentKit } from './agent-kit.js';
export type { InputOf, OutputOf } from './agent-kit-core.js';
export type { AgentKitOptions } from './settings/agent-kit-options.js';
export { MODEL_PROVIDERS, parseModelProvider, type ModelProvider } from './model-provider.js';
export type { SpendingPolicy } from './policy/policy.js';
export type { Receipt, ToolResult } from './types/tool-result.js';
export type { EventHandler, EventName, SentTransaction, TransactionEvents } from './types/transaction-events.js';
