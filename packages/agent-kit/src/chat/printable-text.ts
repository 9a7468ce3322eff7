// Everything that moves the cursor, changes colours, reverses the writing direction or hides: C0 but tab and newline, DEL,
// C1, and the bidirectional and zero-width formats. Joiners stay: letters and emoji of many scripts need them.
const UNPRINTABLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Makes text of a model or a chain safe for a terminal by dropping every character that is not printable. */
export function printableText(text: string): string {
  return text.replace(UNPRINTABLE, '');
}
