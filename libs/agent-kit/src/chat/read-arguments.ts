import { parseArgs } from 'node:util';

import { KIT_SETTINGS_USAGE } from '../settings/read-kit-settings.js';

export const USAGE = `Usage: tollgate-chat [options]

A command line for the agent kit's operations, and with --model a model that has them as its tools: balances, swaps,
staking, lending, perps, payments. It shows the plan of everything that would be sent, and asks first. \`help\` lists the
commands, \`bye\` ends it.

  --model NAME   openai, anthropic, google, groq, mistral, cohere or offline, each with an optional :model after it,
                 or the https://…/v1 address of a server that speaks OpenAI's chat completions
  --yes          send without asking
  --read-only    send nothing
  --help

Settings are environment variables; what is missing is asked for.

  RPC_URL             JSON-RPC endpoint of the chain
${KIT_SETTINGS_USAGE}
  MODEL_PROVIDER      as --model, which goes before it
  MODEL_NAME          the model; each provider has a usual one
  MODEL_BASE_URL      another address of the provider, or of an OpenAI-compatible server
  MODEL_API_KEY       the provider's key, or MODEL_API_KEY_FILE. Without a model each line is a
                      command, as \`help\` lists them
`;

/** The command line does not say what to do. */
export class UsageError extends Error {}

export interface ChatArguments {
  model: string | null;
  yes: boolean;
  readOnly: boolean;
}

/**
 * Reads the command line; null when help was asked for.
 * @throws UsageError
 */
export function readArguments(argv: readonly string[]): ChatArguments | null {
  const { values } = parse(argv);
  if (values.help) return null;
  if (values.model?.trim() === '') throw new UsageError('--model is empty');
  return { model: values.model ?? null, yes: values.yes ?? false, readOnly: values['read-only'] ?? false };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        model: { type: 'string' },
        yes: { type: 'boolean', short: 'y' },
        'read-only': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
