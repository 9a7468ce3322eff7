import { formatTokenAmount } from '@tollgate/protocol';

// The library's index would load Nest, which doubles the start.
import {
  describeGap,
  explainNoFill,
  fillGap,
  nameGap,
  type NonceGapView,
} from '../../../libs/agent-jobs/src/wallets/nonce-gap.js';
import { clean } from '../jobs/format-jobs.js';
import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findWallet, type WalletParts } from './wallet-commands.js';

export interface FillTerms {
  /** Refused if the wallet waits for another one. */
  nonce: number | undefined;
  /** Carries it out; otherwise only reports what would be done. */
  isMeant: boolean;
}

/** Fills the nonce that the wallet waits for and nothing uses, by a transfer of 0 to itself, which its worker sends. */
export async function fillWallet(
  { journal, directory }: WalletParts,
  name: string,
  terms: FillTerms,
): Promise<CommandResult> {
  const { lane } = await findWallet({ directory }, name);
  const gap = await describeGap(journal, await journal.readLane(lane));
  if (gap === null) {
    throw new CommandError(
      `${name} waits for no nonce, as far as its worker has seen. A gap counts after a minute and five blocks.`,
    );
  }
  if (terms.nonce !== undefined && terms.nonce !== gap.nonce) {
    throw new CommandError(`${name} waits for nonce ${gap.nonce}, not ${terms.nonce}.`);
  }
  if (!terms.isMeant) {
    const command = `tollgate wallets fill ${name} --nonce ${gap.nonce} --yes`;
    const text = [...describeFill(name, gap), `Nothing was changed. To do it, run: ${command}`].join('\n');
    return { text, json: { gap, jobId: null } };
  }
  const filled = await fillGap(journal, gap, { lane, wallet: name, keyId: 'console' });
  if (filled.outcome === 'refused') throw new CommandError(explainNoFill(filled.reason));
  const { outcome, jobId } = filled;
  const text = `Nonce ${gap.nonce} of ${name} is ${outcome === 'done' ? '' : 'already '}being filled by job ${jobId}: tollgate jobs show ${jobId}`;
  return { text, json: { gap, jobId } };
}

function describeFill(name: string, gap: NonceGapView): string[] {
  const { nonce, job } = gap;
  const what = `${name}: ${nameGap(gap)}. A fill sends 0 from the wallet to itself with nonce ${nonce}, for its gas alone.`;
  if (job === null) return [what, 'It cancels nothing that the journal knows.'];
  const value = job.valueWei === null ? '' : `, sending ${formatTokenAmount(BigInt(job.valueWei), 18)} coins`;
  const cancels = `It cancels step "${clean(job.step ?? 'unreadable')}"${value}, unless one of its transactions is mined first: ${job.transactions.join(', ') || 'none is signed'}.`;
  if (!job.isParked) return [what, cancels];
  return [what, cancels, `The journal still has the job's bytes: tollgate jobs resume ${job.id} sends them instead.`];
}
