import { findRedisUrlProblems } from '@tollgate/redis';
import { ValidateBy, type ValidationArguments } from 'class-validator';

/** Validates the URL of a Redis; the message names every problem, and no part of the URL. */
export function IsRedisUrl(): PropertyDecorator {
  const message = ({ value }: ValidationArguments) => `$property ${problemsOf(value).join(', and ')}`;
  return ValidateBy(
    { name: 'isRedisUrl', validator: { validate: (value: unknown) => problemsOf(value).length === 0 } },
    { message },
  );
}

function problemsOf(value: unknown): string[] {
  return findRedisUrlProblems(String(value));
}
