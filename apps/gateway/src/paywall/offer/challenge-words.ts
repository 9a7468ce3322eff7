import type { PaymentEnvironment } from '@tollgate/common';
import { v1NetworkOf, type Hex } from '@tollgate/protocol';

import type { GatewayEnvironment } from '../../config/gateway.config.js';
import { publicOriginOf } from './public-origin.js';

/** The settings that decide the form of the gateway's challenges. */
export interface ChallengeWords {
  readonly payment: PaymentEnvironment;
  /**
   * The URL that precedes the resource's path in bodies for x402 v1 clients; null where bodies have the documented
   * form.
   */
  readonly v1ClientsUrl: string | null;
  /** Whether response headers offer to settle signed payments. */
  readonly signedPayments: boolean;
  /** The relayer account that settles `upto` payments; null while there is none. */
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

/** The networks that payments may name: the configured one, and the name of it that x402 v1 clients use. */
export function proofNetworks({ challenge, payment }: GatewayEnvironment): string[] {
  const known = challenge.challengeForm === 'v1-clients' ? v1NetworkOf(payment.chainId) : null;
  return known === null || known === payment.network ? [payment.network] : [payment.network, known];
}
