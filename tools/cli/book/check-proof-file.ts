import { readFileSync } from 'node:fs';

import { InvalidArgumentError } from 'commander';

// The library's index would load the databases.
import { checkProof, type CheckedBooking, type TrustedFact } from '../../../libs/book/src/closing/payment-proof.js';
import { CommandError, type CommandResult } from '../shared/cli-command.js';

export interface ProofOptions {
  root?: string;
  key?: string;
}

/** @throws InvalidArgumentError without something to trust, CommandError for a file that proves nothing */
export async function checkProofFile(file: string, options: ProofOptions): Promise<CommandResult> {
  const trusted = parseTrusted(options);
  try {
    const proved = checkProof(JSON.parse(readFileSync(file, 'utf8')), trusted);
    return { json: proved, text: [`${proved.payment} is proved:`, ...proved.bookings.map(describe)].join('\n') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined) throw new CommandError(`${file} cannot be read (${code}).`);
    throw new CommandError(error instanceof SyntaxError ? `${file} is not JSON.` : (error as Error).message);
  }
}

function parseTrusted({ root, key }: ProofOptions): TrustedFact {
  if ((root === undefined) === (key === undefined)) {
    throw new InvalidArgumentError(
      'give either --root or --key: a file proves nothing by itself, since whoever made it could have made both',
    );
  }
  if (root !== undefined && /^(0x)?[0-9a-f]{64}$/i.test(root)) return { root };
  if (key !== undefined && /^0x[0-9a-f]{40}$/i.test(key)) return { key };
  throw new InvalidArgumentError('--root is 64 hexadecimal digits, --key an address');
}

function describe({ booking, kind, day, signer, facts, entries }: CheckedBooking): string {
  const { state, amount, transaction, answer } = facts;
  // Of a correction there are two: of the token that was booked before, and of the one that was paid.
  const token = entries.at(-1)?.asset ?? '';
  const [chain, address] = token.split(':');
  const lines = [
    `booking ${booking} (${kind}), closed on ${day} by ${signer}`,
    `  state ${String(state)}, ${String(amount)} base units, transaction ${String(transaction)}`,
    `  token ${address} on chain ${chain}`,
    ...(answer === null ? [] : [`  answer ${JSON.stringify(answer)}`]),
    ...entries.map((entry) => `  ${entry.account}  ${entry.asset}  ${entry.amount}`),
  ];
  return lines.join('\n');
}
