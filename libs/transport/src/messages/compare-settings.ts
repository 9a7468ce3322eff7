import { z } from 'zod';

import { unavailable } from './claims.js';

/** A gateway that has had no verdict for a while asks any verifier whether their payment settings agree. */
export const COMPARE_SETTINGS = 'compare-settings.v1';

/** Every question that yields a verdict has this field too. */
export const compareSettingsRequest = z.object({
  /** The sender's, from `describeSettings`; parsed as empty where no gateway of ours has sent the question. */
  settings: z.string().max(16_384).catch(''),
});
export type ComparedQuestion<Question> = Question & z.output<typeof compareSettingsRequest>;

export const settingsComparison = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('agreed'),
    /**
     * Whether the EIP-712 domain in the settings is the token's, so that EIP-3009 authorizations can be paid; missing
     * until the chain has told.
     */
    takesAuthorizations: z.boolean().exactOptional(),
  }),
  unavailable,
]);
export type SettingsComparison = z.output<typeof settingsComparison>;

export type SettingsDiffer = z.output<typeof unavailable> & { reason: 'settings_differ' };

/**
 * The reasons of each answer about an option whose token has other decimals than the settings say, or has not told them
 * yet. It is no agreement on the settings: the option must not be offered.
 */
export const ASSET_DECIMALS_DIFFER = 'asset_decimals_differ';
export const ASSET_DECIMALS_UNKNOWN = 'asset_decimals_unknown';
export type OptionUnready = z.output<typeof unavailable> & {
  reason: typeof ASSET_DECIMALS_DIFFER | typeof ASSET_DECIMALS_UNKNOWN;
};

export function isOptionUnready(answer: { outcome: string }): answer is OptionUnready {
  return 'reason' in answer && (answer.reason === ASSET_DECIMALS_DIFFER || answer.reason === ASSET_DECIMALS_UNKNOWN);
}

/** True for the answer of a verifier whose payment settings differ from the asker's. */
export function isSettingsDiffer(answer: { outcome: string }): answer is SettingsDiffer {
  return 'reason' in answer && answer.reason === 'settings_differ';
}
