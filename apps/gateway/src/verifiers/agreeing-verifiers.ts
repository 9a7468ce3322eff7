import { setTimeout as sleep } from 'node:timers/promises';

import { isSettingsDiffer, type AskOptions, type ComparedQuestion, type RequestReplyClient } from '@tollgate/common';

import type { Agreement } from './agreement.js';

export interface AgreeingVerifiersParts {
  readonly client: Pick<RequestReplyClient, 'ask'>;
  readonly agreement: Agreement;
  /** As `describeSettings` has those of this gateway. */
  readonly settings: string;
}

/** The verifiers of one queue. */
export type Verifiers = Pick<AgreeingVerifiers, 'ask'>;

/** Long enough that of two verifiers the one that agrees takes the question; the answer after that is 503 with `Retry-After`. */
const ASKED_AGAIN_FOR_MS = 3_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Asks under this gateway's settings. Verifiers that are set up for other payments take questions from the same queue,
 * while a setting is changed for instance: then it is asked again, until one that agrees has the question.
 */
export class AgreeingVerifiers {
  constructor(private readonly parts: AgreeingVerifiersParts) {}

  /** As `RequestReplyClient.ask`; the answer is `settings_differ` where no verifier agrees. */
  async ask<TAnswer extends object, TData extends object>(
    pattern: string,
    data: TData,
    options: AskOptions,
  ): Promise<TAnswer> {
    const { client, agreement, settings } = this.parts;
    const question: ComparedQuestion<TData> = { ...data, settings };
    const startedAtMs = performance.now();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const timeoutMs = startedAtMs + options.timeoutMs - performance.now();
      const answer = await client.ask<TAnswer, ComparedQuestion<TData>>(pattern, question, { ...options, timeoutMs });
      if (!isSettingsDiffer(answer)) {
        agreement.noteAgreed();
        return answer;
      }
      agreement.noteDiffering(answer.settings);
      const endsAtMs = startedAtMs + Math.min(options.timeoutMs, ASKED_AGAIN_FOR_MS);
      // Where none has agreed for long, none will now.
      if (!agreement.isFresh() || performance.now() + pauseMs > endsAtMs) return answer;
      // Verifiers take questions in turn: at an even pace it would often be the same one's.
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }
}
