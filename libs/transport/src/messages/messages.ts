import { MessagePattern, RpcException } from '@nestjs/microservices';
import { MalformedMessageError, parseMessage } from '@tollgate/schemas';
import type { z } from 'zod';

import type { AskOptions } from '../request-reply/request-reply-client.js';
import { COMPARE_SETTINGS, compareSettingsRequest, settingsComparison } from './compare-settings.js';
import { PLAN_JOB, planJobReply, planJobRequest } from './plan-job.js';
import { PLAN_QUEUE, SETTLE_QUEUE, VERIFY_QUEUE } from './queues.js';
import { READ_MINED_NONCE, readMinedNonceReply, readMinedNonceRequest } from './read-mined-nonce.js';
import { SETTLE_SIGNED_PAYMENT, settlementResult, settleSignedPaymentRequest } from './settle-signed-payment.js';
import {
  contractSignatureVerdict,
  VERIFY_CONTRACT_SIGNATURE,
  verifyContractSignatureRequest,
} from './verify-contract-signature.js';
import { lockVerdict, VERIFY_LOCK, verifyLockRequest } from './verify-lock.js';
import { VERIFY_PAYMENT, verifyPaymentRequest, verifyPaymentVerdict } from './verify-payment.js';
import { signedPaymentVerdict, VERIFY_SIGNED_PAYMENT, verifySignedPaymentRequest } from './verify-signed-payment.js';

const { settings } = compareSettingsRequest.shape;

/** Every message between the processes, by its pattern: what is asked, and what is answered. */
const MESSAGES = {
  [VERIFY_PAYMENT]: { request: verifyPaymentRequest.extend({ settings }), answer: verifyPaymentVerdict },
  [VERIFY_SIGNED_PAYMENT]: { request: verifySignedPaymentRequest.extend({ settings }), answer: signedPaymentVerdict },
  [VERIFY_CONTRACT_SIGNATURE]: {
    request: verifyContractSignatureRequest.extend({ settings }),
    answer: contractSignatureVerdict,
  },
  [VERIFY_LOCK]: { request: verifyLockRequest.extend({ settings }), answer: lockVerdict },
  [COMPARE_SETTINGS]: { request: compareSettingsRequest, answer: settingsComparison },
  [SETTLE_SIGNED_PAYMENT]: { request: settleSignedPaymentRequest.extend({ settings }), answer: settlementResult },
  [PLAN_JOB]: { request: planJobRequest, answer: planJobReply },
  [READ_MINED_NONCE]: { request: readMinedNonceRequest, answer: readMinedNonceReply },
};

/** The messages of each queue. Its servers start only with exactly one handler for each. */
export const PATTERNS = {
  [VERIFY_QUEUE]: [
    ...[VERIFY_PAYMENT, VERIFY_SIGNED_PAYMENT, VERIFY_CONTRACT_SIGNATURE, VERIFY_LOCK, COMPARE_SETTINGS],
  ],
  [SETTLE_QUEUE]: [SETTLE_SIGNED_PAYMENT],
  [PLAN_QUEUE]: [PLAN_JOB, READ_MINED_NONCE],
} as const satisfies Record<string, readonly Pattern[]>;

export type Pattern = keyof typeof MESSAGES;
export type PatternOf<Queue extends keyof typeof PATTERNS> = (typeof PATTERNS)[Queue][number];
/** A question as its handler gets it. */
export type QuestionOf<Asked extends Pattern> = z.output<(typeof MESSAGES)[Asked]['request']>;
/** A question as it is asked: the settings are added where it is sent. */
export type AskedOf<Asked extends Pattern> = Omit<QuestionOf<Asked>, 'settings'>;
export type AnswerOf<Asked extends Pattern> = z.output<(typeof MESSAGES)[Asked]['answer']>;

/** Sends the messages of one queue; a `RequestReplyClient`, for instance. */
export interface MessageClient<Queue extends keyof typeof PATTERNS> {
  ask<Asked extends PatternOf<Queue>>(
    pattern: Asked,
    request: AskedOf<Asked>,
    options: AskOptions,
  ): Promise<AnswerOf<Asked>>;
}

type Handler<Asked extends Pattern> = (
  question: QuestionOf<Asked>,
  ...context: never[]
) => AnswerOf<Asked> | Promise<AnswerOf<Asked>>;

/**
 * Nest's `MessagePattern` for a handler that takes the question of that message, parsed by its schema, and returns its
 * answer. A malformed question is answered with what is wrong with it, and never reaches the handler.
 */
export function Answers<Asked extends Pattern>(pattern: Asked, transport?: symbol) {
  return <H extends Handler<Asked>>(target: object, name: string, method: TypedPropertyDescriptor<H>): void => {
    const handle = method.value as Handler<Asked>;
    const parseAndHandle = function (this: unknown, message: unknown, ...context: never[]) {
      try {
        return handle.call(this, parseQuestion(pattern, message), ...context);
      } catch (error) {
        if (error instanceof MalformedMessageError) throw new RpcException(error.message);
        throw error;
      }
    };
    method.value = parseAndHandle as H;
    (transport ? MessagePattern(pattern, transport) : MessagePattern(pattern))(target, name, method);
  };
}

/** Parses a question as it was received. @throws MalformedMessageError */
export function parseQuestion<Asked extends Pattern>(pattern: Asked, message: unknown): QuestionOf<Asked> {
  return parseMessage(MESSAGES[pattern].request, message) as QuestionOf<Asked>;
}

/** Parses the answer to a message. @throws MalformedMessageError */
export function parseAnswer<Asked extends Pattern>(pattern: Asked, answer: unknown): AnswerOf<Asked> {
  return parseMessage(MESSAGES[pattern].answer, answer) as AnswerOf<Asked>;
}
