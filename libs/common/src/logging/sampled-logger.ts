import { Logger } from '@nestjs/common';

export interface SampledLine {
  /** The client's address or network. */
  client: string;
  /** A code, for the count of lines left out. */
  reason: string;
}

export interface SampleLimits {
  /** Lines per client and minute. */
  linesPerClient?: number;
  /** Clients counted separately; all others of the same minute share one count. */
  maxClients?: number;
}

interface Sample {
  written: number;
  leftOut: Map<string, number>;
}

const WINDOW_MS = 60_000;
const FURTHER_CLIENTS = 'further clients';

/**
 * For log lines that clients can cause for free, so that they cannot fill the disk. The first few lines of a client in
 * a minute are written; the others only at level debug, and a summary line per client then gives their number.
 */
export class SampledLogger {
  readonly #logger: Logger;
  readonly #linesPerClient: number;
  readonly #maxClients: number;
  #samples = new Map<string, Sample>();
  #timer: NodeJS.Timeout | null = null;

  constructor(context: string, { linesPerClient = 5, maxClients = 200 }: SampleLimits = {}) {
    this.#logger = new Logger(context);
    this.#linesPerClient = linesPerClient;
    this.#maxClients = maxClients;
  }

  log(about: SampledLine, line: object): void {
    if (this.#take(about)) this.#logger.log(line);
    else this.#logger.debug(line);
  }

  warn(about: SampledLine, line: object): void {
    if (this.#take(about)) this.#logger.warn(line);
    else this.#logger.debug(line);
  }

  /** Ends the current minute, so that its summaries are written before the process exits. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const samples = this.#samples;
    this.#samples = new Map();
    for (const [client, { leftOut }] of samples) {
      if (leftOut.size === 0) continue;
      const lines = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
      this.#logger.log({ msg: 'lines left out', clientAddress: client, lines, reasons: Object.fromEntries(leftOut) });
    }
  }

  /** Whether to write this line; if not, it is counted. */
  #take({ client, reason }: SampledLine): boolean {
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
    const sample = this.#sampleOf(client);
    if (sample.written < this.#linesPerClient) {
      sample.written += 1;
      return true;
    }
    sample.leftOut.set(reason, (sample.leftOut.get(reason) ?? 0) + 1);
    return false;
  }

  #sampleOf(client: string): Sample {
    const name = this.#samples.has(client) || this.#samples.size < this.#maxClients ? client : FURTHER_CLIENTS;
    const sample = this.#samples.get(name) ?? { written: 0, leftOut: new Map<string, number>() };
    this.#samples.set(name, sample);
    return sample;
  }
}
