/** Asked of any verifier, in `VERIFY_QUEUE`, by a gateway that no verdict has told for a while. */
export const COMPARE_SETTINGS = 'compare-settings.v1';

/**
 * Every question that yields a verdict carries what its asker is set up for, as `describeSettings` has it. A question
 * without it, of a gateway of an earlier release, counts as different.
 */
export type ComparedQuestion<TRequest extends object> = TRequest & { settings: string };

export interface SettingsDiffer {
  outcome: 'unavailable';
  reason: 'settings_differ';
  /** Those of the verifier; one of an earlier release does not say. */
  settings?: string;
}

export type SettingsComparison = { outcome: 'agreed' } | SettingsDiffer;

/** True for the answer of a verifier that is set up for other payments than its asker. */
export function isSettingsDiffer(answer: object): answer is SettingsDiffer {
  return 'reason' in answer && answer.reason === 'settings_differ';
}
