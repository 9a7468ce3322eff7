/** Sent to any verifier over `VERIFY_QUEUE`, by a gateway that has had no verdict for a while. */
export const COMPARE_SETTINGS = 'compare-settings.v1';

/**
 * Every question that yields a verdict carries the settings of its sender, from `describeSettings`. A question without
 * them, from a gateway of an earlier release, counts as different.
 */
export type ComparedQuestion<TRequest extends object> = TRequest & { settings: string };

export interface SettingsDiffer {
  outcome: 'unavailable';
  reason: 'settings_differ';
  /** The settings of the verifier; missing from one of an earlier release. */
  settings?: string;
}

export type SettingsComparison = { outcome: 'agreed' } | SettingsDiffer;

/** True for the answer of a verifier whose payment settings differ from the asker's. */
export function isSettingsDiffer(answer: object): answer is SettingsDiffer {
  return 'reason' in answer && answer.reason === 'settings_differ';
}
