import { Command, InvalidArgumentError, Option } from 'commander';

/** The result of a command: a sentence or table for people, and the same for programs. */
export interface CommandResult {
  text: string;
  json: unknown;
}

/** The command could not do its work; the message gives the reason, and the remedy. The exit code is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

export const EXIT_CODES = `
Exit codes: 0 done; 1 not done, the last line says why; 2 wrong usage; 130 ended by Ctrl-C.`;

/**
 * A command of `tollgate`. Its definition is cheap; its action imports what it needs. For wrong usage an action throws
 * InvalidArgumentError, whose message must not quote possible secrets.
 */
export class CliCommand extends Command {
  #example = '';

  constructor(name?: string) {
    super(name);
    // A command of subcommands has the example of the first.
    this.addHelpText('after', () => (this.commands.length === 0 ? '' : `\n${this.#firstExample}`));
  }

  get #firstExample(): string {
    const [first] = this.commands;
    return first instanceof CliCommand ? first.#firstExample : this.#example;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Defines a subcommand that uses Redis and answers as text or, with `--json`, as one JSON document. */
  query(nameAndArguments: string, description: string): CliCommand {
    return this.command(nameAndArguments)
      .description(description)
      .option('--json', 'print one JSON document')
      .option(
        '--redis <url>',
        'the Redis to use (default: REDIS_URL or the file REDIS_URL_FILE, where a password belongs, else that of a ' +
          'running npm run dev, else redis://127.0.0.1:6379)',
      );
  }

  /** Runs the work and prints its result; a bare text is `{"message": text}` in JSON. */
  answers<Args extends unknown[]>(work: (...args: Args) => Promise<CommandResult | string>): this {
    return this.action(async (...args: unknown[]) => {
      try {
        const answer = await work(...(args as Args));
        const { text, json } = typeof answer === 'string' ? { text: answer, json: { message: answer } } : answer;
        this.print(this.opts()['json'] ? JSON.stringify(json, null, 2) : text);
      } catch (error) {
        if (error instanceof InvalidArgumentError) this.error(error.message);
        throw error;
      }
    });
  }

  /** Ends the help with a command line. `before`: the text before `tollgate` in it. */
  example(line: string, before = ''): this {
    this.#example = `Example: ${before}tollgate ${line}`;
    return this.addHelpText('after', `\n${this.#example}`);
  }

  print(line: string): void {
    this.configureOutput().writeOut?.(`${line}\n`);
  }

  /** A command that has only subcommands prints its help when it is called by its name alone, which is no error. */
  override help(): never {
    return super.help({ error: false });
  }

  /** Drops the text after `=` of an unknown option: it may be a URL with a password. */
  override error(message: string): never {
    const reason = message.replace(/^error: /, '').replace(/^(unknown option '[^'=]*)=[^]*'/, "$1'");
    return super.error(`${reason}\nSee ${this.#path()} --help.`, { exitCode: 2 });
  }

  #path(): string {
    const names = [this.name()];
    for (let { parent } = this as Command; parent !== null; { parent } = parent) names.unshift(parent.name());
    return names.join(' ');
  }
}

/** A whole number from 1 to `most`. */
export function parseCount(most: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  };
}

/** `a,b, c` and repeated options become one list. */
export function parseList(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...text.split(',').map((word) => word.trim())];
}

export function limitOption(most: number): Option {
  return new Option('--limit <n>', 'how many to print').default(50).argParser(parseCount(most));
}

export function rpcOption(): Option {
  return new Option(
    '--rpc <urls>',
    "the chain's RPC servers, comma separated (default: RPC_URL, else that of a running npm run dev whose Redis is used)",
  );
}

export function operatorOption(): Option {
  return new Option(
    '--operator <url>',
    "the bookkeeper's address (default: OPERATOR_URL, else that of a running npm run dev, else http://127.0.0.1:4023)",
  );
}

export function queueRedisOption(): Option {
  return new Option('--queue-redis <url>', "the queues' Redis (default: QUEUE_REDIS_URL, else that of --redis)");
}
