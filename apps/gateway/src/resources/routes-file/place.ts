/** A place in the file: `['routes', 2, 'price']` is formatted as `routes[2].price`. */
export type Place = readonly (string | number)[];

export interface RouteProblem {
  readonly place: Place;
  readonly message: string;
}

export function formatPlace(place: Place): string {
  return place
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      return /^[\w-]+$/.test(step) ? `${index === 0 ? '' : '.'}${step}` : `[${JSON.stringify(step)}]`;
    })
    .join('');
}
