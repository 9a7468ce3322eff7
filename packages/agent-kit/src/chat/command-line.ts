import { isFailure, runOperation, type OperationResult, type OperationRunner } from '../tools/run-operation.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Plan } from '../types/plan.js';
import { isFarewell } from './chat-session.js';
import { describeCommand, isSame, listCommands } from './commands/commands.js';
import { listKnownTokens, parseLine, takeWord, type ParsedOrder, type Vocabulary } from './commands/parse-line.js';
import { omitAnswer, summarise } from './commands/summary.js';
import { LeftError } from './read-settings.js';
import type { Terminal } from './terminal.js';

export interface CommandLineOptions {
  kit: OperationRunner;
  terminal: Terminal;
  vocabulary: Vocabulary;
  /** Shows a plan, and asks whether to send it. */
  confirm: (plan: Plan) => Promise<boolean>;
}

const MAX_TRIES = 3;

/** Runs one command a line. The returned function rejects with `LeftError` where `bye` answers a question. */
export function createCommandLine({ kit, terminal, vocabulary, confirm }: CommandLineOptions) {
  const history: { order: string; result: OperationResult }[] = [];

  /** Null where an input was not given. */
  const askMissing = async ({ missing, input }: ParsedOrder, signal: AbortSignal): Promise<object | null> => {
    const inputs: Record<string, string> = { ...input };
    for (const slot of missing) {
      let value: string | null = null;
      for (let tries = 0; value === null && tries < MAX_TRIES; tries++) {
        const reply =
          (await terminal.ask(`${slot.label} (${slot.isToken ? 'symbol or address' : slot.about}): `))?.trim() ?? '';
        if (isFarewell(reply)) throw new LeftError();
        if (reply === '') break;
        value = takeWord(slot, reply, vocabulary);
        if (value === null)
          terminal.print(`This is not a valid ${slot.label}.${listKnownTokens(slot, vocabulary)}`, 'yellow');
      }
      if (value === null) {
        if (!signal.aborted) terminal.print(`Nothing was done: ${slot.label} is missing.`);
        return null;
      }
      inputs[slot.field] = value;
    }
    return inputs;
  };

  const run = async ({ command, unit, isLong }: ParsedOrder, input: object, line: string, signal: AbortSignal) => {
    const { operation } = command;
    let done: string | null = null;
    const result = await runOperation(kit, operation.name, input, {
      signal,
      confirm: async (plan) => {
        if (unit !== null) assertUnit(plan, unit);
        done = plan.summary;
        return confirm(plan);
      },
    });
    if (!operation.readOnly) history.push({ order: done ?? line, result });
    showResult(result, isLong);
    terminal.print(summarise(operation, result, done), isFailure(result) ? 'red' : 'green');
  };

  /**
   * The specification wants every result as JSON before its words: on one line, or indented and with the text of a paid
   * answer, which is otherwise among the words.
   */
  const showResult = (result: OperationResult, isLong: boolean) =>
    terminal.print(isLong ? JSON.stringify(result, null, 2) : JSON.stringify(omitAnswer(result)), 'dim');

  const showHistory = (isLong: boolean) => {
    if (isLong) terminal.print(JSON.stringify(history, null, 2), 'dim');
    const lines = history.map(({ order, result: { status, result } }) => {
      return `  ${status}  ${typeof result === 'string' ? result : 'no transaction'}  ${order}`;
    });
    terminal.print(lines.join('\n') || 'No command was run in this session.');
  };

  return async (line: string, signal: AbortSignal): Promise<void> => {
    const parsed = parseLine(line, vocabulary);
    switch (parsed.kind) {
      case 'refused':
        return terminal.print(parsed.reason, 'yellow');
      case 'help':
        return terminal.print(parsed.about ? describeCommand(parsed.about) : listCommands(vocabulary.commands));
      case 'history':
        return showHistory(parsed.isLong);
      case 'order': {
        const input = await askMissing(parsed, signal);
        if (input && !signal.aborted) await run(parsed, input, line, signal);
      }
    }
  };
}

/** `stake 2 USDC`: an amount in another token than the plan's is not the intended amount. */
function assertUnit({ operation, spends, receives }: Plan, unit: string): void {
  const token = (spends[0] ?? receives[0])?.token;
  if (token && (isSame(token.symbol, unit) || isSame(token.address, unit))) return;
  const unitOfPlan = token?.symbol ?? 'another token';
  throw new AgentKitError('INVALID_INPUT', `The amount of ${operation} is in ${unitOfPlan}, not in ${unit}.`);
}

/** The words that may stand at the end of a line, for the Tab key. */
export function completeLine(line: string, { commands, tokens, resources }: Vocabulary): string[] {
  const before = line.split(/\s+/);
  const last = before.pop() ?? '';
  const command = commands.find(({ name }) => before.some((word) => isSame(word, name)));
  const candidates = last.startsWith('-')
    ? [...(command?.flags ?? []).map(({ field }) => `--${field}`), '--json']
    : command
      ? [...tokens, ...Object.keys(resources)]
      : [...commands.map(({ name }) => name), 'history', 'help'];
  return candidates.filter((word) => word.toLowerCase().startsWith(last.toLowerCase())).map((word) => `${word} `);
}
