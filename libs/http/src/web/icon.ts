const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5cad"/>' +
  '<path d="M7 26V14a9 9 0 0 1 18 0v12M13 26V14m6 12V14" fill="none" stroke="#fff" stroke-width="3"/></svg>';

/** The icon of pages that have no logo, as a URL that asks no server. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
