/** The version that the toolkit prints when its chat starts. */
export const VERSION = '0.0.3';
