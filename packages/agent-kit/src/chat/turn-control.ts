/** The running turn, if any, and whether a stop was requested. */
export class TurnControl {
  #turn: AbortController | null = null;

  constructor(private readonly stop: AbortSignal) {
    stop.addEventListener('abort', () => this.#turn?.abort());
  }

  get isRunning(): boolean {
    return this.#turn !== null;
  }

  get isStopped(): boolean {
    return this.#turn?.signal.aborted ?? this.stop.aborted;
  }

  begin(): AbortSignal {
    this.#turn = new AbortController();
    if (this.stop.aborted) this.#turn.abort();
    return this.#turn.signal;
  }

  stopTurn(): void {
    this.#turn?.abort();
  }

  end(): void {
    this.#turn = null;
  }
}
