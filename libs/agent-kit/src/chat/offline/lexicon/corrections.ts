/** How a correction starts. */
export const OBJECTIONS: readonly string[] = [
  'no',
  'nope',
  'wait',
  'sorry',
  'oops',
  'actually',
  'hmm',
  'oh',
  'not that',
  'on second thought',
  'my mistake',
  'my bad',
  'scratch that',
  'correction',
];

/** What stands between the start and the new input. */
export const CORRECTIONS: readonly string[] = [
  'make it',
  'make that',
  'change it to',
  'change that to',
  'change the amount to',
  'set it to',
  'i meant to say',
  'i meant',
  'i mean',
  'it should be',
  'that should be',
  'should be',
  'let it be',
  'rather',
  "let's say",
  "let's make it",
  'better make it',
  'make the amount',
];
