import type { Head } from '../chain/chain.js';
import type { LaneSettings } from './lane-settings.js';

/**
 * Notices a nonce below all steps in flight, or below the next one where nothing is in flight, that the chain has not seen
 * used: a reorganisation has removed the transaction of a job that had ended, whose bytes the journal no longer has, or the
 * job that has it waits for an operator.
 */
export class NonceGap {
  #seen: { nonce: number; sinceMs: number; sinceBlock: number } | null = null;
  /** The nonce that all later transactions wait for; null: none, or not for long enough. */
  nonce: number | null = null;

  /**
   * Null while there is no gap, or it may pass: a node may be behind.
   * @param lowest the lowest nonce in flight, or the next to give out
   */
  look(
    lowest: number,
    { minedNonce: nonce, number }: Pick<Head, 'minedNonce' | 'number'>,
    { nonceDoubtBlocks, nonceDoubtMs }: Pick<LaneSettings, 'nonceDoubtBlocks' | 'nonceDoubtMs'>,
  ): Error | null {
    const nowMs = performance.now();
    if (lowest <= nonce) this.#seen = null;
    else if (this.#seen?.nonce !== nonce) this.#seen = { nonce, sinceMs: nowMs, sinceBlock: number };
    this.nonce = null;
    if (this.#seen === null) return null;
    const { sinceMs, sinceBlock } = this.#seen;
    if (number - sinceBlock < nonceDoubtBlocks || nowMs - sinceMs < nonceDoubtMs) return null;
    this.nonce = nonce;
    return new Error(
      `No transaction of the journal in flight has nonce ${nonce}, and the chain has none mined: all from nonce ${lowest} on wait for it. See tollgate wallets list; resume the job that has it, or run tollgate wallets fill.`,
    );
  }
}
