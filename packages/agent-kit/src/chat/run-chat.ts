import type { BaseChatModel } from '@langchain/core/language_models/chat_models';

import { AgentKit } from '../agent-kit.js';
import { loadPackages } from '../load-packages.js';
import { parseModelProvider } from '../model-provider.js';
import type { AgentKitOptions } from '../settings/agent-kit-options.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import { VERSION } from '../version.js';
import type { PromptFacts } from './chat-agent.js';
import {
  confirmPlan,
  createChatCommands,
  runSession,
  showTurn,
  TurnControl,
  watchTransactions,
} from './chat-session.js';
import { completeLine, createCommandLine } from './command-line.js';
import { createCommands } from './commands/commands.js';
import { createRemoteModel } from './models/create-remote-model.js';
import { explainModelError } from './models/explain-model-error.js';
import { describeModel, identifyModel, type ModelChoice } from './models/model-choice.js';
import {
  keepConversationLocal,
  LeftError,
  readModel,
  readOptions,
  readSecret,
  readWallet,
  UsageError,
  wantsModel,
  type ChatArguments,
  type WalletSettings,
} from './read-settings.js';
import { openTerminal, type Terminal, type TerminalStreams } from './terminal.js';

/** Where the chat acts, when its caller has chosen it and no prompt is needed. */
export interface ChatPlace extends WalletSettings {
  /** The key of the account that acts, unless `WALLET_PRIVATE_KEY` gives another. */
  privateKey: string;
  /** Resources that may be paid for by name alone: `weather` -> its URL. */
  resources: Readonly<Record<string, string>>;
  /** Base of the links to transactions, unless `EXPLORER_URL` is set. */
  explorerUrl?: string;
  close(): Promise<void>;
}

export interface ChatOptions {
  env: NodeJS.ProcessEnv;
  streams: TerminalStreams;
  /** Aborted: the chat stops its turn and leaves. */
  stop: AbortSignal;
  /** Ends the process now. */
  leaveAtOnce: () => void;
  /** Called once the command line is read. Null: the chain is read from the environment, or prompted for. */
  openPlace?: () => Promise<ChatPlace | null>;
}

// The exit code of a shell for Ctrl-C.
const STOPPED = 130;

/** The interactive chat. Resolves with the exit code: 0, 1 when it could not start, 2 for a wrong command line. */
export async function runChat(args: ChatArguments, options: ChatOptions): Promise<number> {
  const { streams, stop } = options;
  keepConversationLocal(options.env);
  let place: ChatPlace | null = null;
  let terminal: Terminal | null = null;
  try {
    // Wrong settings are reported before a devnet is started for the chat.
    if (args.model !== null) parseModelProvider(args.model);
    const { explorerUrl, ...kitOptions } = readOptions(options.env);
    const givenKey = readSecret(options.env, 'WALLET_PRIVATE_KEY');
    // Missing packages of a model are also reported before a devnet is started.
    if (wantsModel(args.model, options.env)) await loadFramework();
    place = (await options.openPlace?.()) ?? null;
    if (stop.aborted) return STOPPED;
    terminal = openTerminal(streams, stop);
    terminal.print(`Tollgate agent kit ${VERSION}`);
    const wallet = place
      ? { rpcUrl: place.rpcUrl, privateKey: givenKey ?? place.privateKey }
      : await readWallet(options.env, terminal);
    const choice = await readModel(args.model, options.env, terminal);
    const links = explorerUrl ?? place?.explorerUrl;
    await converse({
      args,
      wallet,
      choice,
      terminal,
      resources: place?.resources ?? {},
      kitOptions: { ...kitOptions, ...(links ? { explorerUrl: links } : {}) },
      options,
    });
    return 0;
  } catch (error) {
    if (error instanceof LeftError) return 0;
    const write = (line: string) => (terminal ? terminal.print(line) : streams.output.write(`${line}\n`));
    if (error instanceof UsageError) {
      write(`${error.message}\nSee --help.`);
      return 2;
    }
    write(error instanceof Error ? error.message : String(error));
    // A missing package is reported in one sentence, with the command to install it.
    if (error instanceof AgentKitError && error.code !== 'PACKAGE_MISSING') write(error.suggestion);
    return 1;
  } finally {
    terminal?.close();
    await place?.close();
  }
}

