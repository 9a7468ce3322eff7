import type { AgentJobInputs, AgentOperation } from '@tollgate/protocol';

import { AddLiquidityInput, RemoveLiquidityInput, SwapInput } from './exchange-inputs.dto.js';
import { listFields, type InputClass, type JsonSchema } from './field.js';
import { BorrowLendingInput, MintLendingInput, RedeemLendingInput, RepayLendingInput } from './lending-inputs.dto.js';
import { PaymentInput } from './payment-input.dto.js';
import {
  PerpsClosePositionInput,
  PerpsDepositInput,
  PerpsOpenPositionInput,
  PerpsWithdrawInput,
} from './perps-inputs.dto.js';
import { ClaimUnstakedInput, StakeInput, UnstakeInput } from './staking-inputs.dto.js';
import { ApproveInput, MintERC721Input, TransferERC721Input, TransferInput } from './token-inputs.dto.js';

/** The input class of each operation. */
export const INPUT_CLASSES: { readonly [Name in AgentOperation]: InputClass<AgentJobInputs[Name]> } = {
  transfer: TransferInput,
  approve: ApproveInput,
  transferERC721: TransferERC721Input,
  mintERC721: MintERC721Input,
  swap: SwapInput,
  addLiquidity: AddLiquidityInput,
  removeLiquidity: RemoveLiquidityInput,
  mintLending: MintLendingInput,
  redeemLending: RedeemLendingInput,
  borrowLending: BorrowLendingInput,
  repayLending: RepayLendingInput,
  stake: StakeInput,
  unstake: UnstakeInput,
  claimUnstaked: ClaimUnstakedInput,
  perpsDeposit: PerpsDepositInput,
  perpsWithdraw: PerpsWithdrawInput,
  perpsOpenPosition: PerpsOpenPositionInput,
  perpsClosePosition: PerpsClosePositionInput,
  payment: PaymentInput,
};

const SUMMARIES: Readonly<Record<AgentOperation, string>> = {
  transfer: 'Sends an amount of the native token, or of an ERC-20 token, to an address.',
  approve:
    'Approves a contract to take exactly this amount of an ERC-20 token. Other operations approve what they need.',
  transferERC721: 'Sends one token of an ERC-721 collection to an address.',
  mintERC721: 'Mints a token of an ERC-721 collection.',
  swap: 'Sells an amount of one token for another, for no less than the slippage tolerance allows.',
  addLiquidity: 'Opens a liquidity position over the full price range of a pool.',
  removeLiquidity: 'Removes a part of a liquidity position from its pool, with the fees it earned.',
  mintLending: 'Supplies a token to its lending market.',
  redeemLending: 'Withdraws a supplied token from its lending market.',
  borrowLending: "Borrows a token against the wallet's collateral.",
  repayLending: 'Repays a borrowed token.',
  stake: 'Stakes the native token for a receipt token.',
  unstake: 'Queues the receipt token for unstaking; claimUnstaked claims it once it has matured.',
  claimUnstaked: 'Claims everything that was unstaked and has matured.',
  perpsDeposit: 'Deposits margin on the perpetuals exchange.',
  perpsWithdraw: 'Withdraws free margin from the perpetuals exchange.',
  perpsOpenPosition: 'Opens a long or short position, or adds to an existing one of that side.',
  perpsClosePosition: 'Closes a position, or a part of it.',
  payment: 'Buys the answer to an HTTP GET that requires a payment (402 Payment Required).',
};

/** The inputs of every operation as JSON schemas, generated from the rules that the classes are validated with. */
export function describeInputs(): Record<AgentOperation, JsonSchema> {
  const described = Object.entries(INPUT_CLASSES).map(([operation, inputClass]) => [
    operation,
    describe(inputClass, SUMMARIES[operation as AgentOperation]),
  ]);
  return Object.fromEntries(described) as Record<AgentOperation, JsonSchema>;
}

function describe(inputClass: InputClass, description: string): JsonSchema {
  const fields = listFields(inputClass);
  const required = fields.filter(({ optional }) => !optional).map(({ name }) => name);
  return {
    title: inputClass.name,
    description,
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, rule, description }) => [name, { ...rule.schema, description }]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
