import { parseAbi } from 'viem';
import { formatAbiItem } from 'viem/utils';

import type { StepFailures } from './plan.js';

/** What a step's failures look like as JSON: the custom errors as text, `error PriceMoved(uint256 price)`. */
export type StoredFailures = Omit<StepFailures, 'errors'> & { errors?: readonly string[] };

/** For somebody who judges the step after a restart. */
export function storeFailures({ errors, ...others }: StepFailures): StoredFailures {
  const custom = errors?.filter((item) => item.type === 'error') ?? [];
  if (custom.length === 0) return others;
  return { ...others, errors: custom.map((error) => `error ${formatAbiItem(error, { includeName: true })}`) };
}

/** Reads back what `storeFailures` made. */
export function restoreFailures({ errors = [], ...others }: StoredFailures): StepFailures {
  return errors.length === 0 ? others : { ...others, errors: parseAbi(errors) };
}
