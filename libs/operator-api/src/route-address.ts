import type { RouteName, SentToRoute } from './route-types.js';

/** The path and query of a request. It loads no schema: the console has it too. */
export function routeAddress<Name extends RouteName>(
  name: Name,
  { query = {}, body: _, ...params }: SentToRoute<Name>,
): string {
  const path = name
    .slice(name.indexOf('/'))
    .replace(/:(\w+)/g, (_, param: string) => encodeURIComponent(String(params[param as keyof typeof params])));
  const given = new URLSearchParams();
  for (const [field, value] of Object.entries(query as Readonly<Record<string, string | number | undefined>>))
    if (value !== undefined) given.set(field, String(value));
  return given.size === 0 ? path : `${path}?${given.toString()}`;
}
