import { parseModelProvider } from '../model-provider.js';
import { readKitSettings, readSetting } from '../settings/read-kit-settings.js';
import { PROVIDERS, type ModelChoice } from './models/model-choice.js';
import type { Question, Terminal } from './terminal.js';

/** A required setting, or the answer to a question at the start, is missing or wrong. */
export class UsageError extends Error {}

export interface ChatArguments {
  model: string | null;
  yes: boolean;
  readOnly: boolean;
}

const FOREIGN_SETTINGS = /^(LANGSMITH|LANGCHAIN|OPENAI|ANTHROPIC)_/;

/**
 * Drops the settings by which model clients would send a conversation elsewhere than to the chosen model: LangSmith's
 * tracing and gateway, and the providers' own base addresses, headers and keys. They may be set for other programs, and
 * a conversation holds addresses, balances and plans. The chat's own settings are `MODEL_*`.
 */
export function keepConversationLocal(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment)) if (FOREIGN_SETTINGS.test(name)) delete environment[name];
}

/** The person left instead of answering. */
export class LeftError extends Error {}

export interface WalletSettings {
  rpcUrl: string;
  privateKey: string;
}

const MAX_TRIES = 3;

/** The endpoint and the key; prompts for each that the environment lacks. @throws LeftError, UsageError */
export async function readWallet(env: NodeJS.ProcessEnv, terminal: Terminal): Promise<WalletSettings> {
  const rpcUrl =
    env['RPC_URL'] ||
    (await ask(terminal, 'RPC_URL (JSON-RPC endpoint of the chain): ', {
      problemOf: (url) => (/^https?:\/\//i.test(url) && URL.canParse(url) ? null : 'That is not an http or https URL.'),
    }));
  const privateKey =
    readSecret(env, 'WALLET_PRIVATE_KEY') ??
    (await ask(terminal, 'WALLET_PRIVATE_KEY (not shown): ', {
      hidden: true,
      problemOf: (key) =>
        /^(0x)?[0-9a-f]{64}$/i.test(key) ? null : 'Invalid private key: 32 bytes in hexadecimal are needed.',
    }));
  return { rpcUrl, privateKey };
}

/** Whether a model answers, and not the command line. @throws UsageError, AgentKitError for an unknown provider */
export function wantsModel(flag: string | null, env: NodeJS.ProcessEnv): boolean {
  const wanted = flag ?? (env['MODEL_PROVIDER'] || env['MODEL_BASE_URL'] || null);
  if (wanted === null) return readSecret(env, 'MODEL_API_KEY') !== null;
  return parseModelProvider(wanted).provider !== 'offline';
}

/**
 * The model to use: `--model`, else the `MODEL_*` settings, else `offline`.
 * @throws LeftError, UsageError, AgentKitError for an unknown provider
 */
export async function readModel(flag: string | null, env: NodeJS.ProcessEnv, terminal: Terminal): Promise<ModelChoice> {
  if (!wantsModel(flag, env)) return { provider: 'offline' };
  const identifier =
    flag ??
    (env['MODEL_PROVIDER'] || env['MODEL_BASE_URL'] || null) ??
    (await ask(
      terminal,
      `MODEL_PROVIDER, the issuer of MODEL_API_KEY (${Object.keys(PROVIDERS).join(', ')}, or a URL): `,
    ));
  const { provider, baseUrl, model } = parseModelProvider(identifier);
  if (provider === 'offline') return { provider };

  // Name, address and key in the environment belong to the provider named there, and to no other.
  const own = isOfAnother(flag, env['MODEL_PROVIDER']) ? {} : env;
  const facts = provider === 'url' ? null : PROVIDERS[provider];
  const address = baseUrl ?? (own['MODEL_BASE_URL'] || facts?.baseUrl) ?? '';
  const name =
    model ??
    (own['MODEL_NAME'] || facts?.defaultModel) ??
    (await ask(terminal, 'MODEL_NAME (the name of the model): '));
  const key = readSecret(own, 'MODEL_API_KEY');
  const isKeyNeeded = facts !== null && address === facts.baseUrl;
  const apiKey =
    key ?? (isKeyNeeded ? await ask(terminal, `MODEL_API_KEY for ${provider} (not shown): `, { hidden: true }) : null);
  return { provider, baseUrl: parseBaseUrl(address), model: name, apiKey };
}

function isOfAnother(flag: string | null, setting: string | undefined): boolean {
  if (flag === null || !setting) return false;
  return parseModelProvider(flag).provider !== parseModelProvider(setting).provider;
}

/** @throws UsageError where the key and the conversation would cross a network in the clear. */
function parseBaseUrl(text: string): string {
  if (!URL.canParse(text)) throw new UsageError('MODEL_BASE_URL is not a URL.');
  const { protocol, hostname } = new URL(text);
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal)) {
    throw new UsageError('The address of a model must be https, or http on this machine.');
  }
  return text.replace(/\/+$/, '');
}

/** A setting, given directly or in a file; null where it is not set. @throws UsageError */
export function readSecret(env: NodeJS.ProcessEnv, name: string): string | null {
  const problems: string[] = [];
  const value = readSetting(name, env, problems);
  if (problems.length > 0) throw new UsageError(`${problems.join('; ')}.`);
  return value || null;
}

/** Policy, payment store and explorer. @throws UsageError with every problem */
export function readOptions(env: NodeJS.ProcessEnv): ReturnType<typeof readKitSettings> {
  const problems: string[] = [];
  const options = readKitSettings(env, problems);
  if (problems.length > 0) throw new UsageError(`${problems.join('; ')}.`);
  return options;
}

interface Asking extends Question {
  problemOf?: (answer: string) => string | null;
}

async function ask(terminal: Terminal, prompt: string, { problemOf, ...question }: Asking = {}): Promise<string> {
  for (let tries = 1; ; tries++) {
    const line = await terminal.ask(prompt, question);
    if (line === null) {
      // Without a terminal the missing answer is reported; a person who leaves needs no error.
      if (!terminal.isInteractive)
        throw new UsageError(`Not set, and there is no terminal to ask on: ${prompt.replace(/:? *$/, '')}`);
      throw new LeftError();
    }
    const answer = line.trim();
    const problem = answer === '' ? 'No value was entered.' : (problemOf?.(answer) ?? null);
    if (problem === null) return answer;
    if (tries === MAX_TRIES) throw new UsageError(problem);
    terminal.print(problem);
  }
}
