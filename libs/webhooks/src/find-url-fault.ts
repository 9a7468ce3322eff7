import { assertPublicTarget, TargetRefusedError, type TargetRules } from '@tollgate/http';

const URL_MAX = 2_048;

/** Why events cannot be posted to the URL, as a sentence for the registrant; null: they can. */
export async function findUrlFault(url: string, rules: TargetRules): Promise<string | null> {
  if (url.length > URL_MAX) return `The URL is longer than ${URL_MAX} characters.`;
  try {
    await assertPublicTarget(url, rules);
    return null;
  } catch (error) {
    if (error instanceof TargetRefusedError) return error.message;
    throw error;
  }
}
