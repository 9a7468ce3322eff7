import type { SpendingPolicy } from '@tollgate/agent-kit';
import type { Hex } from '@tollgate/protocol';

/** A wallet as far as planning knows it: no key. */
export interface PlannedWallet {
  name: string;
  address: Hex;
  /** `operations` may name `payment` too. */
  policy: SpendingPolicy;
  /**
   * Above how much of a token a person has to agree: decimal amount by token (`0x0`, address or listed symbol). Once there
   * are amounts, a person has to agree to every token that none names, of ERC-721 too. Empty: nobody has to agree to anything.
   */
  approvalAbove: Readonly<Record<string, string>>;
}
