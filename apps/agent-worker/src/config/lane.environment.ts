import { IsGwei, IsIntIn, parseGwei, Setting, type ChecksTogether } from '@tollgate/config';
import type { LaneSettings } from '@tollgate/journal';

/** The least time between two reads of the chain after a transaction is sent. */
const FIRST_LOOK_MS = 20;

/** A wallet that cannot pay for this much gas is empty: its jobs wait. Most swaps and payments need less. */
export const ORDINARY_GAS = 500_000n;

/** How the lane of each wallet is run. Lane settings that are not listed here have fixed values. */
export class LaneEnvironment implements ChecksTogether {
  @Setting({
    help: "Transactions of one wallet in flight; keep it within what the chain's nodes hold for an account.",
  })
  @IsIntIn(1, 10_000)
  readonly laneMaxInFlight: number = 64;

  @Setting({ help: 'Blocks a payment must have, its own included.' })
  @IsIntIn(1, 1_000)
  readonly confirmations: number = 1;

  @Setting({
    help: 'Milliseconds between two reads of the newest block, for each wallet.',
  })
  @IsIntIn(20, 60_000)
  readonly lanePollMs: number = 500;

  @Setting({ help: 'Milliseconds after which another worker takes over the wallet of a worker that died.' })
  @IsIntIn(500, 600_000)
  readonly laneLeaseMs: number = 10_000;

  @Setting({
    help: 'Milliseconds after which an unmined transaction is sent again unchanged.',
  })
  @IsIntIn(100, 3_600_000)
  readonly resendAfterMs: number = 10_000;

  @Setting({
    help: 'Milliseconds after which a transaction that blocks its wallet is signed again with higher fees.',
  })
  @IsIntIn(100, 3_600_000)
  readonly replaceAfterMs: number = 30_000;

  @Setting({
    help: 'Milliseconds after which a nonce that none of our transactions used counts as used by another program; and between two looks at the chain where Redis lost writes.',
  })
  @IsIntIn(100, 3_600_000)
  readonly strangerAfterMs: number = 60_000;

  @Setting({
    help: 'Seconds after which a job that is not approved ends; 0: never.',
  })
  @IsIntIn(0, 31_536_000)
  readonly approvalTimeoutSeconds: number = 86_400;

  @Setting({
    help: 'Unused nonces of a wallet that the worker fills by itself in an hour; 0: only an operator does.',
  })
  @IsIntIn(0, 100)
  readonly nonceFillsPerHour: number = 0;

  @Setting({ help: 'The highest fee per gas that a transaction offers, in gwei.' })
  @IsGwei()
  readonly maxFeeGwei: string = '500';

  @Setting({ help: 'The highest priority fee that a transaction offers, in gwei.' })
  @IsGwei()
  readonly maxPriorityFeeGwei: string = '50';

  @Setting({ help: 'The priority fee in gwei where the RPC server suggests none.' })
  @IsGwei()
  readonly defaultPriorityFeeGwei: string = '1';

  problemsTogether(): string[] {
    const { maxFeePerGas, maxPriorityFeePerGas } = this.#fees();
    if (maxFeePerGas === 0n) return ['MAX_FEE_GWEI must be more than 0: no transaction could be sent.'];
    return maxPriorityFeePerGas > maxFeePerGas ? ['MAX_PRIORITY_FEE_GWEI must not be above MAX_FEE_GWEI.'] : [];
  }

  /** @param stopWithinMs how long a lane waits for running work before it is released */
  laneSettings(stopWithinMs: number): Partial<LaneSettings> {
    return {
      ...this.#fees(),
      maxInFlight: this.laneMaxInFlight,
      confirmations: this.confirmations,
      pollMs: this.lanePollMs,
      firstLookMs: FIRST_LOOK_MS,
      ordinaryGas: ORDINARY_GAS,
      leaseMs: this.laneLeaseMs,
      resendAfterMs: this.resendAfterMs,
      replaceAfterMs: this.replaceAfterMs,
      nonceDoubtMs: this.strangerAfterMs,
      approvalTimeoutMs: this.approvalTimeoutSeconds * 1000,
      stopWithinMs,
    };
  }

  #fees(): Pick<LaneSettings, 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'defaultPriorityFeePerGas'> {
    return {
      maxFeePerGas: parseGwei(this.maxFeeGwei),
      maxPriorityFeePerGas: parseGwei(this.maxPriorityFeeGwei),
      defaultPriorityFeePerGas: parseGwei(this.defaultPriorityFeeGwei),
    };
  }
}
