import type { Plan } from '../types/plan.js';
import type { Terminal } from './terminal.js';

export interface ConfirmOptions {
  yes: boolean;
  readOnly: boolean;
  /** Whether the turn of the plan was stopped meanwhile. */
  isStopped: () => boolean;
}

/**
 * Shows a plan, and asks whether to send it. Only a typed yes approves it; without a person at a terminal it is not
 * sent.
 */
export async function confirmPlan(plan: Plan, terminal: Terminal, options: ConfirmOptions): Promise<boolean> {
  if (options.isStopped()) return false;
  terminal.print(`\n${indent(plan.preview)}\n`);
  // The executor refuses, and reports the reason.
  if (options.readOnly) return true;
  if (options.yes) {
    terminal.print('Sent without asking (--yes).');
    return true;
  }
  if (!terminal.isInteractive) {
    terminal.print('Not sent: there is no terminal to confirm on. --yes sends without asking.');
    return false;
  }
  const answer = await terminal.ask('Send this? [y/N] ', { fresh: true });
  return answer !== null && /^y(es)?$/i.test(answer.trim()) && !options.isStopped();
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
