/** The process cannot start; `problems` has one line for each setting that must be corrected. */
export class ConfigurationError extends Error {
  readonly code = 'configuration_invalid';

  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'one problem' : `${problems.length} problems`}:\n` +
        problems.map((problem) => `  - ${problem}`).join('\n'),
    );
    this.name = 'ConfigurationError';
  }
}
