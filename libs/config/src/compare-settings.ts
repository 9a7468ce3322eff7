import type { AcceptanceEnvironment } from './acceptance.environment.js';
import type { PaymentEnvironment } from './payment.environment.js';
import type { RedisEnvironment } from './redis.environment.js';
import type { SignedPaymentsEnvironment } from './signed-payments.environment.js';

export interface ComparedEnvironments {
  readonly payment: PaymentEnvironment;
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
 * The settings that can change a verdict, or what is recorded of it, as `NAME=value` lines: a verifier compares this text with its own by `===`
 * and can name what differs. It holds no secrets, and no value can contain a line break.
 */
export function describeSettings({ payment, acceptance, signedPayments, redis }: ComparedEnvironments): string {
  const asset = payment.signedAsset;
  // If an asset is listed twice the last entry counts; ASSET_ADDRESS always overrides its entry.
  const others = new Map(signedPayments.assets.map((one) => [one.asset, one]));
  others.delete(asset.asset);
  const settings = {
    PAYMENT_POLICY: payment.paymentPolicy,
    NETWORK: payment.network,
    CHAIN_ID: payment.chainId,
    ASSET_ADDRESS: asset.asset,
    ASSET_NAME: asset.name,
    ASSET_VERSION: asset.version,
    ASSET_DECIMALS: payment.assetDecimals,
    PAY_TO: payment.payTo.toLowerCase(),
    MAX_TIMEOUT_SECONDS: payment.maxTimeoutSeconds,
    CONFIRMATIONS: acceptance.confirmations,
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
