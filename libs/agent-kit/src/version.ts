/** What the toolkit reports when its chat starts. */
export const VERSION = '0.0.3';
