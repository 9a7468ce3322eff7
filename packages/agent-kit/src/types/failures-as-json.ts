import { parseAbi } from 'viem';
import { formatAbiItem } from 'viem/utils';

import type { StepFailures } from './plan.js';

/** A step's failures as JSON, with the custom errors as text: `error PriceMoved(uint256 price)`. */
export type StoredFailures = Omit<StepFailures, 'errors'> & { errors?: readonly string[] };

/** Serialises failures, so that the step can be judged after a restart. */
export function storeFailures({ errors, ...others }: StepFailures): StoredFailures {
  const custom = errors?.filter((item) => item.type === 'error') ?? [];
  if (custom.length === 0) return others;
  return { ...others, errors: custom.map((error) => `error ${formatAbiItem(error, { includeName: true })}`) };
}

/** Parses the output of `storeFailures`. */
export function restoreFailures({ errors = [], ...others }: StoredFailures): StepFailures {
  return errors.length === 0 ? others : { ...others, errors: parseAbi(errors) };
}
