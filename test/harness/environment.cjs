const { TestEnvironment } = require('jest-environment-node');

/** The usual environment, which also lets a hook know whether a test of its file has failed: see use-stack.ts. */
module.exports = class extends TestEnvironment {
  handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.global.hasFailedTest = true;
  }
};
