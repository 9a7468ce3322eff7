/** Words of everyday English one letter away from a word of the lexicon; they are never corrected. */
const COMMON =
  'smart star chart cart mart scart sharp shape state stage steak snake shake slake spike share stare store stock swamp swan sway slap snap soap wrap trap trace grade track trader bend mend tend fond find bond band sand land lead lens blend spend leading moan lean loaf lone close clone those chose clause ship shop shoe shot shore sort slow snow know shown prep preps pert perk text open pen pawn aim balm dad did dead dear ploy plot slide sold said send seed seem sean sell cell tell fell well bell self help hell stay stays snare barrow burrow morrow sorrow wine wire hire fire pray play ray bay day may say lay mint hint lint pint tint mind mine moint load road lord load read dead list last lost lust mist fist bet set let net yet met pet wet gut god goo quite quota quiet place plane plate peace dump jump lump pump rump sump bump hump damp turn burn torn tern tune flip clip slip flap rest test best vest west nest bids buds boy bus guy bug but bay wait cover lover power money honey monkey donkey rose nose hose joke poke coke woke life like bike time name game same note vote moon soon noon book look cook cat car far bar year hear near fear bear weather whether feather leather heather'.split(
    ' ',
  );
const NEVER_CORRECTED: ReadonlySet<string> = new Set(COMMON);

/** One insertion, deletion, replacement, or exchange of neighbours. */
function isOneEditAway(left: string, right: string): boolean {
  if (left === right) return false;
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  if (long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  if (short.slice(start) === long.slice(start + 1)) return true;
  if (short.length !== long.length) return false;
  if (short.slice(start + 1) === long.slice(start + 1)) return true;
  return (
    short[start] === long[start + 1] &&
    short[start + 1] === long[start] &&
    short.slice(start + 2) === long.slice(start + 2)
  );
}

/** The word of the vocabulary that a misspelt word means, or null where there is none or more than one meaning. */
export function correctSpelling(word: string, vocabulary: ReadonlyMap<string, string>): string | null {
  if (word.length < 3 || NEVER_CORRECTED.has(word)) return null;
  const near = [...vocabulary].filter(([known]) => known.length >= 4 && isOneEditAway(word, known));
  const meanings = new Set(near.map(([, meaning]) => meaning));
  return meanings.size === 1 ? (near[0]?.[0] ?? null) : null;
}
