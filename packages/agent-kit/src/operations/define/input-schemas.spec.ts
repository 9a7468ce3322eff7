import { toJsonSchema } from '@langchain/core/utils/json_schema';
import { z } from 'zod';

import * as schemas from './input-schemas.js';

const names = Object.keys(schemas).filter((name) => name.endsWith('Schema')) as Exclude<
  keyof typeof schemas,
  'absentOr'
>[];

describe('input schemas', () => {
  it.each(names)('%s has a schema for models, the same in every framework', (name) => {
    const shown = z.toJSONSchema(schemas[name], { io: 'input' });
    expect(shown.type ?? shown.anyOf).toBeDefined();
    expect(shown.description).toEqual(expect.any(String));
    const { properties } = toJsonSchema(z.object({ field: schemas[name] })) as { properties: { field: object } };
    expect({ $schema: shown.$schema, ...properties.field }).toEqual(shown);
  });

  it.each([
    [3, 3],
    ['3', 3],
    ['007', 7],
    [undefined, undefined],
    [null, undefined],
  ])('accepts the number %j', (given, taken) => {
    expect(schemas.leverageSchema.parse(given)).toBe(taken);
  });

  it.each(['', ' 3', '3.0', '1e3', '0x10', '9'.repeat(10), 1.5, -1, NaN, true, [], {}])(
    'does not guess a number from %j',
    (given) => {
      expect(schemas.slippageSchema.safeParse(given).success).toBe(false);
    },
  );

  it.each(['1.5', 'x', '', '9'.repeat(79), (2n ** 256n).toString()])('refuses %j as a token id', (given) => {
    expect(schemas.tokenIdSchema.safeParse(given).success).toBe(false);
  });

  it.each([101, '101', 0, '0'])('keeps the bounds for %j', (given) => {
    expect(schemas.percentSchema.safeParse(given).success).toBe(false);
  });
});
