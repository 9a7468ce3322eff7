import type { PipeTransform } from '@nestjs/common';
import { z } from 'zod';

import { refuseRequest } from './problem.js';

/** Long enough for a cursor, and for all states at once. */
const MAX_LENGTH = 300;
const MAX_SHOWN = 10;

/**
 * What a request says, as its schema reads it.
 * @throws ProblemError that names every field that is wrong
 */
export function checkRequest<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const problems = new Map<string, string>();
  for (const { path: [field] = [], message } of read.error.issues) {
    const name = typeof field === 'string' ? field : 'the request';
    if (!problems.has(name)) problems.set(name, `${name} ${message}`);
  }
  throw refuseRequest([...problems.values()]);
}

/** Checks queries and bodies with the schemas of their parameters. */
export const CHECK_REQUEST: PipeTransform<unknown, unknown> = {
  transform: (value, { schema }) => (schema === undefined ? value : checkRequest(schema as z.ZodType, value)),
};

/** An object with these fields, and no other. */
export function onlyFields<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return `must be an object with ${known}`;
      const shown = issue.keys.slice(0, MAX_SHOWN).map((name) => JSON.stringify(name.slice(0, 40)));
      return `must not have ${shown.join(', ')}: its fields are ${known}`;
    },
  });
}

/** A parameter of a query. */
export const textParameter = z
  .string('must be given only once')
  .max(MAX_LENGTH, `must have at most ${MAX_LENGTH} characters`);

/** A whole number in digits, without leading zeros. */
export function countParameter(least: number, most: number, fallback: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  const isWithin = (text: string): boolean =>
    /^(0|[1-9]\d{0,6})$/.test(text) && Number(text) >= least && Number(text) <= most;
  return z
    .string(message)
    .refine(isWithin, message)
    .transform(Number)
    .default(fallback)
    .meta({ type: 'integer', minimum: least, maximum: most });
}

/** The maximum number of items to return. */
export const limitParameter = countParameter(1, 200, 50);

/** One or more known words, such as `FINAL,REVERTED`. */
export function wordsParameter<Word extends string>(words: readonly Word[]) {
  const message = `must be one or more of ${words.join(', ')}, separated by commas`;
  return textParameter
    .refine((text) => text.split(',').every((one) => words.some((word) => word === one)), message)
    .transform((text) => words.filter((word) => text.split(',').includes(word)));
}
