import { IsGwei, IsIntIn, parseGwei, Setting, type ChecksEntries, type ChecksTogether } from '@tollgate/config';
import { readKeySigner, type LaneSettings, type LaneSigner } from '@tollgate/journal';
import { ArrayNotEmpty, IsArray, IsOptional, Matches } from 'class-validator';

/** The minimum time between two looks at the chain after a transaction is sent. */
const FIRST_LOOK_MS = 5;
/** Jobs submitted by a process that has died, or for another process's relayer, wait at most this long. */
const RECONCILE_MS = 2_000;

/** How signed payments are settled; without a relayer key, this process only verifies. */
export class SettlementEnvironment implements ChecksEntries, ChecksTogether {
  @Setting({
    secret: true,
    as: 'list',
    help: 'Private keys of the accounts that settle signed payments and pay the gas, comma separated, in hexadecimal. Use them for nothing else. Without one, this process settles nothing.',
  })
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  readonly relayerPrivateKeys?: string[];

  @Setting({
    help: 'Multicall3, which settles several payments in one transaction; where it has no code, each gets its own.',
  })
  @Matches(/^0x[0-9a-f]{40}$/i, { message: '$property must be 0x and 40 hexadecimal digits' })
  readonly multicall3Address: `0x${string}` = '0xcA11bde05977b3631167028862bE2a173976CA11';

  @Setting({
    help: "The most payments settled in one transaction, within half of a block's gas.",
  })
  @IsIntIn(1, 200)
  readonly settleBatchSize: number = 50;

  @Setting({
    help: 'Milliseconds that a payment waits to share a transaction, while others are in flight.',
  })
  @IsIntIn(0, 1_000)
  readonly settleBatchWaitMs: number = 2;

  @Setting({ help: 'The most gas that settling one payment may take.' })
  @IsIntIn(30_000, 10_000_000)
  readonly settleGasCap: number = 300_000;

  @Setting({
    help: 'Milliseconds after which an unmined settlement is answered as pending; it goes on.',
  })
  @IsIntIn(100, 120_000)
  readonly settleWaitMs: number = 10_000;

  @Setting({ help: 'Seconds that an authorization must still be valid for to be sent.' })
  @IsIntIn(0, 3_600)
  readonly settleLeastValiditySeconds: number = 6;

  @Setting({ help: 'Milliseconds between two looks at the chain while transactions wait for a block.' })
  @IsIntIn(20, 60_000)
  readonly relayerPollMs: number = 500;

  @Setting({ help: 'Milliseconds after which another verifier takes over the relayer of a verifier that died.' })
  @IsIntIn(500, 600_000)
  readonly relayerLeaseMs: number = 3_000;

  @Setting({
    help: "Transactions of one relayer in flight; keep it within what the chain's nodes hold for an account.",
  })
  @IsIntIn(1, 10_000)
  readonly relayerMaxInFlight: number = 64;

  @Setting({
    help: 'Milliseconds after which an unmined settlement is sent again unchanged.',
  })
  @IsIntIn(100, 3_600_000)
  readonly relayerResendAfterMs: number = 5_000;

  @Setting({
    help: 'Milliseconds after which a settlement is signed again with higher fees.',
  })
  @IsIntIn(100, 3_600_000)
  readonly relayerReplaceAfterMs: number = 15_000;

  @Setting({ help: 'The most that a settlement offers for gas, in gwei.' })
  @IsGwei()
  readonly relayerMaxFeeGwei: string = '500';

  @Setting({ help: 'The most that a settlement offers as priority fee, in gwei.' })
  @IsGwei()
  readonly relayerMaxPriorityFeeGwei: string = '50';

  #signers: LaneSigner[] = [];

  /** The relayers; empty when this process only verifies. The keys stay inside the signers' closures. */
  get signers(): readonly LaneSigner[] {
    return this.#signers;
  }

  problemsOfEntries(): string[] {
    const problems: string[] = [];
    this.#signers = readSigners(this.relayerPrivateKeys ?? [], problems);
    return problems;
  }

  problemsTogether(): string[] {
    const { maxFeePerGas, maxPriorityFeePerGas } = this.fees();
    if (maxFeePerGas === 0n) return ['RELAYER_MAX_FEE_GWEI must be more than 0, or nothing can be settled.'];
    return maxPriorityFeePerGas > maxFeePerGas
      ? ['RELAYER_MAX_PRIORITY_FEE_GWEI must not be above RELAYER_MAX_FEE_GWEI.']
      : [];
  }

  /** @param stopWithinMs how long a lane that is released waits for the jobs it has begun */
  laneSettings(confirmations: number, stopWithinMs: number): Partial<LaneSettings> {
    return {
      ...this.fees(),
      confirmations,
      stopWithinMs,
      pollMs: this.relayerPollMs,
      firstLookMs: FIRST_LOOK_MS,
      reconcileMs: RECONCILE_MS,
      leaseMs: this.relayerLeaseMs,
      maxInFlight: this.relayerMaxInFlight,
      jobsAtOnce: this.relayerMaxInFlight,
      resendAfterMs: this.relayerResendAfterMs,
      replaceAfterMs: this.relayerReplaceAfterMs,
      names: {
        maxInFlight: 'RELAYER_MAX_IN_FLIGHT',
        maxFeePerGas: 'RELAYER_MAX_FEE_GWEI',
        maxPriorityFeePerGas: 'RELAYER_MAX_PRIORITY_FEE_GWEI',
      },
    };
  }

  fees(): Pick<LaneSettings, 'maxFeePerGas' | 'maxPriorityFeePerGas'> {
    return {
      maxFeePerGas: parseGwei(this.relayerMaxFeeGwei),
      maxPriorityFeePerGas: parseGwei(this.relayerMaxPriorityFeeGwei),
    };
  }
}

/** Rejects two entries for one account: they would be two lanes with one nonce counter. */
function readSigners(keys: readonly string[], problems: string[]): LaneSigner[] {
  const signers = keys.map(readKeySigner);
  signers.forEach((signer, index) => {
    const place = `RELAYER_PRIVATE_KEYS: entry ${index + 1}`;
    if (!signer)
      problems.push(`${place} is not a private key: expected 32 bytes in hexadecimal (the value is not shown).`);
    const same = signers.findIndex((other) => other !== null && other.address === signer?.address);
    if (signer && same < index) problems.push(`${place} is the same account as entry ${same + 1}.`);
  });
  return signers.filter((signer) => signer !== null);
}
