import { Setting, type ChecksTogether } from '@tollgate/common';
import { parseTokenAmount } from '@tollgate/protocol';
import type { LaneSettings } from '@tollgate/transactions';
import { IsInt, Matches, Max, Min } from 'class-validator';

const GWEI_DECIMALS = 9;
const GWEI = /^\d{1,9}(\.\d{1,9})?$/;
const gweiMessage = '$property must be a decimal number of gwei with at most 9 digits behind the point';

/** How the lane of each wallet works; what is not here is not worth an operator's choice. */
export class LaneEnvironment implements ChecksTogether {
  @Setting({
    help: "Transactions of one wallet that may be under way at once; what the chain's nodes keep of one account.",
  })
  @IsInt()
  @Min(1)
  @Max(10_000)
  readonly laneMaxInFlight: number = 64;

  @Setting({ help: 'Blocks a payment must have, its own included; 1 accepts what is in the newest block.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly confirmations: number = 1;

  @Setting({ help: "Milliseconds between two looks at the chain's newest block, for each wallet." })
  @IsInt()
  @Min(20)
  @Max(60_000)
  readonly lanePollMs: number = 500;

  @Setting({ help: 'Milliseconds after which the wallet of a worker that died is taken over by another.' })
  @IsInt()
  @Min(500)
  @Max(600_000)
  readonly laneLeaseMs: number = 10_000;

  @Setting({ help: 'Milliseconds after which a transaction that is not mined is sent again as it is: pools forget.' })
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly resendAfterMs: number = 10_000;

  @Setting({
    help: 'Milliseconds after which a transaction that holds up its wallet is signed again with higher fees.',
  })
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly replaceAfterMs: number = 30_000;

  @Setting({
    help: 'Milliseconds after which a nonce that none of our transactions has used counts as used by a stranger.',
  })
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly strangerAfterMs: number = 60_000;

  @Setting({
    help: 'Seconds after which a job ends that waits for a person to agree to it; 0: it waits for ever.',
  })
  @IsInt()
  @Min(0)
  @Max(31_536_000)
  readonly approvalTimeoutSeconds: number = 86_400;

  @Setting({ help: 'The most that a transaction offers for its gas, in gwei; a replacement too.' })
  @Matches(GWEI, { message: gweiMessage })
  readonly maxFeeGwei: string = '500';

  @Setting({ help: 'The most that a transaction offers as tip for its gas, in gwei; a replacement too.' })
  @Matches(GWEI, { message: gweiMessage })
  readonly maxPriorityFeeGwei: string = '50';

  @Setting({ help: 'The tip in gwei where the RPC server suggests none.' })
  @Matches(GWEI, { message: gweiMessage })
  readonly defaultPriorityFeeGwei: string = '1';

  problemsTogether(): string[] {
    const { maxFeePerGas, maxPriorityFeePerGas } = this.fees();
    if (maxFeePerGas === 0n) return ['MAX_FEE_GWEI must be more than 0: no transaction could be sent.'];
    return maxPriorityFeePerGas > maxFeePerGas ? ['MAX_PRIORITY_FEE_GWEI must not be above MAX_FEE_GWEI.'] : [];
  }

  /** @param stopWithinMs how long a lane that is given back waits for what it has begun */
  laneSettings(stopWithinMs: number): Partial<LaneSettings> {
    return {
      ...this.fees(),
      maxInFlight: this.laneMaxInFlight,
      confirmations: this.confirmations,
      pollMs: this.lanePollMs,
      leaseMs: this.laneLeaseMs,
      resendAfterMs: this.resendAfterMs,
      replaceAfterMs: this.replaceAfterMs,
      strangerMs: this.strangerAfterMs,
      approvalTimeoutMs: this.approvalTimeoutSeconds * 1000,
      stopWithinMs,
    };
  }

  private fees(): Pick<LaneSettings, 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'defaultPriorityFeePerGas'> {
    return {
      maxFeePerGas: parseTokenAmount(this.maxFeeGwei, GWEI_DECIMALS),
      maxPriorityFeePerGas: parseTokenAmount(this.maxPriorityFeeGwei, GWEI_DECIMALS),
      defaultPriorityFeePerGas: parseTokenAmount(this.defaultPriorityFeeGwei, GWEI_DECIMALS),
    };
  }
}