/** Loaded late, because `--help` and the command line need none of it. */
async function loadFramework() {
  return loadPackages('tollgate-chat', ['langchain', '@langchain/core', '@langchain/langgraph'], async () => ({
    ...(await import('./chat-agent.js')),
    ...(await import('../tools/langchain.js')),
  }));
}

interface Conversation {
  args: ChatArguments;
  wallet: WalletSettings;
  choice: ModelChoice;
  terminal: Terminal;
  resources: Readonly<Record<string, string>>;
  kitOptions: AgentKitOptions;
  options: ChatOptions;
}

async function converse({
  args,
  wallet,
  choice,
  terminal,
  resources,
  kitOptions,
  options,
}: Conversation): Promise<void> {
  const model = choice.provider === 'offline' ? null : await createRemoteModel(choice);
  const kit = new AgentKit(wallet.privateKey, identifyModel(choice), {
    ...kitOptions,
    rpcUrl: wallet.rpcUrl,
    executor: args.readOnly ? 'read-only' : 'direct',
  });
  // The first request to the chain, so that a wrong endpoint is reported here, and not in the first answer.
  const { balance, token } = await kit.read('getERC20Balance', {});
  const { chain, chainId, nativeToken } = await kit.read('getAccount', {});
  const chainName = `${chain} (chain id ${chainId})`;
  terminal.print(
    [
      `  account  ${kit.address}  ${balance} ${token.ticker}`,
      `  chain    ${chainName}`,
      `  model    ${describeModel(choice)}`,
      `  writes   ${describeWrites(args, terminal)}`,
      '',
      'bye ends the chat, /help shows how to use it.',
    ].join('\n'),
  );
  const turns = new TurnControl(options.stop);
  const confirm = (plan: Plan) => confirmPlan(plan, terminal, { ...args, isStopped: () => turns.isStopped });
  const facts = { account: kit.address, chain: chainName, nativeSymbol: nativeToken, resources };
  const answer = model
    ? await createModelAnswer({ kit, model, confirm, terminal, facts: { ...facts, readOnly: args.readOnly } })
    : await createCommandAnswer({ kit, confirm, terminal, resources });
  await runSession({
    answer,
    terminal,
    turns,
    sent: watchTransactions(kit, (line) => terminal.print(line)),
    commands: createChatCommands(kit.operations(), model ? MODEL_GUIDE : COMMAND_GUIDE),
    explainError: (error) => explainModelError(error, choice),
    leaveAtOnce: options.leaveAtOnce,
  });
}

const MODEL_GUIDE =
  'Say what you want: "what is my balance", "swap 1 USDC to WSEI", "stake 2", "supply 10 USDC and borrow 3".';
const COMMAND_GUIDE = 'One command a line: "balance", "swap 1 USDC to WSEI", "stake 2"; "help" lists them all.';

interface AnswerParts {
  kit: AgentKit;
  confirm: (plan: Plan) => Promise<boolean>;
  terminal: Terminal;
}

type Answer = (line: string, signal: AbortSignal) => Promise<void>;

async function createModelAnswer({
  kit,
  model,
  confirm,
  terminal,
  facts,
}: AnswerParts & { model: BaseChatModel; facts: PromptFacts }): Promise<Answer> {
  const { createChatAgent, createLangChainTools, createSystemPrompt } = await loadFramework();
  // Shows the plan of each write, and asks for approval.
  const tools = createLangChainTools(kit, { plans: 'none', confirm });
  const agent = createChatAgent({ model, tools, systemPrompt: createSystemPrompt(facts) });
  return (line, signal) => showTurn(agent, terminal, line, signal);
}

async function createCommandAnswer({
  resources,
  ...parts
}: AnswerParts & { resources: Readonly<Record<string, string>> }): Promise<Answer> {
  const { tokens } = await parts.kit.read('listTokens', {});
  const commands = createCommands(parts.kit.operations());
  const vocabulary = { commands, tokens: tokens.map(({ ticker }) => ticker), resources };
  parts.terminal.completeWith((line) => completeLine(line, vocabulary));
  return createCommandLine({ ...parts, vocabulary });
}

function describeWrites({ yes, readOnly }: ChatArguments, { isInteractive }: Terminal): string {
  if (readOnly) return 'nothing is sent (--read-only)';
  if (yes) return 'are sent without asking (--yes)';
  return isInteractive
    ? 'are shown first, and sent only if you confirm'
    : 'are declined: there is no terminal to confirm on (--yes sends without asking)';
}
