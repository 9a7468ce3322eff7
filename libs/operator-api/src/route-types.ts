import type { z } from 'zod';

import type { OPERATOR_ROUTES } from './routes.js';

type Routes = typeof OPERATOR_ROUTES;
export type RouteName = keyof Routes;

type Schema<Name extends RouteName, Part extends string> =
  Routes[Name] extends Readonly<Record<Part, infer Found extends z.ZodType>> ? Found : never;

/** The parameters of a path. */
type Params<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & Params<Rest>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : object;

/** What a handler gets of a request, checked and read. */
export type AskedOfRoute<Name extends RouteName> = Params<Name> & {
  query: z.output<Schema<Name, 'query'>>;
  body: z.output<Schema<Name, 'body'>>;
};

/** What a caller sends. */
export type SentToRoute<Name extends RouteName> = Params<Name> & {
  query?: { [Field in keyof z.input<Schema<Name, 'query'>>]?: string | number | undefined };
  body?: z.input<Schema<Name, 'body'>>;
};

/** Unknown for a route that answers no JSON. */
export type AnswerOfRoute<Name extends RouteName> =
  Routes[Name] extends Readonly<Record<'answer', infer Found extends z.ZodType>> ? z.output<Found> : unknown;
