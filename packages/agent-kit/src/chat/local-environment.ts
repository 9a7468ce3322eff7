const FOREIGN_SETTINGS = /^(LANGSMITH|LANGCHAIN|OPENAI|ANTHROPIC)_/;

/**
 * Drops the settings by which model clients would send a conversation elsewhere than to the chosen model: LangSmith's
 * tracing and gateway, and the providers' own base addresses, headers and keys. They may be set for other programs, and
 * a conversation holds addresses, balances and plans. The chat's own settings are `MODEL_*`.
 */
export function keepConversationLocal(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (FOREIGN_SETTINGS.test(name)) delete environment[name];
}
