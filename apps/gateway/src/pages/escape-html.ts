const REPLACED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an element's content or a quoted attribute. Everything that comes from outside passes through it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => REPLACED[character] ?? '');
}

/** JSON for a `<script type="application/json">`, which ends at the first `</script` and can be reopened by `<!--`. */
export function renderDataBlock(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${JSON.stringify(value).replace(/</g, '\\u003c')}</script>`;
}
