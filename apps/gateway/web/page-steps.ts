import { explainProblem } from './chain.js';
import { showStatus } from './document/dom.js';

/** The steps of a page, one at a time; what goes wrong is said in the status. */
export class PageSteps {
  isBusy = false;
  #step = Promise.resolve();

  /** Runs the step. Where another one is under way, waits for that in its place. */
  run(step: () => Promise<void>): Promise<void> {
    if (!this.isBusy) this.#step = this.#runBusy(step);
    return this.#step;
  }

  /** Runs the step after the one that is under way. */
  async runNext(step: () => Promise<void>): Promise<void> {
    await this.#step;
    await this.run(step);
  }

  async #runBusy(step: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    document.body.dataset['busy'] = 'true';
    try {
      await step();
    } catch (error) {
      showStatus(explainProblem(error), 'bad');
    } finally {
      this.isBusy = false;
      delete document.body.dataset['busy'];
    }
  }
}
