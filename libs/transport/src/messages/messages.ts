import { MessagePattern } from '@nestjs/microservices';

import type { AskOptions } from '../request-reply/request-reply-client.js';
import {
  COMPARE_SETTINGS,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  VERIFY_CONTRACT_SIGNATURE,
  VERIFY_LOCK,
  VERIFY_PAYMENT,
  VERIFY_QUEUE,
  VERIFY_SIGNED_PAYMENT,
  type ContractSignatureVerdict,
  type LockVerdict,
  type SettingsComparison,
  type SettlementResult,
  type SettleSignedPaymentRequest,
  type SignedPaymentVerdict,
  type VerifyContractSignatureRequest,
  type VerifyLockRequest,
  type VerifyPaymentRequest,
  type VerifyPaymentVerdict,
  type VerifySignedPaymentRequest,
} from './verifier-questions.js';
import {
  PLAN_JOB,
  PLAN_QUEUE,
  READ_MINED_NONCE,
  type PlanJobReply,
  type PlanJobRequest,
  type ReadMinedNonceReply,
  type ReadMinedNonceRequest,
} from './worker-questions.js';

/** Every message between the processes, by its pattern. Gateways add their settings to those for verifiers. */
export interface Messages {
  [VERIFY_PAYMENT]: { request: VerifyPaymentRequest; answer: VerifyPaymentVerdict };
  [VERIFY_SIGNED_PAYMENT]: { request: VerifySignedPaymentRequest; answer: SignedPaymentVerdict };
  [VERIFY_CONTRACT_SIGNATURE]: { request: VerifyContractSignatureRequest; answer: ContractSignatureVerdict };
  [VERIFY_LOCK]: { request: VerifyLockRequest; answer: LockVerdict };
  [COMPARE_SETTINGS]: { request: object; answer: SettingsComparison };
  [SETTLE_SIGNED_PAYMENT]: { request: SettleSignedPaymentRequest; answer: SettlementResult };
  [PLAN_JOB]: { request: PlanJobRequest; answer: PlanJobReply };
  [READ_MINED_NONCE]: { request: ReadMinedNonceRequest; answer: ReadMinedNonceReply };
}

/** The messages of each queue. Its servers start only with exactly one handler for each. */
export const PATTERNS = {
  [VERIFY_QUEUE]: [
    ...[VERIFY_PAYMENT, VERIFY_SIGNED_PAYMENT, VERIFY_CONTRACT_SIGNATURE, VERIFY_LOCK, COMPARE_SETTINGS],
  ],
  [SETTLE_QUEUE]: [SETTLE_SIGNED_PAYMENT],
  [PLAN_QUEUE]: [PLAN_JOB, READ_MINED_NONCE],
} as const satisfies Record<string, readonly (keyof Messages)[]>;

export type PatternOf<Queue extends keyof typeof PATTERNS> = (typeof PATTERNS)[Queue][number];

/** Sends the messages of one queue; a `RequestReplyClient`, for instance. */
export interface MessageClient<Queue extends keyof typeof PATTERNS> {
  ask<Pattern extends PatternOf<Queue>>(
    pattern: Pattern,
    request: Messages[Pattern]['request'],
    options: AskOptions,
  ): Promise<Messages[Pattern]['answer']>;
}

type Handler<Pattern extends keyof Messages> = (
  message: unknown,
  ...context: never[]
) => Messages[Pattern]['answer'] | Promise<Messages[Pattern]['answer']>;

/** Nest's `MessagePattern` for a handler that parses the message, and returns the answer of that message. */
export function Answers<Pattern extends keyof Messages>(pattern: Pattern, transport?: symbol) {
  return <H extends Handler<Pattern>>(target: object, name: string, handler: TypedPropertyDescriptor<H>): void => {
    (transport ? MessagePattern(pattern, transport) : MessagePattern(pattern))(target, name, handler);
  };
}
