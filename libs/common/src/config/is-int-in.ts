import { IsInt, Max, Min } from 'class-validator';

/** Validates an integer of at least `min` and at most `max`; without `max` there is no upper limit. */
export function IsIntIn(min: number, max = Infinity): PropertyDecorator {
  const rules = [...(max === Infinity ? [] : [Max(max)]), Min(min), IsInt()];
  return (prototype, property) => rules.forEach((rule) => rule(prototype, property));
}
