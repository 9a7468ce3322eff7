import { lowerHex } from '@tollgate/protocol';

import type { AcceptanceEnvironment } from './acceptance.environment.js';
import type { PaymentEnvironment } from './payment.environment.js';
import type { PaymentOption } from './payments/payments.js';
import type { RedisEnvironment } from './redis.environment.js';
import type { SignedPaymentsEnvironment } from './signed-payments.environment.js';

export interface ComparedEnvironments {
  readonly payment: Pick<PaymentEnvironment, 'paymentPolicy' | 'maxTimeoutSeconds'>;
  readonly acceptance: AcceptanceEnvironment;
  readonly signedPayments: SignedPaymentsEnvironment;
  readonly redis: Pick<RedisEnvironment, 'book' | 'durability'>;
}

export interface SettingDifference {
  readonly setting: string;
  /** Null when that side does not send the setting. */
  readonly gateway: string | null;
  readonly verifier: string | null;
}

/**
 * The settings that can change a verdict on payments of one option, or what is recorded of it, as `NAME=value` lines: a verifier compares this
 * text with its own by `===` and can name what differs. It holds no secrets, and no value can contain a line break.
 */
export function describeSettings(
  { payment, acceptance, signedPayments, redis }: ComparedEnvironments,
  option: PaymentOption,
): string {
  const asset = lowerHex(option.asset);
  // If an asset is listed twice the last entry counts; the option's own always overrides its entry.
  const others = new Map(signedPayments.assets.map((one) => [one.asset, one]));
  others.delete(asset);
  const settings = {
    PAYMENT_POLICY: payment.paymentPolicy,
    NETWORK: option.chain.network,
    CHAIN_ID: option.chain.id,
    ASSET_ADDRESS: asset,
    ASSET_NAME: option.domainName,
    ASSET_VERSION: option.domainVersion,
    ASSET_DECIMALS: option.decimals,
    PAY_TO: lowerHex(option.payTo),
    MAX_TIMEOUT_SECONDS: payment.maxTimeoutSeconds,
    CONFIRMATIONS: option.chain.confirmations,
    REDEMPTION_WINDOW_SECONDS: acceptance.redemptionWindowSeconds,
    BOUND_REDEMPTION_WINDOW_SECONDS: acceptance.boundRedemptionWindowSeconds,
    FACILITATOR_ASSETS: sorted([...others.values()].map((one) => [one.asset, one.name, one.version].join(':'))),
    EIP6492_FACTORIES: sorted([...signedPayments.factories]),
    BOOK: redis.book,
    // A failover could lose a commit that no replica has acknowledged, while the claim before it says that nothing is lost.
    LEDGER_DURABILITY: redis.durability ? `replica:${redis.durability.replicas}` : 'local',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** The differences between the settings of a verifier and those a gateway sent; empty when they agree. */
export function findDifferences(texts: { gateway: string; verifier: string }): SettingDifference[] {
  const [gateway, verifier] = [parseLines(texts.gateway), parseLines(texts.verifier)];
  return [...new Set([...verifier.keys(), ...gateway.keys()])]
    .map((setting) => ({
      setting,
      gateway: gateway.get(setting) ?? null,
      verifier: verifier.get(setting) ?? null,
    }))
    .filter((one) => one.gateway !== one.verifier);
}

function parseLines(text: string): Map<string, string> {
  const lines = text.split('\n').map((line) => line.split(/=(.*)/, 2));
  return new Map(lines.flatMap(([name, value]) => (name && value !== undefined ? [[name, value]] : [])));
}

function sorted(entries: string[]): string {
  return entries.sort().join(',');
}
