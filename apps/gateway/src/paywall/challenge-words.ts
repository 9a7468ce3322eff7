import type { PaymentEnvironment } from '@tollgate/common';
import { v1NetworkOf, type Hex } from '@tollgate/protocol';

import type { GatewayEnvironment } from '../gateway.config.js';
import { publicOriginOf } from './public-origin.js';

/** In which words the gateway asks to be paid. */
export interface ChallengeWords {
  readonly payment: PaymentEnvironment;
  /** What resources begin with in bodies for clients of version 1; null where bodies are as documented. */
  readonly v1ClientsUrl: string | null;
  /** Whether headers offer to settle signed payments. */
  readonly signedPayments: boolean;
  /** The account that settles what payers sign a maximum of; null while there is none. */
  readonly readRelayer: () => Hex | null;
}

export function challengeWordsOf(
  { challenge, payment, server }: GatewayEnvironment,
  readRelayer: () => Hex | null,
): ChallengeWords {
  const { challengeForm, signedPayments } = challenge;
  const isForV1Clients = challengeForm === 'v1-clients' && server.publicUrl !== undefined;
  const v1ClientsUrl = isForV1Clients ? publicOriginOf(server.publicUrl).url : null;
  return { payment, v1ClientsUrl, signedPayments, readRelayer };
}

/** What proofs may name: the network as it is configured, and as clients of version 1 were told to call it. */
export function proofNetworks({ challenge, payment }: GatewayEnvironment): string[] {
  const known = challenge.challengeForm === 'v1-clients' ? v1NetworkOf(payment.chainId) : null;
  return known === null || known === payment.network ? [payment.network] : [payment.network, known];
}
